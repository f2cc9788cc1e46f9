//! A figure of an allocation counts what happens to its own data.

use crate::support_programs::{build, run, warpline, work_folder};
use serde_json::Value;
use std::process::Command;

/// Keeps so much in local memory that lines of it leave level 1 whenever the input is read.
const PROGRAM: &str = r#"
#include <cuda_runtime.h>
__global__ void spread(const int *input, int *output, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int kept[256];
  for (int step = 0; step < 256; step++)
    kept[(step * 7 + i) & 255] = input[(i + 512 * step) & 16383];
  int sum = 0;
  for (int step = 0; step < steps; step++)
    sum += kept[(sum + step * 5) & 255];
  output[i] = sum;
}
int main() {
  int *input, *output;
  cudaMalloc(&input, 65536);
  cudaMalloc(&output, 2048 * sizeof(int));
  cudaMemset(input, 1, 65536);
  spread<<<8, 256>>>(input, output, 100);
  return cudaDeviceSynchronize();
}
"#;

#[test]
fn writes_of_local_memory_are_no_allocation_s() {
    let folder = work_folder("ownership");
    let source = folder.join("spread.cu");
    std::fs::write(&source, PROGRAM).unwrap();
    let executable = build(&[source], &["-O2".to_owned()], &folder);
    let mut command = Command::new(warpline());
    command.args(["run", "--gpu", "rtx2080ti,a100", "-o", "profile.wlprof", "--"]).arg(executable);
    let outcome = run(&mut command, &folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let json = run(Command::new(warpline()).args(["report", "--format", "json", "profile.wlprof"]), &folder, "json");
    let profile: Value = serde_json::from_str(&json.stdout).expect("the report is JSON");
    let allocation = |name: &str| {
        let rows = profile["allocations"].as_array().into_iter().flatten();
        rows.clone().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {profile}"))
    };
    let second = profile["run"]["models"][1].as_str().expect("two models");
    for path in [String::new(), format!("/other_models/{second}")] {
        let writes = |metrics: &Value| metrics.pointer(&format!("{path}/dram/write_sectors")).and_then(Value::as_u64);
        assert_eq!(writes(&allocation("input")["metrics"]), Some(0), "{path}");
        assert_eq!(writes(&allocation("output")["metrics"]), Some(2048 * 4 / 32), "{path}");
        let local = writes(&profile["kernels"][0]["metrics"]["local"]);
        assert!(local.is_some_and(|writes| writes > 20_000), "{path}: {local:?}");
        let loads = profile["sites"].as_array().into_iter().flatten().filter(|site| site["op"] == "load");
        let wrong: Vec<_> = loads.filter(|site| writes(&site["metrics"]).is_some_and(|writes| writes != 0)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
