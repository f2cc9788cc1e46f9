// A block mirrors rows of 64 elements through shared memory; of the 160 elements the last row is half a row, so that one of the two
// warps makes a turn less.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int width = 64;

__global__ void mirror(int *values, int n) {
    __shared__ int row[width];
#ifdef CURED
    for (int start = 0; start < n; start += width) {
        int i = start + threadIdx.x;
        if (i < n) row[threadIdx.x] = values[i];
        __syncthreads();
        if (i < n) values[i] = row[width - 1 - threadIdx.x];
        __syncthreads();
    }
#else
    for (int i = threadIdx.x; i < n; i += width) {
        row[threadIdx.x] = values[i]; // PLANTED
        __syncthreads();
        values[i] = row[width - 1 - threadIdx.x]; // PLANTED
    }
#endif
}

int main() {
    const int n = 160;
    std::vector<int> host(n);
    for (int i = 0; i < n; ++i) host[i] = i;
    int *values;
    cudaMalloc(&values, n * sizeof(int));
    cudaMemcpy(values, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    mirror<<<1, width>>>(values, n);
    cudaMemcpy(host.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[0]);
    cudaFree(values);
}
