// Running sums of each row, in place in shared memory. Threads replace elements that others still read.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int width = 256;

__global__ void running_sums(const int *values, int *sums) {
    __shared__ int row[width];
    int t = threadIdx.x;
    row[t] = values[blockIdx.x * width + t];
    __syncthreads();
    for (int distance = 1; distance < width; distance *= 2) {
#ifdef CURED
        int other = t >= distance ? row[t - distance] : 0;
        __syncthreads();
        row[t] += other;
#else
        if (t >= distance) row[t] += row[t - distance]; // PLANTED
#endif
        __syncthreads();
    }
    sums[blockIdx.x * width + t] = row[t];
}

int main() {
    const int n = 1 << 16;
    int *values, *sums, last;
    cudaMalloc(&values, n * sizeof(int));
    cudaMalloc(&sums, n * sizeof(int));
    cudaMemset(values, 0, n * sizeof(int));
    running_sums<<<n / width, width>>>(values, sums);
    cudaMemcpy(&last, sums + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%d\n", last);
    cudaFree(values);
    cudaFree(sums);
}
