// Blocks take parts of the input from a queue. The ticket orders the parts, not the updates of the shared totals.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int next_part;

__global__ void process(const int *values, int *totals, int parts) {
    for (;;) {
        int part = 0;
        if (threadIdx.x == 0) part = atomicAdd(&next_part, 1);
        part = __shfl_sync(~0u, part, 0);
        if (part >= parts) break;
        int first = values[part * 32 + threadIdx.x];
#ifdef CURED
        if (threadIdx.x == 0) atomicAdd(&totals[part % 8], first);
#else
        if (threadIdx.x == 0) totals[part % 8] += first; // PLANTED
#endif
    }
}

int main() {
    const int parts = 1 << 11, n = parts * 32;
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
