// Histogram per warp: each warp has its own bins, so only lanes of one warp meet. Updates of equal bins are lost.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int bins = 64;

__global__ void histograms(const unsigned *values, int *counts, int rounds) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int *own = counts + warp * bins;
    for (int round = 0; round < rounds; ++round) {
        unsigned value = values[(warp * rounds + round) * 32 + lane];
#ifdef CURED
        atomicAdd(&own[value % bins], 1);
#else
        own[value % bins] += 1; // PLANTED
#endif
        __syncwarp();
    }
}

__global__ void fill(unsigned *values) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = i * 7 % 19;
}

int main() {
    const int warps = 256, rounds = 16, n = warps * rounds * 32;
    unsigned *values;
    int *counts, first;
    cudaMalloc(&values, n * sizeof(unsigned));
    cudaMalloc(&counts, warps * bins * sizeof(int));
    cudaMemset(counts, 0, warps * bins * sizeof(int));
    fill<<<n / 256, 256>>>(values);
    histograms<<<warps / 8, 256>>>(values, counts, rounds);
    cudaMemcpy(&first, counts, sizeof first, cudaMemcpyDeviceToHost);
    std::printf("%d\n", first);
    cudaFree(values);
    cudaFree(counts);
}
