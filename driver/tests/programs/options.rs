//! Options whose effect shows in what is made, and sources that nvcc takes and clang refuses.

use super::support::{Driver, Ran};

/// A kernel whose registers are bounded, which needs the macros that nvcc defines for options.
const LIMITED: &str = "#if !defined(__CUDACC_EXTENDED_LAMBDA__) || !defined(__CUDACC_RELAXED_CONSTEXPR__)\n\
    #error a macro of nvcc's is missing\n#endif\n#if defined(__CUDACC_RDC__) || defined(__CUDACC_DEBUG__)\n#error a macro too many\n\
    #endif\n\
    constexpr int listed[] = {__CUDA_ARCH_LIST__};\n\
    static_assert(sizeof listed == 8 && listed[0] == 700 && listed[1] == 800, \"\");\n\
    template <class F> __global__ void call(F f, int *out) { *out = f(3); }\n\
    template <int N> __global__ void __maxnreg__(N) sum(float *p) {\n\
      float a[16];\n  for (int i = 0; i < 16; i++) a[i] = p[i * 33 + threadIdx.x];\n\
      for (int i = 0; i < 16; i++) p[i * 32 + threadIdx.x] = a[i] * a[15 - i];\n}\n\
    int main() {\n  static_assert(!__nv_is_extended_device_lambda_closure_type(int), \"\");\n\
      auto twice = [] __device__(int x) { return 2 * x; };\n  int *out;\n  cudaMallocManaged(&out, 4);\n\
      call<<<1, 1>>>(twice, out);\n  float *p;\n  cudaMalloc(&p, 4096);\n  sum<24><<<1, 32>>>(p);\n\
      cudaFuncAttributes found;\n  cudaFuncGetAttributes(&found, sum<24>);\n  cudaDeviceSynchronize();\n\
      return *out != 6 || found.numRegs > 24;\n}\n";

#[test]
fn resources_are_reported_and_bounded_and_nvccs_macros_are_defined() {
    let driver = Driver::new();
    driver.write("limited.cpp", LIMITED);
    let line = "limited.cpp -x cu --extended-lambda --expt-relaxed-constexpr --resource-usage -keep -keep-dir . -gencode arch=compute_80,code=sm_80 \
        -gencode arch=compute_70,code=sm_70 -o limited";
    let Ran { stderr, .. } = driver.run("warpline-nvcc", line).succeeded();
    for part in ["Compiling entry function '_Z3sumILi24EEvPf' for 'sm_", "bytes spill stores", ": Used "] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(!stderr.contains("redefined"), "{stderr}");
    driver.program("limited").succeeded();
    let ptx = std::fs::read_to_string(driver.path("limited.ptx")).unwrap();
    assert!(ptx.contains(".maxnreg 24") && !ptx.contains("__warpline"), "{ptx}");
}

#[test]
fn what_clang_refuses_and_nvcc_takes_is_built() {
    let driver = Driver::new();
    driver.write("lib/lenient.h", r#"
enum class Mode { yes, no };
struct Positive { template <Mode M> __device__ bool operator()(int a) const { return a > 0 && M == Mode::yes; } };
template <class T> struct Caller { T predicate; __device__ bool run(int a) const { return this->predicate.operator()<Mode::yes>(a); } };
template <bool Pair> struct Base { static constexpr bool pair = Pair; };
template <class T, bool Pair> struct Slot : Base<Pair> {
  __host__ __device__ constexpr auto key(T const &v) const { if constexpr (this->pair) return v.first; else return v; }
};
"#);
    driver.write(
        "k.cu",
        r#"
#include <lenient.h>
template <int W> struct Half;
template <> struct Half<0> { static constexpr char text[] = ".lo"; };
template <> struct Half<1> { static constexpr char text[] = ".hi"; };
template <int W> __device__ unsigned product(unsigned a, unsigned b) {
  unsigned r;
  asm("mul%1"
      ".u32 %0, %2, %3;" : "=r"(r) : "C"(Half<W>::text), "r"(a), "r"(b));
  return r;
}
__global__ void k(unsigned *o, unsigned a, unsigned b) {
  Caller<Positive> caller;
  Slot<int, false> slot;
  o[0] = product<0>(a, b), o[1] = product<1>(a, b), o[2] = caller.run(slot.key(4));
}
int main() {
  unsigned *o;
  cudaMallocManaged(&o, 12);
  k<<<1, 1>>>(o, 0x90000001u, 0x10u);
  cudaDeviceSynchronize();
  return o[0] != 0x10 || o[1] != 9 || o[2] != 1;
}
"#,
    );
    driver.run("warpline-nvcc", "-std=c++17 -Ilib k.cu -o k").succeeded();
    driver.program("k").succeeded();
}

/// The IR of device code as it was optimised.
fn optimised(driver: &Driver, line: &str, unit: &str) -> String {
    driver.run("warpline-nvcc", &format!("{line} --warpline-dump ir")).succeeded();
    std::fs::read_to_string(driver.path(&format!("ir/{unit}.device-1-optimised.ll"))).unwrap()
}

#[test]
fn device_code_is_optimised_at_the_level_of_the_command_line() {
    let driver = Driver::new();
    driver.write(
        "a.cu",
        "__device__ int f(int x) { int y = x; return y; }\n__global__ void k(int *p) { *p = f(*p); }\n\
                          int main() { k<<<1, 1>>>(0); }\n",
    );
    let is_optimised = |text: &str| !text.contains(" alloca ");
    assert!(!is_optimised(&optimised(&driver, "-O0 -c a.cu -o a.o", "a.cu")));
    assert!(is_optimised(&optimised(&driver, "-c a.cu -o a.o", "a.cu")), "nvcc optimises device code by default");
    // The link of relocatable units follows their level.
    driver.run("warpline-nvcc", "-O0 -dc a.cu -o a.o").succeeded();
    assert!(!is_optimised(&optimised(&driver, "a.o -o linked", "linked")));
}
