// Loads of one object's parts that become one in front of their loop: the position is that of a use, not of the code around it.
#include "cuda.h"

__global__ void pulled(float *out, const float4 *p, int n) {
  __shared__ float tile[32];
  float x = 0, y = 0;
  tile[TX] = out[TX];
  __nvvm_bar_sync(0);
  for (int j = 0; j < 32; j++) {
    x += tile[j] - p[TX].x;
    y += tile[j] - p[TX].y;
  }
  out[TX] = x + y;
}

// CHECK: site {{[0-9]+}} _Z6pulledPfPK6float4i Load Global 8 bytes align {{[0-9]+}} Default approximate at {{.*}}merged_loads.cu:{{10|11}}:
