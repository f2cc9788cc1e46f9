//! `--device=gpu` on a machine that need not have one: the executable carries code for both devices and says what it
//! does where there is no GPU.

mod support;

use support::Driver;

const PROGRAM: &str = r#"
#include <cstdio>
__global__ void add(int *values) { values[threadIdx.x] += 1; }
int main() {
  int *values, host[64] = {};
  cudaMalloc(&values, sizeof host);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  add<<<1, 64>>>(values);
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  cudaGraph_t graph;
  // Not offered by our runtime: leads to CUDA's own.
  std::printf("%d %d\n", host[63], cudaGraphCreate(&graph, 0) == cudaSuccess);
  return host[63] != 1;
}
"#;

#[test]
fn one_executable_carries_both_devices() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-cc", "--device=gpu -gencode arch=compute_80,code=sm_80 -arch=sm_90 add.cu -o add").succeeded();
    let bytes = std::fs::read(driver.path("add")).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("_Z3addPi__warpline"), "the hooked kernel is in the fat binary");
    assert!(holds("__warpline_finish"));

    let mut command = driver.command(driver.path("add"));
    command.env("WARPLINE_DEVICE", "cpu");
    let ran = driver.output(&mut command).succeeded();
    assert!(ran.stdout.starts_with("1 "), "{}", ran.stdout);
}

#[test]
fn a_program_without_gpu_code_says_how_to_get_it() {
    let driver = Driver::new();
    driver.write("add.cu", "__global__ void f() {}\nint main() { f<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n");
    driver.run("warpline-cc", "add.cu -o add").succeeded();
    let mut command = driver.command(driver.path("add"));
    command.env("WARPLINE_DEVICE", "gpu");
    let ran = driver.output(&mut command);
    assert_eq!(ran.code, 125, "{}", ran.stderr);
    assert!(ran.stderr.contains("warpline cc --device=gpu"), "{}", ran.stderr);
}
