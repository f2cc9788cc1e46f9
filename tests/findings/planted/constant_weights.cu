// Weighs values with an array whose elements are all the same.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#ifdef CURED
__global__ void weigh(const float *values, float weight, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] = values[i] * weight + sums[i];
}
#else
__global__ void weigh(const float *values, const float *weights, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] = values[i] * weights[i] + sums[i]; // PLANTED
}
#endif

int main() {
    const int n = 1 << 18;
    std::vector<float> host(n), start(n), ones(n, 0.7f);
    for (int i = 0; i < n; ++i) host[i] = 0.1f * i, start[i] = 1.0f / (i + 1);
    float *values, *sums;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(sums, start.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    weigh<<<n / 256, 256>>>(values, 0.7f, sums, n);
#else
    float *weights;
    cudaMalloc(&weights, n * sizeof(float));
    cudaMemcpy(weights, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    weigh<<<n / 256, 256>>>(values, weights, sums, n);
    cudaFree(weights);
#endif
    cudaMemcpy(start.data(), sums, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", start[5]);
    cudaFree(values);
    cudaFree(sums);
}
