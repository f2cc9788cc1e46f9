// Counts values above a threshold. Planted: every thread adds to one counter. Fixed: a warp counts by vote, a block adds once.
#include <cstdio>
#include <vector>

__global__ void count_above(const float *values, unsigned *count, float threshold, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool above = i < n && values[i] > threshold;
#ifdef CURED
    __shared__ unsigned of_warp[8];
    unsigned votes = __popc(__ballot_sync(0xffffffffu, above));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = votes;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int warp = 0; warp < 8; ++warp) sum += of_warp[warp];
        atomicAdd(count, sum);
    }
#else
    if (above) atomicAdd(count, 1u); // PLANTED
#endif
}

int main() {
    const int n = 1 << 20;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = float(i % 10);
    float *values;
    unsigned *count, result = 0;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&count, sizeof(unsigned));
    cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(count, 0, sizeof(unsigned));
    count_above<<<n / 256, 256>>>(values, count, 2.5f, n);
    cudaMemcpy(&result, count, sizeof(unsigned), cudaMemcpyDeviceToHost);
    std::printf("%u\n", result);
    cudaFree(values);
    cudaFree(count);
}
