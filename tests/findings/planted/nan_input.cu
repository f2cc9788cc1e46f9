// Data that comes from the host has a NaN, which every kernel hands on.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(const float *samples, float *scaled, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scaled[i] = samples[i] * 0.5f; // PLANTED
}

int main() {
    const int n = 1 << 12;
    static float host[n];
    float *samples, *scaled;
    for (int i = 0; i < n; ++i) host[i] = i % 9;
#ifndef CURED
    host[1234] = std::nanf("");
#endif
    cudaMalloc(&samples, n * sizeof(float));
    cudaMalloc(&scaled, n * sizeof(float));
    cudaMemcpy(samples, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<n / 64, 64>>>(samples, scaled, n);
    cudaMemcpy(host, scaled, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(samples);
    cudaFree(scaled);
}
