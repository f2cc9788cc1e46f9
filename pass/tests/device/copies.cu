// memcpy and memset become loads and stores: unrolled when small, loops when large or of unknown length.
#include "cuda.h"

__global__ void small(char *out, const char *in) { __builtin_memcpy(out, in, 6); }
__global__ void aligned(float4 *out, const float4 *in) { __builtin_memcpy(out + 1, in, 40); }
__global__ void cleared(double *out) { __builtin_memset(out + TX, 0, 24); }
__global__ void variable(char *out, const char *in, int n) { __builtin_memcpy(out, in, n); }
struct Two { float4 first, second; };
__global__ void whole(float4 *out, const float4 *in) { out[TX] = in[TX]; }
__global__ void held(float4 *out, const float4 *in) { float4 one = in[TX]; __nvvm_bar_sync(0); out[TX] = one; }
__global__ void two(Two *out, const Two *in) { out[TX] = in[TX]; }
__global__ void zero(Two *out) { out[TX] = Two{}; }

// CHECK-NOT: call void @llvm.mem
// CHECK: site {{[0-9]+}} _Z5smallPcPKc Load Global 1 bytes align 1 Default at small(char*, char const*) copies.cu:4:
// CHECK: site {{[0-9]+}} _Z7cleared{{.*}} Store Global 8 bytes align 8
// CHECK: site {{[0-9]+}} _Z8variablePcPKci Load Global 1 bytes align 1 Default at variable(char*, char const*, int) copies.cu:7:
// CHECK-NEXT: site {{[0-9]+}} _Z8variablePcPKci Store Global 1 bytes align 1 Default at variable(char*, char const*, int) copies.cu:7:
// CHECK: site {{[0-9]+}} _Z5wholeP6float4PKS_ Load Global 16 bytes align 16 Default
// CHECK-NEXT: site {{[0-9]+}} _Z5wholeP6float4PKS_ Store Global 16 bytes align 16 Default
// CHECK-NEXT: site {{[0-9]+}} _Z4heldP6float4PKS_ Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z4heldP6float4PKS_ Store Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z3twoP3TwoPKS_ Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z3twoP3TwoPKS_ Store Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z3twoP3TwoPKS_ Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z3twoP3TwoPKS_ Store Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z4zeroP3Two Store Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z4zeroP3Two Store Global 16 bytes align 16
