#include "check.h"
#include "vectors.h"

#ifdef SEPARATE
// Defined in combine.cu: needs relocatable device code.
__device__ long long combine(long long a, long long b);
extern __device__ int combined;
#else
__device__ int combined;
static __device__ long long combine(long long a, long long b) {
  atomicAdd(&combined, 1);
  return a + b;
}
#endif

__global__ void partial_sums(const int *values, int count, long long *sums) {
  __shared__ long long shared[128];
  long long mine = 0;
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < count; index += gridDim.x * blockDim.x)
    mine += values[index];
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = shared[0];
}

long long sum(const int *values, int count) {
  const int blocks = 4, threads = 128;
  long long *device_sums, sums[blocks], total = 0;
  check(cudaMalloc(&device_sums, sizeof sums));
  partial_sums<<<blocks, threads>>>(values, count, device_sums);
  check(cudaGetLastError());
  check(cudaMemcpy(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost));
  check(cudaFree(device_sums));
  for (long long part : sums)
    total += part;
  int calls = 0;
  check(cudaMemcpyFromSymbol(&calls, combined, sizeof calls));
  if (calls != blocks * (threads - 1)) {
    std::fprintf(stderr, "combine was called %d times, expected %d\n", calls, blocks * (threads - 1));
    std::exit(1);
  }
  return total;
}
