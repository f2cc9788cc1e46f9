// memcpy and memset become loads and stores: unrolled when small, loops when large or of unknown length.
#include "cuda.h"

__global__ void small(char *out, const char *in) { __builtin_memcpy(out, in, 6); }
__global__ void aligned(float4 *out, const float4 *in) { __builtin_memcpy(out + 1, in, 40); }
__global__ void cleared(double *out) { __builtin_memset(out + TX, 0, 24); }
__global__ void variable(char *out, const char *in, int n) { __builtin_memcpy(out, in, n); }

// CHECK-NOT: call void @llvm.mem
// CHECK: site {{[0-9]+}} _Z5smallPcPKc Load Global 1 bytes align 1 Default at small(char*, char const*) copies.cu:4:
// CHECK: site {{[0-9]+}} _Z7cleared{{.*}} Store Global 8 bytes align 8
// CHECK: site {{[0-9]+}} _Z8variablePcPKci Load Global 1 bytes align 1 Default at variable(char*, char const*, int) copies.cu:7:
// CHECK-NEXT: site {{[0-9]+}} _Z8variablePcPKci Store Global 1 bytes align 1 Default at variable(char*, char const*, int) copies.cu:7:
