// Totals over all blocks with atomic operations that are atomic within a block only.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void totals(const int *values, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef CURED
    atomicAdd(&sums[i % 1024], values[i]);
#else
    atomicAdd_block(&sums[i % 1024], values[i]); // PLANTED
#endif
}

int main() {
    const int n = 1 << 14;
    int *values, *sums, last;
    cudaMalloc(&values, n * sizeof(int));
    cudaMalloc(&sums, 1024 * sizeof(int));
    cudaMemset(values, 0, n * sizeof(int));
    cudaMemset(sums, 0, 1024 * sizeof(int));
    totals<<<n / 256, 256>>>(values, sums);
    cudaMemcpy(&last, sums + 9, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%d\n", last);
    cudaFree(values);
    cudaFree(sums);
}
