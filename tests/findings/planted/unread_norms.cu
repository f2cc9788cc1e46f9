// Scales values, and stores what it has scaled by, which nothing reads.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void scale(const float *values, float *scaled, float *norms, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float norm = 1.0f / (1.0f + values[i] * values[i]);
#ifndef CURED
    norms[i] = norm; // PLANTED
#endif
    scaled[i] = values[i] * norm;
}

int main() {
    const int n = 1 << 18;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = 0.1f * i;
    float *values, *scaled, *norms = nullptr;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&scaled, n * sizeof(float));
#ifndef CURED
    cudaMalloc(&norms, n * sizeof(float));
#endif
    cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<n / 256, 256>>>(values, scaled, norms, n);
    cudaMemcpy(host.data(), scaled, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(values);
    cudaFree(scaled);
    cudaFree(norms);
}
