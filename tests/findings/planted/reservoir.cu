// Sums a reservoir's cells in a tree. Planted: the stride doubles, so that active threads spread over all warps and banks. Fixed:
// the stride halves.
#include <cstdio>
#include <vector>

__global__ void volume(const float *__restrict__ cells, float *__restrict__ sums) {
    __shared__ float part[512];
    part[threadIdx.x] = cells[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
#ifdef CURED
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
        __syncthreads();
    }
#else
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int at = 2 * stride * threadIdx.x;
        if (at < blockDim.x) part[at] += part[at + stride]; // PLANTED
        __syncthreads();
    }
#endif
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

int main() {
    const int n = 1 << 20;
    std::vector<float> filled(n, 1.5f), result(n / 512);
    float *cells, *sums;
    cudaMalloc(&cells, n * sizeof(float));
    cudaMalloc(&sums, n / 512 * sizeof(float));
    cudaMemcpy(cells, filled.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    volume<<<n / 512, 512>>>(cells, sums);
    cudaMemcpy(result.data(), sums, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", result[0]);
    cudaFree(cells);
    cudaFree(sums);
}
