//! Messages and exit codes: the compiler's own where it speaks, the driver's where something of its own is wrong.

mod support;

use support::{Driver, Ran};

/// clang's own output for the same source.
fn clang(driver: &Driver, arguments: &[&str]) -> Ran {
    let mut command = driver.command(support::clang());
    command.arg("--driver-mode=g++").args(arguments);
    if arguments.iter().any(|argument| argument.ends_with(".cu")) {
        let cuda = format!("--cuda-path={}", support::cuda().display());
        command.args(["--cuda-gpu-arch=sm_75", "-Wno-unknown-cuda-version", &cuda]);
    }
    driver.output(&mut command)
}

#[track_caller]
fn same_as_clang(driver: &Driver, line: &str, arguments: &[&str]) {
    let ours = driver.run("warpline-clang++", line);
    let theirs = clang(driver, arguments);
    assert_eq!(ours.stderr, theirs.stderr);
    assert_eq!(ours.code, theirs.code);
    assert_ne!(ours.code, 0);
}

#[test]
fn syntax_errors_are_clangs() {
    let driver = Driver::new();
    driver.write("a.cu", "__global__ void k(int *p) {\n  p[0] = ;\n}\nint main() { undeclared(); }\n");
    same_as_clang(&driver, "-c a.cu", &["-c", "a.cu"]);
}

#[test]
fn errors_of_host_code_are_clangs() {
    let driver = Driver::new();
    driver.write("a.cpp", "int main() { return undeclared; }\n");
    same_as_clang(&driver, "-c a.cpp", &["-c", "a.cpp"]);
}

#[test]
fn warnings_come_through_from_both_sides() {
    let driver = Driver::new();
    driver.write("a.cu", "int host() { int unused = 1; return 0; }\n");
    let ours = driver.run("warpline-clang++", "-Wall -c a.cu").succeeded();
    let theirs = clang(&driver, &["-Wall", "-c", "a.cu"]);
    assert_eq!(ours.stderr, theirs.stderr);
    assert!(ours.stderr.contains("unused variable"), "{}", ours.stderr);
    assert_eq!(driver.run("warpline-nvcc", "-Werror all-warnings -Xcompiler -Wall -c a.cu").code, 1);
}

#[test]
fn missing_sources_are_reported_in_clangs_words() {
    let driver = Driver::new();
    same_as_clang(&driver, "-c absent.cu", &["-c", "absent.cu"]);
    let folder = driver.path("folder.cu");
    std::fs::create_dir(folder).unwrap();
    same_as_clang(&driver, "-c folder.cu", &["-c", "folder.cu"]);
}

#[test]
fn missing_objects_are_reported_by_the_linker() {
    let driver = Driver::new();
    let Ran { code, stderr, .. } = driver.run("warpline-nvcc", "absent.o -o a");
    assert!(stderr.contains("absent.o"), "{stderr}");
    assert_eq!(code, 1);
    assert!(!driver.path("a").exists());
}

#[test]
fn usage_errors_say_what_is_wrong() {
    let driver = Driver::new();
    let cases = [
        ("", "no input files"),
        ("-o", "argument to '-o' is missing"),
        ("-c a.cu b.cu -o x.o", "cannot specify -o when generating multiple output files"),
        ("-arch=gfx90a a.cu", "unsupported CUDA gpu architecture: gfx90a"),
        ("--device=tpu a.cu", "expected cpu, gpu"),
        ("--options-file absent.rsp a.cu", "cannot read the options file 'absent.rsp'"),
    ];
    for (line, message) in cases {
        let Ran { code, stderr, .. } = driver.run("warpline-nvcc", line);
        assert!(stderr.contains(message), "{line}: {stderr}");
        assert_eq!(code, 1, "{line}");
    }
}

#[test]
fn a_missing_toolchain_says_how_to_get_it() {
    let driver = Driver::new();
    driver.write("a.cu", "int main() {}\n");
    let run = |name: &str, value: &str| {
        let mut command = driver.command(driver.path("warpline-nvcc"));
        driver.output(command.args(["-c", "a.cu"]).env(name, value))
    };
    let Ran { code, stderr, .. } = run("WARPLINE_CLANG", "/absent/clang");
    assert_eq!(code, 6);
    assert!(stderr.contains("WARPLINE_CLANG=/absent/clang not found"), "{stderr}");
    let Ran { code, stderr, .. } = driver.run("warpline-nvcc", "--cuda-path=/ -c a.cu");
    assert_eq!(code, 6);
    assert!(stderr.contains("include/cuda_runtime.h") && stderr.contains("warpline setup"), "{stderr}");
    // A clang of another version is recognised by its version text.
    driver.write("clang", "#!/bin/sh\necho clang version 14.0.6\n");
    let path = driver.path("clang");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let Ran { code, stderr, .. } = run("WARPLINE_CLANG", path.to_str().unwrap());
    assert_eq!(code, 6);
    assert!(stderr.contains("is clang 14.0.6, needed is version 22"), "{stderr}");
}

#[test]
fn flags_without_effect_are_named_once() {
    let driver = Driver::new();
    driver.write("a.cpp", "int f() { return 0; }\n");
    let Ran { stderr, .. } = driver.run("warpline-nvcc", "-dlto -Xcudafe --display_error_number -c a.cpp").succeeded();
    assert_eq!(stderr, "warpline-cc: note: without effect here: -dlto, -Xcudafe --display_error_number\n");
}

#[test]
fn an_unwritable_output_is_an_error() {
    let driver = Driver::new();
    driver.write("a.cpp", "int f() { return 0; }\n");
    let Ran { code, stderr, .. } = driver.run("warpline-nvcc", "-c a.cpp -o absent/a.o");
    assert_eq!(code, 1);
    assert!(stderr.contains("cannot write absent/a.o: No such file or directory"), "{stderr}");
}

#[test]
fn libraries_that_are_not_provided_are_named() {
    let driver = Driver::new();
    driver.write("a.cu", "#include <cufft.h>\nint main() {}\n");
    let ran = driver.run("warpline-nvcc", "-c a.cu");
    assert!(ran.code != 0 && ran.stderr.contains("note: cuFFT is a library of NVIDIA's"), "{}", ran.stderr);
    driver.write("b.cu", "int main() {}\n");
    let ran = driver.run("warpline-nvcc", "b.cu -lcusparse -o b");
    assert!(ran.code != 0 && ran.stderr.contains("note: cuSPARSE is a library of NVIDIA's"), "{}", ran.stderr);
}

/// Many a project's shared header includes cuBLAS's and makes a handle; who computes nothing with it needs no library.
#[test]
fn cublas_is_declared_and_its_calls_are_named_at_the_link() {
    let driver = Driver::new();
    driver.write("common.h", "#include <cublas_v2.h>\n#include <cublasLt.h>\n");
    driver.write(
        "a.cu",
        r#"
#include "common.h"
int main() {
  cublasHandle_t handle;
  cublasLtHandle_t light;
  cublasMath_t math;
  if (cublasCreate(&handle) || cublasLtCreate(&light) || cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH))
    return 1;
  if (cublasGetMathMode(handle, &math) || math != CUBLAS_TF32_TENSOR_OP_MATH)
    return 2;
  // Columns of two of three rows.
  float from[] = {1, 2, 3, 4, 5, 6}, to[] = {0, 0, 0, 0}, *device;
  cudaMalloc(&device, sizeof to);
  if (cublasSetMatrix(2, 2, 4, from, 3, device, 2) || cublasGetVector(2, 4, device, 2, to, 3))
    return 3;
  if (to[0] != 1 || to[1] != 0 || to[3] != 4 || cublasSetVector(2, 0, from, 1, device, 1) != CUBLAS_STATUS_INVALID_VALUE)
    return 4;
  return cublasLtDestroy(light) || cublasDestroy(handle) ? 5 : 0;
}
"#,
    );
    driver.run("warpline-nvcc", "a.cu -lcublas -lcublasLt -o a").succeeded();
    driver.program("a").succeeded();
    let call = "cublasSgemv(0, CUBLAS_OP_N, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1)";
    driver.write("b.cu", &format!("#include \"common.h\"\nint main() {{ return {call}; }}\n"));
    let ran = driver.run("warpline-nvcc", "b.cu -lcublas -o b");
    assert_ne!(ran.code, 0);
    assert!(
        ran.stderr.contains("cublasSgemv_v2") && ran.stderr.contains("note: cuBLAS is a library"),
        "{}",
        ran.stderr
    );
}

/// The driver's functions that need a module are not offered.
#[test]
fn calls_of_the_driver_that_are_not_offered_are_named_at_the_link() {
    let driver = Driver::new();
    driver.write(
        "a.cu",
        r#"
#include <cuda.h>
int main() {
  size_t left, all;
  return cuInit(0) || cudaFree(0) || cuMemGetInfo(&left, &all) || left > all;
}
"#,
    );
    driver.run("warpline-nvcc", "a.cu -lcuda -o a").succeeded();
    driver.program("a").succeeded();
    driver.run("warpline-nvcc", "a.cu -o b").succeeded();
    driver.program("b").succeeded();
    driver.write(
        "c.cu",
        "#include <cuda.h>\nint main() { CUmipmappedArray levels = nullptr; return cuInit(0) || cuMipmappedArrayDestroy(levels); }\n",
    );
    let ran = driver.run("warpline-nvcc", "c.cu -lcuda -o c");
    assert!(ran.code != 0 && ran.stderr.contains("undefined reference to `cuMipmappedArrayDestroy'"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("cuInit"), "{}", ran.stderr);
}

/// What g++ warns of at most, and headers of a project's own that are included with angle brackets.
#[test]
fn old_code_is_taken_as_nvcc_takes_it() {
    let driver = Driver::new();
    driver.write("include/references.h", "texture<float, 1, cudaReadModeElementType> table;\n");
    let source = r#"#include <cstdio>
#include <cstring>
#include <references.h>
#define NID "7"
__global__ void read(float *to) { *to = tex1Dfetch(table, 1); }
int main() {
  float from[] = {1, 2}, *device, *to, result = 0;
  cudaMalloc(&device, sizeof from);
  cudaMalloc(&to, sizeof result);
  cudaMemcpy(device, from, sizeof from, cudaMemcpyHostToDevice);
  cudaBindTexture(nullptr, table, device, sizeof from);
  read<<<1, 1>>>(to);
  cudaMemcpy(&result, to, sizeof result, cudaMemcpyDeviceToHost);
  return result != 2 || std::strcmp("a "NID"b", "a 7b");
}
"#;
    driver.write("a.cu", source);
    driver.run("warpline-nvcc", "-Iinclude a.cu -o a").succeeded();
    driver.program("a").succeeded();

    // Nothing may take the place of a source.
    for line in
        ["a.cu -o a.cu", "-c a.cu -o ./a.cu", "-ptx a.cu -o a.cu", "-c -MD -MF a.cu a.cu", "-MM -MF ./a.cu a.cu"]
    {
        let ran = driver.run("warpline-nvcc", line);
        assert_ne!(ran.code, 0, "{line}");
        assert!(ran.stderr.contains("would replace this input"), "{line}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(driver.path("a.cu")).unwrap(), source);

    driver.write("b.cu", "__global__ void set(int *p) { *p = 1; }\n");
    driver.run("warpline-nvcc", "-ptx b.cu").succeeded();
    assert!(std::fs::read_to_string(driver.path("b.ptx")).unwrap().contains(".entry"));
}

#[test]
fn uses_of_what_other_files_define_say_which_option_is_missing() {
    let driver = Driver::new();
    driver.write(
        "a.cu",
        "__device__ float scale(float *p, int i);\n__global__ void k(float *p) { p[0] = scale(p, 1); }\n\
         int main() { k<<<1, 1>>>(nullptr); }\n",
    );
    driver.write("b.cu", "extern __device__ int table[4];\n__global__ void k(int *p) { p[0] = table[p[1]]; }\n");
    for (file, wanted) in [("a.cu", "a.cu:2: k(float*) uses scale(float*, int)"), ("b.cu", "k(int*) uses table")] {
        let Ran { code, stderr, .. } = driver.run("warpline-nvcc", &format!("-c {file} -o x.o"));
        let hint = "which is not defined: if another file defines it, compile both with -rdc=true";
        assert!(code == 1 && stderr.contains(&format!("{wanted}, {hint}")), "{stderr}");
    }
    let Ran { code, stderr, .. } = driver.run("warpline-nvcc", "-rdc=true a.cu -o a");
    assert!(code == 1 && stderr.contains("no file of this link that was compiled with -rdc=true"), "{stderr}");
}
