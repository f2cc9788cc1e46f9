// A loop over a local array is unrolled completely, beyond LLVM's threshold, where its indices are all that keeps the array in memory.
#include "cuda.h"

struct Line {
  unsigned last, cells[16];
  __device__ void update(const unsigned *costs, unsigned one, unsigned two) {
    unsigned late = 0, least = ~0u;
    for (unsigned k = 1; k + 1 < 16; ++k) {
      unsigned out = cells[k] - last < two ? cells[k] - last : two;
      unsigned left = cells[k - 1] - last + one, right = cells[k + 1] - last + one;
      out = out < left ? out : left;
      out = out < right ? out : right;
      cells[k - 1] = late;
      late = out + costs[k];
      least = least < late ? least : late;
    }
    cells[15] = late;
    last = least;
  }
};

__global__ void unrolled(unsigned *out, const unsigned *in, int n, unsigned one, unsigned two) {
  Line line;
  line.last = 0;
  for (int k = 0; k < 16; k++) line.cells[k] = in[k];
  for (int row = 0; row < n; row++) {
    unsigned costs[16];
    for (int k = 0; k < 16; k++) costs[k] = in[row * 16 + k] * in[k];
    line.update(costs, one, two);
    out[row * 32 + TX] = line.last;
  }
  for (int k = 0; k < 16; k++) out[k] = line.cells[k];
}

// What the user writes counts, and an index out of memory stays one.
__global__ void kept(float *out, const float *in, const int *index) {
  float held[16];
  for (int k = 0; k < 16; k++) held[k] = in[k * 32 + TX];
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 16; k++) sum = sum * held[k] + 1;
  out[TX] = sum;
  out[TX + 32] = held[index[TX] & 15];
}

// CHECK-NOT: _Z8unrolledPjPKjijj {{Load|Store}} Local
// CHECK: _Z4keptPfPKfPKi Load Local
// CHECK-NOT: _Z8unrolledPjPKjijj {{Load|Store}} Local
