//! `--device=gpu` on a machine that need not have one: the executable carries code for both devices and reports what it
//! does where there is no GPU.

mod support;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Who else can write to the folder for temporary files plants what names might be foretold from the process's number:
/// folders with links in the places of the tools' files.
#[test]
fn links_planted_in_the_folder_for_temporary_files_lead_nowhere() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.write("victim", "mine\n");
    let temporary = driver.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    // The compiler gets the number of the shell that plants.
    let script = r#"
        umask 0
        for name in warpline-gpu-$$-0 warpline-gpu-$$-1 warpline-gpu-$$-2 warpline-gpu-$$ warpline-gpu.$$ warpline-cc-$$ warpline-cc.$$; do
            mkdir -m 777 "$TMPDIR/$name"
            for file in code.ptx code.cubin code.fatbin 0.elf 0.ptx 1.elf 1.ptx 0-add.o; do
                ln -s "$PWD/victim" "$TMPDIR/$name/$file"
            done
        done
        exec ./warpline-cc --device=gpu -arch=sm_90 add.cu -o add
    "#;
    let ended = AtomicBool::new(false);
    let (ran, folders) = std::thread::scope(|scope| {
        let watched = scope.spawn(|| {
            let mut seen = BTreeMap::new();
            while !ended.load(Ordering::Relaxed) {
                for entry in std::fs::read_dir(&temporary).unwrap().flatten() {
                    if let Ok(data) = entry.metadata() {
                        seen.insert(entry.file_name(), data.permissions().mode() & 0o777);
                    }
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            seen
        });
        let mut command = driver.command("sh");
        let ran = driver.output(command.args(["-c", script]).env("TMPDIR", &temporary));
        ended.store(true, Ordering::Relaxed);
        (ran, watched.join().unwrap())
    });
    ran.succeeded();
    assert_eq!(std::fs::read_to_string(driver.path("victim")).unwrap(), "mine\n");
    // Except for planted ones, no other user may enter the folders.
    let made: Vec<_> = folders.iter().filter(|(_, mode)| **mode != 0o777).collect();
    assert!(!made.is_empty() && made.iter().all(|(_, mode)| **mode & 0o77 == 0), "{made:?}");
    assert_eq!(folders.len() - made.len(), 7, "{folders:?}");
    let mut command = driver.command(driver.path("add"));
    assert!(driver.output(command.env("WARPLINE_DEVICE", "cpu")).succeeded().stdout.starts_with("1 "));
}
