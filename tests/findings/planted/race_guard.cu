// Largest value per group. A plain load decides whether the atomic operation is worth while.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void largest(const int *values, int *best) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = values[i], group = i % 1024;
#ifdef CURED
    if (value > *(volatile int *)&best[group]) atomicMax(&best[group], value);
#else
    if (value > best[group]) // PLANTED
        atomicMax(&best[group], value); // PLANTED
#endif
}

__global__ void fill(int *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = i * 37 % 8191 + 1;
}

int main() {
    const int n = 1 << 14;
    int *values, *best, first;
    cudaMalloc(&values, n * sizeof(int));
    cudaMalloc(&best, 1024 * sizeof(int));
    cudaMemset(best, 0, 1024 * sizeof(int));
    fill<<<n / 256, 256>>>(values);
    largest<<<n / 256, 256>>>(values, best);
    cudaMemcpy(&first, best, sizeof first, cudaMemcpyDeviceToHost);
    std::printf("%d\n", first);
    cudaFree(values);
    cudaFree(best);
}
