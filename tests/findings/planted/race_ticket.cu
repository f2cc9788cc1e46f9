// Blocks take parts of the input from a queue. The ticket orders the parts, not the updates of the shared totals.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int size = 4096;

__device__ int next_part;

__global__ void process(const int *values, int *totals, int parts) {
    for (;;) {
        int part = 0;
        if (threadIdx.x == 0) part = atomicAdd(&next_part, 1);
        part = __shfl_sync(~0u, part, 0);
        if (part >= parts) break;
        int largest = 0;
        for (int i = threadIdx.x; i < size; i += 32) largest = max(largest, values[part * size + i]);
#ifdef CURED
        if (threadIdx.x == 0) atomicAdd(&totals[part % 8], largest);
#else
        if (threadIdx.x == 0) totals[part % 8] += largest; // PLANTED
#endif
        __syncwarp();
    }
}

int main() {
    const int parts = 256, n = parts * size;
    int *values, *totals, first;
    cudaMalloc(&values, n * sizeof(int));
    cudaMalloc(&totals, 8 * sizeof(int));
    cudaMemset(values, 0, n * sizeof(int));
    cudaMemset(totals, 0, 8 * sizeof(int));
    process<<<64, 32>>>(values, totals, parts);
    cudaMemcpy(&first, totals, sizeof first, cudaMemcpyDeviceToHost);
    std::printf("%d\n", first);
    cudaFree(values);
    cudaFree(totals);
}
