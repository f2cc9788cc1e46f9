// Stores that leave their loop together: the position is that of what makes their values, not of neighbouring code.
#include "cuda.h"

__global__ void sunk(float *out, int n) {
  __shared__ float work[128];
  float *mine = work + TX * 4;
  for (int i = 0; i < 4; i++)
    mine[i] = out[TX * 4 + i];
  __nvvm_bar_sync(0);
  for (int round = 0; round < n; round++)
    for (int k = 0; k < 4; k += 2) {
      float a = mine[k], b = mine[k + 1];
      mine[k] = a + b * 0.5f;
      mine[k + 1] = a - b * 0.5f;
    }
  __nvvm_bar_sync(0);
  out[TX] = work[TX];
}

// CHECK-NOT: Store Shared {{.*}} sunk_stores.cu:16:
// CHECK: site {{[0-9]+}} _Z4sunkPfi Store Shared {{.*}} sunk_stores.cu:{{1[34]}}:
// CHECK-NOT: Store Shared {{.*}} sunk_stores.cu:16:
