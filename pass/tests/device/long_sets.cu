// PTX: no
// Loops that are made of long memory intrinsics have the place of these.
#include "cuda.h"

__global__ void cleared(double *out, int n) {
  double sums[64] = {0.0};
  for (int i = 0; i < n; i++)
    sums[out[i] > 0 ? i & 63 : 0] += out[i];
  out[0] = sums[n & 63];
}

// CHECK: site {{[0-9]+}} _Z7clearedPdi Store Local 1 bytes align 1 Default at {{.*}} long_sets.cu:6:10
