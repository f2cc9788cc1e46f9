//! Native launches use several host threads if their blocks are independent; the results do not depend on it.

use crate::support_programs::{Outcome, build, run, work_folder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `smooth` has barriers, `iterate` has none; `count` exchanges values between blocks. The program prints a checksum and
/// the largest number of threads of the process while the kernel runs, without the observer.
const SOURCE: &str = r#"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <thread>
#include <vector>
__global__ void iterate(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int k = 0; k < rounds; ++k) {
        x = x * 0.999f + 0.5f;
    }
    out[i] = x;
}
__global__ void smooth(float *out, int rounds)
{
    __shared__ float tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = i;
    for (int k = 0; k < rounds / 40; ++k) {
        __syncthreads();
        float next = 0.5f * (tile[threadIdx.x] + tile[(threadIdx.x + 1) % 128]);
        __syncthreads();
        tile[threadIdx.x] = next;
    }
    out[i] = tile[threadIdx.x];
}
__device__ unsigned total;
__global__ void count(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int k = 0; k < rounds; ++k) {
        x = x * 0.999f + 0.5f;
    }
    out[i] = x + atomicAdd(&total, 1);
}
__global__ void stray(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int k = 0; k < rounds; ++k) {
        x = x * 0.999f + 0.5f;
    }
    out[blockIdx.x >= 700 ? i + (1ll << 45) : i] = x;
}
static int tasks()
{
    int found = 0;
    DIR *folder = opendir("/proc/self/task");
    while (dirent *entry = readdir(folder)) {
        found += entry->d_name[0] != '.';
    }
    closedir(folder);
    return found;
}
int main(int, char **arguments)
{
    const int n = 128 * 2048;
    float *data;
    cudaMalloc(&data, n * sizeof(float));
    std::atomic<bool> done{false};
    int most = 0;
    std::thread observer([&] {
        while (!done) {
            most = std::max(most, tasks());
        }
    });
    auto kernel = !strcmp(arguments[1], "smooth") ? smooth : !strcmp(arguments[1], "count") ? count
                : !strcmp(arguments[1], "stray") ? stray : iterate;
    kernel<<<2048, 128>>>(data, 10000);
    cudaError_t error = cudaDeviceSynchronize();
    done = true;
    observer.join();
    std::vector<float> host(n);
    cudaMemcpy(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += host[i] * (i % 7 + 1);
    }
    printf("%s %.17g\n%d\n", cudaGetErrorName(error), error ? 0.0 : sum, most - 1);
}
"#;

fn program(test: &str) -> (PathBuf, PathBuf) {
    let folder = work_folder(test);
    let source = folder.join("threads.cu");
    std::fs::write(&source, SOURCE).expect("source written");
    (build(&[source], &["-O2".to_owned()], &folder), folder)
}

/// Runs a kernel; returns what the program printed about it, and the number of threads.
fn native(program: &Path, folder: &Path, kernel: &str, threads: u32) -> (String, u32, Outcome) {
    let mut command = Command::new(program);
    let outcome = run(command.arg(kernel).env("WARPLINE_THREADS", threads.to_string()), folder, "native");
    let mut lines = outcome.stdout.lines();
    let result = lines.next().unwrap_or_default().to_owned();
    (result, lines.next().and_then(|line| line.parse().ok()).expect("a number of threads"), outcome)
}

#[test]
fn independent_blocks_run_on_several_threads() {
    let (program, folder) = program("native_threads");
    for kernel in ["iterate", "smooth", "count"] {
        let (one, alone, _) = native(&program, &folder, kernel, 1);
        assert_eq!(alone, 1, "{kernel}");
        let (several, threads, outcome) = native(&program, &folder, kernel, 3);
        assert_eq!(several, one, "{kernel}");
        assert!(one.starts_with("cudaSuccess "), "{kernel}: {}", outcome.describe());
        let wanted = if kernel == "count" { 1 } else { 3 };
        assert_eq!(threads, wanted, "{kernel}: {}", outcome.describe());
    }
}

/// The first block that stops ends the launch, on whichever thread it runs. The message is the same.
#[test]
fn a_fault_on_any_thread_ends_the_launch() {
    let (program, folder) = program("native_thread_fault");
    let (one, _, alone) = native(&program, &folder, "stray", 1);
    let (several, _, outcome) = native(&program, &folder, "stray", 3);
    assert_eq!(one, "cudaErrorIllegalAddress 0");
    assert_eq!(several, one, "{}", outcome.describe());
    assert_eq!(outcome.stderr, alone.stderr);
    assert!(alone.stderr.contains("block (700,0,0)"), "{}", alone.stderr);
}
