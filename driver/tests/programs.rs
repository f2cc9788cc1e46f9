//! Whole compilations: what comes out runs, with hooks and without.

#[path = "programs/macros.rs"]
mod macros;
#[path = "programs/options.rs"]
mod options;
mod support;

use support::{Driver, Ran};

/// Increments 100 numbers and ends with the code 0 if all are right.
const PROGRAM: &str = r#"
#include <cstdio>
#ifndef STEP
#define STEP 1
#endif
__global__ void add(int *values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count)
    values[index] += STEP;
}
int main() {
  const int count = 100;
  int *values, host[count];
  for (int i = 0; i < count; i++)
    host[i] = i;
  cudaMalloc(&values, sizeof host);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  add<<<2, 64>>>(values, count);
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; i++)
    if (host[i] != i + STEP)
      return 1;
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
"#;

fn traces(driver: &Driver) -> usize {
    let entries = std::fs::read_dir(driver.folder.path()).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".wltrace")).count()
}

#[test]
fn a_program_records_where_the_variable_is_set() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-cc", "add.cu -o add").succeeded();
    let ran = driver.output(&mut driver.command(driver.path("add"))).succeeded();
    assert_eq!((&ran.stdout[..], traces(&driver)), ("no error\n", 0));
    let mut recorded = driver.command(driver.path("add"));
    let ran = driver.output(recorded.env("WARPLINE_TRACE", driver.folder.path())).succeeded();
    assert_eq!((&ran.stdout[..], traces(&driver)), ("no error\n", 1));
}

#[test]
fn the_default_output_is_a_out() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-clang++", "-O1 -DSTEP=3 add.cu").succeeded();
    driver.program("a.out").succeeded();
}

#[test]
fn one_variable_leaves_the_hooks_out() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    let mut command = driver.command(driver.path("warpline-nvcc"));
    command.args(["add.cu", "-o", "plain", "--warpline-dump=ir"]).env("WARPLINE_CC_DISABLE", "1");
    driver.output(&mut command).succeeded();
    driver.program("plain").succeeded();
    let lowered = std::fs::read_to_string(driver.path("ir/add.cu.device-4-lowered.ll")).unwrap();
    assert!(lowered.contains("warpline.native.") && !lowered.contains("warpline.hooked."));
    assert!(!driver.path("ir/add.cu.device-3-hooked.ll").exists());
    let host = std::fs::read_to_string(driver.path("ir/add.cu.host-2-hooked.ll")).unwrap();
    assert!(!host.contains("@__warpline_name"));
}

#[test]
fn the_dump_holds_every_stage() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-nvcc", "-c add.cu --warpline-dump ir").succeeded();
    let stages = [
        ("device-0-clang", "atomicrmw\nptx_kernel"),
        ("device-1-optimised", "!warpline.loc"),
        ("device-2-prepared", "addrspace(1)"),
        ("device-3-hooked", "@__warpline_access_global"),
        ("device-4-lowered", "warpline.hooked."),
        ("host-0-clang", "__cudaRegisterFatBinary"),
        ("host-1-optimised", "__cudaRegisterFatBinary"),
        ("host-2-hooked", "@__warpline_module"),
    ];
    for (stage, expected) in stages {
        let text = std::fs::read_to_string(driver.path(&format!("ir/add.cu.{stage}.ll"))).unwrap();
        assert!(expected.lines().any(|one| text.contains(one)), "{stage} lacks {expected}");
    }
}

#[test]
fn old_architectures_are_built_as_the_oldest_supported() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    let Ran { stderr, .. } = driver.run("warpline-nvcc", "-arch=sm_20 add.cu -o add").succeeded();
    assert!(stderr.contains("sm_20 is older than this CUDA toolkit supports"), "{stderr}");
    driver.program("add").succeeded();
}

#[test]
fn sources_of_all_kinds_are_mixed() {
    let driver = Driver::new();
    driver.write("k.cu", "__global__ void k(int *p) { *p = 7; }\nvoid run(int *p) { k<<<1, 1>>>(p); }\n");
    driver.write("c.c", "int seven(void) { return 7; }\n");
    driver.write(
        "m.cpp",
        "#include <cuda_runtime.h>\nextern \"C\" int seven(void);\nvoid run(int *p);\nint main() { int *p, h = 0; \
         cudaMalloc((void **)&p, 4); run(p); cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); return h - seven(); }\n",
    );
    driver.write("s.s", ".globl nothing\nnothing: ret\n.section .note.GNU-stack,\"\",@progbits\n");
    driver.run("warpline-nvcc", "-c k.cu").succeeded();
    driver.run("warpline-nvcc", "-lib k.o -o libk.a").succeeded();
    driver.run("warpline-nvcc", "-std=c++17 m.cpp s.s c.c libk.a -o m -lcudart").succeeded();
    driver.program("m").succeeded();
}

#[test]
fn sources_that_ask_for_nvcc_find_it() {
    let driver = Driver::new();
    std::fs::create_dir(driver.path("inc")).unwrap();
    driver
        .write("inc/both.h", "#if defined(__NVCC__)\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n");
    driver.write(
        "k.cu",
        "#include \"both.h\"\n#if __CUDACC__\nBOTH int seven() { return 7; }\n#endif\n__global__ void k(int *p) { *p = seven(); }\n\
         int main() { int *p; cudaMallocManaged(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize(); return *p - seven(); }\n",
    );
    driver.run("warpline-nvcc", "-Iinc k.cu -o k").succeeded();
    driver.program("k").succeeded();
    assert_ne!(driver.run("warpline-clang++", "-Iinc -c k.cu -o k.o").code, 0, "clang is not nvcc");
}

#[test]
fn what_nvcc_only_warns_of_is_built() {
    let driver = Driver::new();
    driver.write(
        "k.cu",
        "struct A { template <class U> __device__ int f(U u) { return u + 1; } };\n\
         template <class T> __global__ void k(int *p, T a) { register int x = a.template f(4); float v[2] = {x, 2.0}; \
         p[0] = x + v[1]; }\nextern \"C\" int early(int);\n\
         int main() { int *p; cudaMallocManaged(&p, 4); k<<<1, 1>>>(p, A()); cudaDeviceSynchronize(); return *p - early(6); }\n",
    );
    driver.write("c.c", "int early(int x) { return late(x); }\nint late(int x) { return x + 1; }\n");
    driver.run("warpline-nvcc", "-std=c++17 --x cu -c k.cu").succeeded();
    driver.run("warpline-nvcc", "-c c.c").succeeded();
    driver.run("warpline-nvcc", "k.o c.o -o k").succeeded();
    driver.program("k").succeeded();
    assert_ne!(driver.run("warpline-clang++", "-std=c++17 -c k.cu -o clang.o").code, 0, "clang's errors are its own");
}

#[test]
fn loops_that_are_not_unrolled_are_no_news() {
    let driver = Driver::new();
    driver.write(
        "k.cu",
        "__global__ void k(int *p, int n) {\n#pragma unroll\nwhile (n) { p[n] += __shfl_xor_sync(~0u, n, 1); n &= p[n]; \
         __syncthreads(); }\n}\n",
    );
    assert_eq!(driver.run("warpline-nvcc", "-c k.cu").succeeded().stderr, "");
}

#[test]
fn cuda_under_another_name_is_compiled_as_told() {
    let driver = Driver::new();
    driver.write("add.cpp", PROGRAM);
    driver.run("warpline-nvcc", "-x cu add.cpp -o add").succeeded();
    driver.program("add").succeeded();
}

#[test]
fn text_results_are_clangs() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-nvcc", "-ptx add.cu -o add.ptx").succeeded();
    assert!(std::fs::read_to_string(driver.path("add.ptx")).unwrap().contains(".target sm_75"));
    let text = driver.run("warpline-nvcc", "-E -DSTEP=41 add.cu").succeeded().stdout;
    assert!(text.contains("values[index] += 41"));
    let rule = driver.run("warpline-nvcc", "-MM add.cu").succeeded().stdout;
    assert!(rule.starts_with("add.o: add.cu"), "{rule}");
}

#[test]
fn identical_builds_are_identical() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    for output in ["1.o", "2.o"] {
        driver.run("warpline-nvcc", &format!("-rdc=true -c add.cu -o {output}")).succeeded();
    }
    assert_eq!(std::fs::read(driver.path("1.o")).unwrap(), std::fs::read(driver.path("2.o")).unwrap());
    for output in ["1.o", "2.o"] {
        driver.run("warpline-nvcc", &format!("-c add.cu -o {output}")).succeeded();
    }
    assert_eq!(std::fs::read(driver.path("1.o")).unwrap(), std::fs::read(driver.path("2.o")).unwrap());
}

#[test]
fn what_older_programs_expect_is_there() {
    let driver = Driver::new();
    driver.write(
        "old.cu",
        r#"
        __global__ void k(float *p) { p[threadIdx.x] = min(2.0f, max(1.0f, 3.0f)); }
        int main() {
          cudaDeviceProp properties;
          cudaGetDeviceProperties(&properties, 0);
          float *p;
          cudaMallocManaged(&p, 32 * sizeof *p);
          cudaMemAdvise(p, 128, cudaMemAdviseSetPreferredLocation, 0);
          cudaMemPrefetchAsync(p, 128, 0);
          k<<<1, 32>>>(p);
          cudaThreadSynchronize();
          time_t now = time(nullptr);
          size_t n = strlen("four");
          return p[31] == 2.0f && properties.clockRate > 0 && min(3, 4u) == 3u && max(1.5, 2.5f) == 2.5 && n == 4 && now
                     ? 0
                     : 1;
        }
        "#,
    );
    driver.run("warpline-nvcc", "old.cu -o old").succeeded();
    driver.program("old").succeeded();
}

#[test]
fn openmp_functions_are_there_with_or_without_clangs_openmp() {
    let driver = Driver::new();
    driver.write("o.cu", "#include <omp.h>\nint main() { return omp_get_max_threads() < 1; }\n");
    driver.run("warpline-nvcc", "-Xcompiler -fopenmp o.cu -o o").succeeded();
    driver.program("o").succeeded();
}

#[test]
fn unoptimised_device_code_runs() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-nvcc", "-g -G add.cu -o add").succeeded();
    driver.program("add").succeeded();
    driver.run("warpline-clang++", "add.cu -o add0").succeeded();
    driver.program("add0").succeeded();
}

/// Two files with kernels, device functions and variables of the same names, each large enough to be generated in
/// parts.
const LARGE: &str = r#"
#include <cstdio>
static __device__ int total = SEED;
template <int N> __device__ __noinline__ int deep(int value) {
  return value <= 0 ? N : deep<N>(value - N - 1) + 1;
}
typedef int (*Function)(int);
static __device__ Function table[2] = {deep<0>, deep<1>};
template <int N> static __global__ void many(int *values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count)
    return;
  for (int round = 0; round < 3; round++)
    for (int step = 1; step < N + 3; step++)
      if (values[index] % step == 0)
        values[index] += values[(index * step + N) % count + count] * (SEED + N);
      else
        values[index] ^= values[(index + round) % count + count];
  atomicAdd(&total, values[index] & 1);
  values[index] += table[index % 2](index % 7);
}
template <int N> static int work(int *values, int count) {
  many<N><<<2, 64>>>(values, count);
  return work<N - 1>(values, count);
}
template <> int work<0>(int *values, int count) {
  return 0;
}
int NAME() {
  const int count = 100;
  int *values, host[2 * count], sum = 0;
  for (int i = 0; i < 2 * count; i++)
    host[i] = i * SEED;
  cudaMalloc(&values, sizeof host);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  work<5>(values, count);
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; i++)
    sum = sum * 31 + host[i];
  int counted;
  cudaMemcpyFromSymbol(&counted, total, sizeof counted);
  printf("%d %d\n", sum, counted);
  return cudaDeviceSynchronize();
}
"#;

#[test]
fn large_files_are_generated_in_parts() {
    let driver = Driver::new();
    driver.write("large.cuh", LARGE);
    driver.write("one.cu", "#define SEED 3\n#define NAME one\n#include \"large.cuh\"\n");
    driver.write("two.cu", "#define SEED 5\n#define NAME two\n#include \"large.cuh\"\n");
    driver.write("main.cpp", "int one(), two();\nint main() { return one() | two(); }\n");
    let compile = |threads: &str, line: &str| {
        let mut command = driver.command(driver.path("warpline-nvcc"));
        driver.output(command.args(line.split_whitespace()).env("WARPLINE_CC_THREADS", threads)).succeeded();
    };
    compile("1", "-c one.cu -o one.o");
    let alone = std::fs::read(driver.path("one.o")).unwrap();
    compile("5", "-c one.cu -o one.o --warpline-dump=ir");
    assert!(std::fs::read(driver.path("one.o")).unwrap() == alone, "the threads change the object");
    assert!(driver.path("ir/one.cu.device-4-lowered-1.ll").exists());
    driver.run("warpline-nvcc", "one.o two.cu main.cpp -o parts").succeeded();
    driver.run("warpline-nvcc", "-dc one.cu -o one.dc.o").succeeded();
    driver.run("warpline-nvcc", "-dc two.cu -o two.dc.o").succeeded();
    driver.run("warpline-nvcc", "-rdc=true one.dc.o two.dc.o main.cpp -o linked").succeeded();
    driver.run("warpline-nvcc", "--warpline-cautious one.cu two.cu main.cpp -o cautious").succeeded();
    let expected = driver.program("cautious").succeeded().stdout;
    assert_eq!(expected.lines().count(), 2);
    assert_eq!(driver.program("parts").succeeded().stdout, expected);
    assert_eq!(driver.program("linked").succeeded().stdout, expected);
}

#[test]
fn nvml_tells_what_the_gpu_is_without_a_driver() {
    let driver = Driver::new();
    driver.write(
        "gpu.cpp",
        r#"
#include <cstdio>
#include <cstring>
#include <nvml.h>
int main() {
  unsigned count = 0, clock = 0, power = 0;
  nvmlDevice_t first, same;
  nvmlMemory_t memory;
  nvmlPciInfo_t pci;
  char name[NVML_DEVICE_NAME_BUFFER_SIZE], uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
  if (nvmlInit_v2() != NVML_SUCCESS || nvmlDeviceGetCount(&count) != NVML_SUCCESS || count != 1)
    return 1;
  if (nvmlDeviceGetHandleByIndex(1, &first) != NVML_ERROR_INVALID_ARGUMENT)
    return 2;
  if (nvmlDeviceGetHandleByIndex_v2(0, &first) != NVML_SUCCESS || nvmlDeviceGetPciInfo(first, &pci) != NVML_SUCCESS)
    return 3;
  if (nvmlDeviceGetHandleByPciBusId(pci.busIdLegacy, &same) != NVML_SUCCESS || same != first)
    return 4;
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  if (nvmlDeviceGetName(first, name, sizeof name) != NVML_SUCCESS || strcmp(name, properties.name))
    return 5;
  if (nvmlDeviceGetName(first, name, 3) != NVML_ERROR_INSUFFICIENT_SIZE)
    return 6;
  if (nvmlDeviceGetClockInfo(first, NVML_CLOCK_SM, &clock) != NVML_SUCCESS || clock < 100 || clock > 10000)
    return 7;
  if (nvmlDeviceGetMemoryInfo(first, &memory) != NVML_SUCCESS || memory.total != properties.totalGlobalMem)
    return 8;
  if (nvmlDeviceGetUUID(first, uuid, sizeof uuid) != NVML_SUCCESS || strncmp(uuid, "GPU-", 4) || strlen(uuid) != 40)
    return 9;
  if (nvmlDeviceGetPowerUsage(first, &power) != NVML_ERROR_NOT_SUPPORTED)
    return 10;
  char serial[NVML_DEVICE_SERIAL_BUFFER_SIZE];
  if (nvmlDeviceGetSerial(first, serial, sizeof serial) != NVML_ERROR_NOT_SUPPORTED)
    return 11;
  puts(nvmlErrorString(nvmlShutdown()));
}
"#,
    );
    driver.run("warpline-nvcc", "-Xcompiler -Wall,-Werror gpu.cpp -lnvidia-ml -o gpu").succeeded();
    assert_eq!(driver.program("gpu").succeeded().stdout, "Success\n");
    driver.write("gpu.c", "#include <nvml.h>\nint main(void) { return nvmlInit(); }");
    let toolkit = driver.run("warpline-cc", "--warpline-toolkit").succeeded().stdout;
    let toolkit = toolkit.trim();
    let mut gcc = driver.command("gcc");
    gcc.args(["gpu.c", "-o", "plain", "-lnvidia-ml", "-lcudart"]);
    gcc.args([format!("-I{toolkit}/include"), format!("-L{toolkit}/lib64")]);
    driver.output(&mut gcc).succeeded();
    driver.program("plain").succeeded();
}

/// Current headers of the toolkit reject a standard below C++17, which older projects request.
#[test]
fn an_older_standard_is_raised_for_the_toolkits_headers() {
    let driver = Driver::new();
    driver.write("include/part.h", "#include <cooperative_groups.h>\n");
    driver.write(
        "groups.cu",
        r#"
#include <part.h>
__global__ void number(int *values) {
  cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  values[block.thread_rank()] = __cplusplus / 100;
}
int main() {
  int *values;
  cudaMallocManaged(&values, 128);
  number<<<1, 32>>>(values);
  cudaDeviceSynchronize();
  return values[31] == 2017 ? 0 : 1;
}
"#,
    );
    driver.run("warpline-nvcc", "-std=c++11 -Iinclude groups.cu -o groups").succeeded();
    driver.program("groups").succeeded();
}

/// Build scripts query the architectures, and take all or the newest.
#[test]
fn architectures_are_listed_and_accepted() {
    let driver = Driver::new();
    let listed = driver.run("warpline-nvcc", "--list-gpu-arch").succeeded().stdout;
    assert!(listed.contains("compute_80\ncompute_86\n"), "{listed}");
    let listed = driver.run("warpline-nvcc", "--list-gpu-code").succeeded().stdout;
    let newest = listed.lines().last().unwrap();
    assert!(driver.run("warpline-nvcc", "--help").succeeded().stdout.contains(newest));
    driver.write("add.cu", PROGRAM);
    driver.run("warpline-nvcc", &format!("-arch={newest} add.cu -o add")).succeeded();
    driver.program("add").succeeded();
}

#[test]
fn streams_per_thread_are_the_default_where_requested() {
    let driver = Driver::new();
    driver.write("add.cu", &format!("{PROGRAM}\nstatic_assert(CUDA_API_PER_THREAD_DEFAULT_STREAM, \"\");\n"));
    driver
        .run("warpline-nvcc", "--default-stream per-thread -Xcompiler -Werror,-Wlogical-op,-Wl,-z,now add.cu -o add")
        .succeeded();
    driver.program("add").succeeded();
    driver.write("b.cpp", "int f() { return 0; }\n");
    driver.run("warpline-nvcc", "--default-stream per-thread -Xcompiler -Werror  -c b.cpp").succeeded();
}

/// nvcc reads the preprocessed text again, where a macro's pragma is one.
#[test]
fn macros_that_stand_for_pragmas_are_taken() {
    let driver = Driver::new();
    driver.write("library/unroll.h", "#define UNROLL #pragma unroll\n");
    driver.write(
        "sum.cu",
        r#"
#include <unroll.h>
__global__ void sum(int *values) {
  UNROLL
  for (int i = 1; i < 4; i++)
    values[0] += values[i];
}
int main() {
  int *values;
  cudaMallocManaged(&values, 16);
  for (int i = 0; i < 4; i++)
    values[i] = i + 1;
  sum<<<1, 1>>>(values);
  return cudaDeviceSynchronize() || values[0] != 10;
}
"#,
    );
    driver.run("warpline-nvcc", "-Ilibrary sum.cu -o sum").succeeded();
    driver.program("sum").succeeded();
}

/// Functions whose parameters CUDA 13 changed are called as before, too.
#[test]
fn graphs_are_built_with_the_calls_of_older_toolkits() {
    let driver = Driver::new();
    driver.write(
        "graph.cu",
        r#"
int main() {
  cudaGraph_t graph;
  cudaGraphNode_t first, second, from, to, before;
  size_t edges = 1, count = 1;
  cudaStreamCaptureStatus status;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEmptyNode(&first, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&second, graph, nullptr, 0);
  if (cudaGraphAddDependencies(graph, &first, &second, 1) || cudaGraphGetEdges(graph, &from, &to, &edges))
    return 1;
  if (edges != 1 || from != first || to != second)
    return 2;
  if (cudaGraphNodeGetDependencies(second, &before, &count) || count != 1 || before != first)
    return 3;
  if (cudaGraphRemoveDependencies(graph, &first, &second, 1) || cudaGraphGetEdges(graph, nullptr, nullptr, &edges))
    return 4;
  if (cudaStreamGetCaptureInfo_v2(0, &status) || status != cudaStreamCaptureStatusNone)
    return 5;
  return edges;
}
"#,
    );
    driver.run("warpline-nvcc", "graph.cu -o graph").succeeded();
    driver.program("graph").succeeded();
}

#[test]
fn files_of_device_code_take_what_programs_take() {
    let driver = Driver::new();
    driver.write("include/t.h", "texture<float, 1, cudaReadModeElementType> values;\n");
    driver.write(
        "old.cu",
        "#include <t.h>\n#define NAME \"x\"\n__device__ const char text[] = \"a \"NAME\"b\";\n\
         extern \"C\" __global__ void read(float *out) { out[threadIdx.x] = tex1Dfetch(values, threadIdx.x) + text[0]; }\n",
    );
    for kind in ["-ptx", "-cubin", "-E -o old.ii", "-M -o old.d"] {
        driver.run("warpline-nvcc", &format!("-w -Iinclude {kind} old.cu")).succeeded();
    }
    assert!(std::fs::read_to_string(driver.path("old.ptx")).unwrap().contains(".entry read"));
    let rule = std::fs::read_to_string(driver.path("old.d")).unwrap();
    assert!(rule.contains("old.cu") && !rule.contains("respelled"), "{rule}");
}

#[test]
fn ptx_of_several_sources_has_a_file_each() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.write("more.cu", PROGRAM);
    driver.run("warpline-nvcc", "-ptx add.cu more.cu").succeeded();
    for name in ["add.ptx", "more.ptx"] {
        assert!(std::fs::read_to_string(driver.path(name)).unwrap().contains(".target sm_75"), "{name}");
    }
    let left = std::fs::read_dir(driver.folder.path()).unwrap().flatten();
    assert!(!left.into_iter().any(|file| file.file_name().to_string_lossy().ends_with(".s")));
}

/// A toolkit in the folder `toolkit`, whose ptxas notes the architectures for which it is called.
fn toolkit_that_notes_architectures(driver: &Driver) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let real = support::cuda();
    let bin = driver.path("toolkit/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for (from, to) in [(real.clone(), driver.path("toolkit")), (real.join("bin"), bin.clone())] {
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            if !["bin", "ptxas"].iter().any(|name| entry.file_name() == *name) {
                symlink(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
    let ptxas = bin.join("ptxas");
    let (real, log) = (real.join("bin/ptxas"), driver.path("architectures"));
    let script = format!(
        "#!/bin/sh\nfor word; do case $word in -arch=*) echo $word >> {};; esac; done\nexec {} \"$@\"\n",
        log.display(),
        real.display()
    );
    std::fs::write(&ptxas, script).unwrap();
    std::fs::set_permissions(&ptxas, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn code_is_assembled_for_the_requested_architectures() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    toolkit_that_notes_architectures(&driver);
    let assembled = |options: &str| {
        _ = std::fs::remove_file(driver.path("architectures"));
        driver.run("warpline-nvcc", &format!("--cuda-path=toolkit {options} add.cu")).succeeded();
        let text = std::fs::read_to_string(driver.path("architectures")).unwrap();
        let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
        all.sort();
        all
    };
    assert_eq!(assembled("-arch=sm_80 -o add"), ["-arch=sm_80"]);
    assert_eq!(
        assembled("-gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 -c -o add.o").len(),
        2
    );
}

#[test]
fn names_that_are_no_text_are_refused_by_name() {
    use std::os::unix::ffi::OsStrExt;
    let driver = Driver::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.cu");
    std::fs::write(driver.folder.path().join(name), PROGRAM).unwrap();
    let ran = driver.output(driver.command(driver.path("warpline-cc")).arg(name).arg("-o").arg("add"));
    assert!(ran.code == 1 && ran.stderr.contains("caf\\xE9.cu") && ran.stderr.contains("UTF-8"), "{}", ran.stderr);
}

#[test]
fn headers_of_system_folders_may_have_texture_references() {
    let driver = Driver::new();
    driver.write("library/table.cuh", "texture<float, 1, cudaReadModeElementType> table;\n");
    let kernel = "#include <table.cuh>\n__global__ void get(float *out) { *out = tex1Dfetch(table, 1); }\n";
    driver.write("get.cu", &format!("{kernel}int main() {{ return 0; }}\n"));
    driver.run("warpline-nvcc", "-isystem library get.cu -o get").succeeded();
    for variable in ["CPATH", "CPLUS_INCLUDE_PATH"] {
        let mut command = driver.command(driver.path("warpline-nvcc"));
        driver.output(command.args(["get.cu", "-o", "get"]).env(variable, "/nowhere:library")).succeeded();
    }
    let (_, rest) = kernel.split_once('\n').unwrap();
    driver.write("rest.cu", rest);
    driver.run("warpline-nvcc", "-include library/table.cuh -c rest.cu").succeeded();
    driver.run("warpline-nvcc", "-Ilibrary -include table.cuh -c rest.cu").succeeded();
}

/// `kill`, and a build system's time limit, end the driver alone.
#[test]
fn a_killed_driver_leaves_no_compiler_behind() {
    let driver = Driver::new();
    let body = "values[index] = values[index] * 3 + index;\n".repeat(20_000);
    driver.write("slow.cu", &PROGRAM.replace("values[index] += STEP;", &format!("{{ {body} }}")));
    for signal in [libc::SIGTERM, libc::SIGKILL] {
        let mut child = driver.command(driver.path("warpline-nvcc")).args(["-ptx", "slow.cu"]).spawn().unwrap();
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let start = std::time::Instant::now();
        let compiler = loop {
            let text = std::fs::read_to_string(&children).unwrap();
            let number = text.split_whitespace().next().map(str::to_owned);
            // It is our own program still until it has started the compiler.
            let is_compiler = |number: &String| {
                std::fs::read_to_string(format!("/proc/{number}/comm")).is_ok_and(|name| name.starts_with("clang"))
            };
            if let Some(number) = number.filter(is_compiler) {
                break number;
            }
            assert!(start.elapsed().as_secs() < 60, "no compiler was started");
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        std::thread::sleep(std::time::Duration::from_millis(200));
        // SAFETY: the process is our own child, which has not been waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
        child.wait().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1));
        let state = std::fs::read_to_string(format!("/proc/{compiler}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
        assert!(!driver.path("slow.ptx").exists());
    }
}

#[test]
fn an_interrupted_compilation_leaves_no_files() {
    let driver = Driver::new();
    let body = "values[index] = values[index] * 3 + index;\n".repeat(20_000);
    driver.write("slow.cu", &PROGRAM.replace("values[index] += STEP;", &format!("{{ {body} }}")));
    driver.write("tmp/keep", "");
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGQUIT, libc::SIGXCPU] {
        let mut command = driver.command(driver.path("warpline-cc"));
        let child = command.args(["-c", "slow.cu"]).env("TMPDIR", driver.path("tmp")).spawn();
        let mut child = child.unwrap();
        let folders = || {
            let entries = std::fs::read_dir(driver.path("tmp")).unwrap().flatten();
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("warpline-cc.")).count()
        };
        let start = std::time::Instant::now();
        while folders() == 0 && start.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(folders(), 1);
        // The folder is made a moment before the signal is expected.
        std::thread::sleep(std::time::Duration::from_millis(50));
        // SAFETY: the process is our own child, which has not been waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal), "{status}");
        assert_eq!(folders(), 0);
    }
}

#[test]
fn names_may_have_all_letters() {
    let driver = Driver::new();
    let source = "#include \"über.h\"\n\
        struct Größe { int länge; };\n\
        __device__ int zähler;\n\
        __device__ __noinline__ int größer(int a, int b) { return a > b ? a : b; }\n\
        template <typename Typ> __global__ void schätze(Typ *außen) {\n\
        __shared__ Typ häufig[32]; häufig[threadIdx.x] = ZWÖLF; __syncthreads();\n\
        außen[threadIdx.x] = häufig[31 - threadIdx.x] + größer(threadIdx.x, 3); atomicAdd(&zähler, 1); }\n\
        __global__ void 核函数(Größe *größen) { größen[threadIdx.x].länge += 1; }\n\
        int main() { int *ausgänge, werte[32], zahl; cudaMalloc(&ausgänge, 128);\n\
        schätze<<<1, 32>>>(ausgänge); 核函数<<<1, 32>>>((Größe *)ausgänge);\n\
        cudaMemcpy(werte, ausgänge, 128, cudaMemcpyDeviceToHost); cudaMemcpyFromSymbol(&zahl, zähler, 4);\n\
        return werte[31] == 12 + 31 + 1 && zahl == 32 ? 0 : 1; }\n";
    driver.write("Ordner ü/日本/größe.cu", source);
    driver.write("Ordner ü/日本/über.h", "#define ZWÖLF 12\n");
    for options in [&["-O2"][..], &["-G"], &["-O2", "-rdc=true"], &["-O2", "--device=gpu-emulated"]] {
        let mut command = driver.command(driver.path("warpline-nvcc"));
        driver.output(command.args(options).args(["Ordner ü/日本/größe.cu", "-o", "größe"])).succeeded();
        driver.program("größe").succeeded();
    }
    let mut command = driver.command(driver.path("warpline-nvcc"));
    let refused = driver.output(command.args(["--device=gpu", "Ordner ü/日本/größe.cu", "-o", "gpu"]));
    assert!(
        refused.code == 1 && refused.stderr.contains("PTX has no name with other characters"),
        "{}",
        refused.stderr
    );
    let mut command = driver.command(driver.path("warpline-nvcc"));
    let refused = driver.output(command.args(["-ptx", "Ordner ü/日本/größe.cu", "-o", "größe.ptx"]));
    let described =
        refused.stderr.contains("has no name with other characters") && !refused.stderr.contains("Stack dump");
    assert!(refused.code == 1 && described && !driver.path("größe.ptx").exists(), "{}", refused.stderr);
}

/// Two sources for one program, the first of CUDA.
fn two_sources(driver: &Driver) {
    driver.write("a.cu", "#include \"a.h\"\n__global__ void set(int *to) { *to = A; }\nint b();\n\
        int main() { int *to, got; cudaMalloc(&to, 4); set<<<1, 1>>>(to); cudaMemcpy(&got, to, 4, cudaMemcpyDeviceToHost);\n\
        return got + b() - 9; }\n");
    driver.write("a.h", "#define A 4\n");
    driver.write("b.cpp", "#include \"b.h\"\nint b() { return B; }\n");
    driver.write("b.h", "#define B 5\n");
}

#[test]
fn dependencies_are_reported_when_a_program_is_made_in_one_go() {
    let driver = Driver::new();
    two_sources(&driver);
    let described = |line: &str, files: &[&str]| {
        driver.run("warpline-nvcc", line).succeeded();
        let rules = files.iter().map(|file| std::fs::read_to_string(driver.path(file)).unwrap_or_default());
        let rules: Vec<String> = rules.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        files.iter().for_each(|file| std::fs::remove_file(driver.path(file)).unwrap());
        rules
    };
    assert_eq!(described("-MMD a.cu b.cpp -o app", &["app.d"]), ["app: a.cu a.h app: b.cpp b.h"]);
    driver.program("app").succeeded();
    assert_eq!(described("-MMD -MF list b.cpp a.cu -o app", &["list"]), ["app: b.cpp b.h app: a.cu a.h"]);
    assert_eq!(described("-MMD a.cu b.cpp", &["a.d", "b.d"]), ["a.o: a.cu a.h", "b.o: b.cpp b.h"]);
    assert_eq!(
        described("-MMD -MP -MT app a.cu b.cpp", &["a.d", "b.d"]),
        ["app: a.cu a.h a.h:", "app: b.cpp b.h b.h:"]
    );
    assert_eq!(described("-MMD -lib a.cu b.cpp -o all.a", &["all.d"]), ["all.a: a.cu a.h all.a: b.cpp b.h"]);
    let whole = described("-MD a.cu b.cpp -o app", &["app.d"]);
    assert!(whole[0].contains("cuda_runtime.h") && !whole[0].contains("/tmp/"), "{whole:?}");
}

#[test]
fn sources_come_from_standard_input() {
    let driver = Driver::new();
    two_sources(&driver);
    driver.write("kernel.cu", "extern \"C\" __global__ void one(int *p) { p[threadIdx.x] = 1; }\n");
    let piped = |program: &str, line: &str, source: &str| {
        let mut command = driver.command(driver.path(program));
        let source = std::fs::File::open(driver.path(source)).unwrap();
        driver.output(command.args(line.split_whitespace()).stdin(source))
    };
    piped("warpline-nvcc", "-x cu - -x none b.cpp -MMD -o app", "a.cu").succeeded();
    driver.program("app").succeeded();
    let rules = std::fs::read_to_string(driver.path("app.d")).unwrap();
    assert_eq!(rules.split_whitespace().collect::<Vec<_>>().join(" "), "app: a.h app: b.cpp b.h");
    for (program, language) in [("warpline-nvcc", "cu"), ("warpline-clang++", "cuda"), ("warpline-nvcc", "c++")] {
        let source = if language == "c++" { "b.cpp" } else { "a.cu" };
        piped(program, &format!("-x {language} -c -"), source).succeeded();
        std::fs::remove_file(driver.path("-.o")).unwrap();
    }
    // The same object from the same text.
    let made = || {
        piped("warpline-nvcc", "-x cu -c - -o part.o", "a.cu").succeeded();
        std::fs::read(driver.path("part.o")).unwrap()
    };
    assert!(made() == made());
    driver.write("wrong.cu", "int right;\nint x = y;\n");
    let wrong = piped("warpline-nvcc", "-x cu -c -", "wrong.cu");
    assert!(wrong.code == 1 && wrong.stderr.contains("<stdin>:2:9: error"), "{}", wrong.stderr);
    for (kind, sign) in [("-ptx", "WARPLINE"), ("-cubin", "ELF"), ("-fatbin", "ELF")] {
        piped("warpline-nvcc", &format!("-x cu {kind} - -o device.file"), "kernel.cu").succeeded();
        let file = std::fs::read(driver.path("device.file")).unwrap();
        let text = String::from_utf8_lossy(&file);
        assert!(text.to_ascii_uppercase().contains(sign) && !text.contains("standard-input"), "{kind}");
        piped("warpline-nvcc", &format!("-x cu {kind} - -o again.file"), "kernel.cu").succeeded();
        assert!(file == std::fs::read(driver.path("again.file")).unwrap(), "{kind}");
    }
    let without = piped("warpline-nvcc", "-c -", "a.cu");
    assert!(without.code == 1 && without.stderr.contains("-x required"), "{}", without.stderr);
    assert!(!driver.path("-.o").exists());
}

#[test]
fn sources_come_from_pipes() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.write("wrong.cu", "int right;\nint x = y;\n");
    let shell = |line: &str| driver.output(driver.command("bash").args(["-c", line]));
    shell("./warpline-nvcc -x cu <(cat add.cu) -o add").succeeded();
    driver.program("add").succeeded();
    shell("cat add.cu | ./warpline-nvcc -x cu -c /dev/stdin -o add.o && ./warpline-nvcc add.o -o add").succeeded();
    driver.program("add").succeeded();
    let text = shell("./warpline-nvcc -x cu -E <(cat add.cu)").succeeded().stdout;
    assert!(text.contains("void add(int *values"), "{text}");
    let wrong = shell("./warpline-nvcc -x cu -c <(cat wrong.cu)");
    assert!(wrong.code == 1 && wrong.stderr.contains("/dev/fd/63:2:9: error"), "{}", wrong.stderr);
}

#[test]
fn an_object_that_cannot_be_written_whole_is_not_left() {
    let driver = Driver::new();
    driver.write("add.cu", PROGRAM);
    driver.write("tmp/keep", "");
    driver.run("warpline-nvcc", "-c add.cu").succeeded();
    let size = std::fs::metadata(driver.path("add.o")).unwrap().len();
    let script = format!("ulimit -f {}; exec ./warpline-nvcc -c add.cu", (size - 1) / 1024);
    let ran = driver.output(driver.command("bash").args(["-c", &script]).env("TMPDIR", driver.path("tmp")));
    assert!(ran.code == 1 && ran.stderr.contains("cannot write add.o: File too large"), "{} {}", ran.code, ran.stderr);
    assert!(!driver.path("add.o").exists());
    assert_eq!(std::fs::read_dir(driver.path("tmp")).unwrap().count(), 1);
}
