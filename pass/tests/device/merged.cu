// Two accesses that the optimiser makes one: the place is one of the two, and marked.
#include "cuda.h"

__global__ void merged(float *out, const float *in, int n) {
  if (n > TX)
    out[TX] = in[TX] * 3;
  else
    out[TX] = in[TX] * n;
}

// CHECK: site 0 _Z6mergedPfPKfi Load Global 4 bytes align 4 Default approximate at merged(float*, float const*, int) merged.cu:{{[68]}}:
// CHECK-NEXT: site 1 _Z6mergedPfPKfi Store Global 4 bytes align 4 Default approximate at merged(float*, float const*, int) merged.cu:{{[68]}}:
// CHECK-NOT: site 2
