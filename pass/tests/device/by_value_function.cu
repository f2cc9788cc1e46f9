// What a device function takes by value is parameter space as well. (Its caller's copy is left to the back end.)
// PTX: no
#include "cuda.h"

struct Range {
  int from, to, step;
};

__device__ __noinline__ int sum(Range range, const int *data) {
  int total = 0;
  for (int i = range.from; i < range.to; i += range.step)
    total += data[i];
  return total;
}

__global__ void sums(int *out, const int *data) { out[TX] = sum(Range{0, (int)TX, 2}, data); }

// CHECK-NOT: site {{[0-9]+}} _Z3sum5RangePKi Load Local
// CHECK: site {{[0-9]+}} _Z3sum5RangePKi Load Generic 4 bytes align 4 Default at sum(Range, int const*) by_value_function.cu:12:14
