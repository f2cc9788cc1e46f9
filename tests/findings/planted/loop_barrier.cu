// The greatest value of each block, by halving; the barrier of the loop is missing.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int threads = 128;

__global__ void greatest(const int *values, int *found) {
    __shared__ int best[threads];
    int lane = threadIdx.x;
    best[lane] = values[blockIdx.x * threads + lane];
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (lane < half) best[lane] = max(best[lane], best[lane + half]); // PLANTED
#ifdef CURED
        __syncthreads();
#endif
    }
    if (lane == 0) found[blockIdx.x] = best[0];
}

int main() {
    const int blocks = 64;
    std::vector<int> host(blocks * threads);
    for (int i = 0; i < blocks * threads; ++i) host[i] = (i * 7919) % 100003;
    int *values, *found;
    cudaMalloc(&values, host.size() * sizeof(int));
    cudaMalloc(&found, blocks * sizeof(int));
    cudaMemcpy(values, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
    greatest<<<blocks, threads>>>(values, found);
    cudaMemcpy(host.data(), found, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[0]);
    cudaFree(values);
    cudaFree(found);
}
