// Shares of exponentials, without the largest value taken off first: infinity divided by infinity.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *scores, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scores[i] = i == 4711 ? 100.0f : i % 3;
}

__global__ void exponentials(const float *scores, float *powers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef CURED
    if (i < n) powers[i] = expf(scores[i] - 100.0f);
#else
    if (i < n) powers[i] = expf(scores[i]);
#endif
}

__global__ void shares(const float *powers, float *weights, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) weights[i] = powers[i] / (powers[i] + 1.0f); // PLANTED
}

int main() {
    const int n = 1 << 17;
    float *scores, *powers, *weights, last[32];
    cudaMalloc(&scores, n * sizeof(float));
    cudaMalloc(&powers, n * sizeof(float));
    cudaMalloc(&weights, n * sizeof(float));
    fill<<<n / 256, 256>>>(scores, n);
    exponentials<<<n / 256, 256>>>(scores, powers, n);
    shares<<<n / 256, 256>>>(powers, weights, n);
    cudaMemcpy(last, weights, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(scores);
    cudaFree(powers);
    cudaFree(weights);
}
