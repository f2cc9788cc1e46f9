//! Separate compilation: names are the source's, although clang makes symbols unique that whole programs keep to one
//! file.

use crate::support_programs::{run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Both files have kernels of the same names, which are independent.
const UNIT: &str = r#"
#include <cuda_runtime.h>
namespace {
__device__ int seen;
__global__ void scale(float *values) { values[threadIdx.x] *= FACTOR; seen = 1; }
template <class T> __global__ void shift(T *values) { values[threadIdx.x] += FACTOR; }
}
static __device__ int steps;
static __global__ void clear(float *values) { values[threadIdx.x] = steps; }
void NAME(float *values) {
  int none = 0;
  cudaMemcpyToSymbol(steps, &none, sizeof none);
  cudaMemcpyToSymbol(seen, &none, sizeof none);
  clear<<<1, 32>>>(values);
  scale<<<1, 32>>>(values);
  shift<float><<<1, 32>>>(values);
}
"#;
const MAIN: &str = r#"
#include <cuda_runtime.h>
void one(float *), two(float *);
int main() {
  float *values;
  cudaMalloc(&values, 128);
  one(values);
  two(values);
  return cudaDeviceSynchronize();
}
"#;

fn profile(folder: &Path, options: &[&str]) -> Value {
    let mut command = Command::new(warpline());
    command.arg("run").args(options).args(["-o", "profile.wlprof", "--"]).arg(folder.join("program"));
    let outcome = run(&mut command, folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let json = run(Command::new(warpline()).args(["report", "--format", "json", "profile.wlprof"]), folder, "json");
    serde_json::from_str(&json.stdout).expect("the report is JSON")
}

fn names(profile: &Value, list: &str) -> Vec<String> {
    let rows = profile[list].as_array().into_iter().flatten();
    let mut names: Vec<_> = rows.map(|row| row["name"].as_str().unwrap_or_default().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn names_are_those_of_the_source() {
    let folder = work_folder("relocatable");
    std::fs::write(folder.join("main.cu"), MAIN).unwrap();
    for (name, factor) in [("one", 2), ("two", 3)] {
        let text = UNIT.replace("NAME", name).replace("FACTOR", &factor.to_string());
        std::fs::write(folder.join(name).with_extension("cu"), text).unwrap();
        let mut compile = Command::new(warpline_cc());
        compile.args(["-g", "-dc", &format!("{name}.cu"), "-o", &format!("{name}.o")]);
        let outcome = run(&mut compile, &folder, "compile");
        assert!(outcome.status.success(), "{}", outcome.describe());
    }
    let mut link = Command::new(warpline_cc());
    let outcome = run(link.args(["-rdc=true", "main.cu", "one.o", "two.o", "-o", "program"]), &folder, "link");
    assert!(outcome.status.success(), "{}", outcome.describe());

    let all = profile(&folder, &[]);
    let kernels = names(&all, "kernels");
    let scale = "(anonymous namespace)::scale(float*)";
    let wanted = [scale, scale, "clear(float*)", "clear(float*)"];
    assert_eq!(kernels[..4], wanted, "{kernels:?}");
    assert!(kernels[4..].iter().all(|name| name.contains("shift<float>(float*)")), "{kernels:?}");
    let symbols: BTreeSet<_> = all["kernels"].as_array().unwrap().iter().map(|row| row["mangled"].as_str()).collect();
    assert_eq!((kernels.len(), symbols.len()), (6, 6), "each file's kernels are kernels of their own");
    let described = all.to_string();
    let described: Vec<_> =
        described.split('"').filter(|text| text.contains("__intern__") && !text.starts_with("_Z")).collect();
    assert!(described.is_empty(), "only in mangled names: {described:?}");
    assert!(names(&all, "allocations").iter().any(|name| name == "steps"), "{:?}", names(&all, "allocations"));

    for (pattern, wanted) in [(r"^\(anonymous namespace\)::scale\(float\*\)$", scale), ("^clear", "clear(float*)")] {
        let mut some = profile(&folder, &["--kernels", pattern]);
        let kernels = some["kernels"].as_array_mut().unwrap();
        kernels.retain(|row| row["metrics"].as_object().is_some_and(|spaces| !spaces.is_empty()));
        assert_eq!(names(&some, "kernels"), [wanted, wanted], "{pattern}");
    }
}
