// Each warp loads `factors[row]` in every one of its 16 iterations, and the store in between keeps the compiler from moving
// the load out of the loop.
#include <cstdio>

__global__ void scale(float *values, const float *factors, int count) {
  int row = blockIdx.x;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    values[row * count + i] *= factors[row];
}

int main() {
  const int rows = 8, count = 16 * 64;
  float *values, *factors;
  cudaMalloc(&values, rows * count * sizeof(float));
  cudaMalloc(&factors, rows * sizeof(float));
  cudaMemset(values, 0, rows * count * sizeof(float));
  cudaMemset(factors, 0, rows * sizeof(float));
  scale<<<rows, 64>>>(values, factors, count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
