// LEVEL: 0
// PTX: no
// Without optimisation too every access has a hook at its own line.
#include "cuda.h"

__global__ void slow(float *out, const float *in) {
  out[TX] = in[TX] + 1;
}

// CHECK: site {{[0-9]+}} _Z4slowPfPKf Load {{Global|Generic}} 4 bytes align 4 {{.*}} at slow(float*, float const*) plain_level.cu:7:13
// CHECK: site {{[0-9]+}} _Z4slowPfPKf Store {{Global|Generic}} 4 bytes align 4 {{.*}} at slow(float*, float const*) plain_level.cu:7:11
