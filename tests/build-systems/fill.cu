#include "check.h"
#include "vectors.h"

// Another file has a kernel, a device function and a device variable of the same names: all are local to their files.
static __device__ int offset = 0;

static __device__ int value(int index) { return index + offset; }

static __global__ void step(int *values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count)
    values[index] = value(index);
}

void fill(int *values, int count) {
  step<<<(count + 127) / 128, 128>>>(values, count);
  check(cudaGetLastError());
}
