// Sums per column over several steps. The memory of the sums is never set.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void accumulate(const float *values, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] += values[i] * 0.5f; // PLANTED
}

__global__ void fill(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = i % 7;
}

int main() {
    const int n = 1 << 17;
    float *values, *sums, last[32];
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    fill<<<n / 256, 256>>>(values, n);
#ifdef CURED
    cudaMemset(sums, 0, n * sizeof(float));
#endif
    for (int step = 0; step < 3; ++step) accumulate<<<n / 256, 256>>>(values, sums, n);
    cudaMemcpy(last, sums, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(values);
    cudaFree(sums);
}
