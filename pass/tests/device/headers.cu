// Accesses inside header functions carry the chain that leads to the user's line.
#include "vectors.h"

__global__ void scaled(float4 *out, const float4 *in, const float *factor) {
  out[TX] = in[TX] * __ldg(factor + BX);
}

// CHECK: site [[#]] _Z6scaledP6float4PKS_PKf Load Global 4 bytes align 4 NonCoherent at __ldg(float const*) vectors.h:4:{{[0-9]+}} (system) < scaled(float4*, float4 const*, float const*) headers.cu:5:22
// CHECK: site [[#]] _Z6scaledP6float4PKS_PKf Load Global 16 bytes align 16 Default at operator*(float4 const&, float) vectors.h:6:{{[0-9]+}} (system) < scaled(float4*, float4 const*, float const*) headers.cu:5:20
// CHECK: site [[#]] _Z6scaledP6float4PKS_PKf Store Global 16 bytes align 16 Default at
