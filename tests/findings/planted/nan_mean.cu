// Means of groups. Some groups have no members, which is not tested.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *sums, float *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    counts[i] = i % 1000 == 7 ? 0 : i % 5 + 1;
    sums[i] = counts[i] * 2;
}

__global__ void divide(const float *sums, const float *counts, float *means, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef CURED
    float mean = sums[i] / fmaxf(counts[i], 1.0f);
#else
    float mean = sums[i] / counts[i]; // PLANTED
#endif
    means[i] = mean + 1.0f;
}

int main() {
    const int n = 1 << 17;
    float *sums, *counts, *means, last[32];
    cudaMalloc(&sums, n * sizeof(float));
    cudaMalloc(&counts, n * sizeof(float));
    cudaMalloc(&means, n * sizeof(float));
    fill<<<n / 256, 256>>>(sums, counts, n);
    divide<<<n / 256, 256>>>(sums, counts, means, n);
    cudaMemcpy(last, means, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(sums);
    cudaFree(counts);
    cudaFree(means);
}
