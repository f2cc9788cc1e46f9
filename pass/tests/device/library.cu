// libdevice has no debug information: what is inlined from it stands at the user's line, and is marked.
#include "cuda.h"

extern "C" __device__ __attribute__((nodebug)) inline float __nv_lookup(const float *table, float x) {
  return table[(int)x] * 2;
}

__global__ void mapped(float *out, const float *table) {
  out[TX] = __nv_lookup(table, out[TX]);
}

// CHECK: site 0 _Z6mappedPfPKf Load Global 4 bytes align 4 Default at mapped(float*, float const*) library.cu:9:32
// CHECK: site 1 _Z6mappedPfPKf Load Global 4 bytes align 4 Default library at mapped(float*, float const*) library.cu:9:13
// CHECK: site 2 _Z6mappedPfPKf Store Global 4 bytes align 4 Default at mapped(float*, float const*) library.cu:9:11
