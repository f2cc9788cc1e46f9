// Headers that a run-time compilation finds: in the source's folder, and the toolkit's for types of few bits and for
// matrices. The kernels are launched as before CUDA 4, by functions of the driver that the program requests by name.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#define CHECK(call)                                                                                                    \
  if (int code = (int)(call)) {                                                                                        \
    printf("%s: %d\n", #call, code);                                                                                   \
    return 1;                                                                                                          \
  }

template <class F> static bool find(const char *name, F &function) {
  cudaDriverEntryPointQueryResult status;
  return cudaGetDriverEntryPointByVersion(name, (void **)&function, 12000, cudaEnableDefault, &status) == 0 &&
         status == cudaDriverEntryPointSuccess;
}

static int compile(const char *name, const char *source, std::vector<const char *> options, std::string &result) {
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr));
  const nvrtcResult code = nvrtcCompileProgram(program, (int)options.size(), options.data());
  size_t size;
  CHECK(nvrtcGetProgramLogSize(program, &size));
  result.resize(size);
  CHECK(nvrtcGetProgramLog(program, &result[0]));
  if (code == NVRTC_SUCCESS) {
    CHECK(nvrtcGetPTXSize(program, &size));
    result.resize(size);
    CHECK(nvrtcGetPTX(program, &result[0]));
  }
  CHECK(nvrtcDestroyProgram(&program));
  return code;
}

static const char SOURCE[] = R"(
#include "scale.h"
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <mma.h>
#ifndef __CUDACC_RTC__
#error the program's own source is compiled while it runs
#endif
using namespace nvcuda;
extern "C" __global__ void few_bits(float *out, float x, int n) {
  assert(threadIdx.x < n);
  __half a = __float2half(x), b = 3;
  __nv_bfloat16 c = x;
  __nv_fp8_e4m3 d(1.5f);
  out[0] = __half2float(a * b) + float(c + c) + float(d) + SCALE + N;
}
extern "C" __global__ void matrices(float *out) {
  __shared__ half a[256], b[256];
  __shared__ float sums[256];
  for (int i = threadIdx.x; i < 256; i += 32)
    a[i] = 1.f, b[i] = 2.f;
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(sums, sum, 16, wmma::mem_row_major);
  out[1] = sums[255];
}
)";

int main() {
  std::string text;
  if (compile("sources/kernel.cu", SOURCE, {"--gpu-architecture=compute_80", "-DN=1024"}, text)) {
    printf("%s", text.c_str());
    return 1;
  }
  std::string log;
  const char *absent = "#include \"scale.h\"\n__global__ void k(int *p) { *p = SCALE; }";
  printf("without the source's folder %d\n", compile("sources/kernel.cu", absent, {"--no-source-include"}, log));
  printf("in another folder %d\n", compile("kernel.cu", absent, {}, log));

  decltype(&cuFuncSetBlockShape) block;
  decltype(&cuParamSetSize) size;
  decltype(&cuParamSetv) argument;
  decltype(&cuLaunchGridAsync) launch;
  if (!find("cuFuncSetBlockShape", block) || !find("cuParamSetSize", size) || !find("cuParamSetv", argument) ||
      !find("cuLaunchGridAsync", launch))
    return 2;
  float *out, results[2];
  const float x = 2.5f;
  const int n = 32;
  CHECK(cudaMalloc(&out, sizeof results));
  CUmodule module;
  CUfunction few_bits, matrices;
  CHECK(cuModuleLoadData(&module, text.c_str()));
  CHECK(cuModuleGetFunction(&few_bits, module, "few_bits"));
  CHECK(cuModuleGetFunction(&matrices, module, "matrices"));
  printf("without a shape %d\n", (int)launch(few_bits, 1, 1, nullptr));
  CHECK(block(few_bits, 32, 1, 1));
  CHECK(argument(few_bits, 0, &out, sizeof out));
  CHECK(argument(few_bits, 8, (void *)&x, sizeof x));
  CHECK(argument(few_bits, 12, (void *)&n, sizeof n));
  CHECK(size(few_bits, 16));
  CHECK(launch(few_bits, 2, 1, nullptr));
  CHECK(block(matrices, 32, 1, 1));
  CHECK(argument(matrices, 0, &out, sizeof out));
  CHECK(cuLaunchGrid(matrices, 1, 1));
  CHECK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
  printf("%g %g\n", results[0], results[1]);
}
