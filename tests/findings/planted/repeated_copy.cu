// Applies a filter step by step. Planted: the coefficients are copied again in every step, though they never change. Fixed:
// once before the loop.
#include <cstdio>
#include <vector>

__global__ void apply(float *signal, const float *coefficients, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) signal[i] = signal[i] * 0.5f + coefficients[i];
}

int main() {
    const int n = 1 << 18, steps = 20;
    std::vector<float> host(n, 1.0f), weights(n, 0.25f);
    float *signal, *coefficients;
    cudaMalloc(&signal, n * sizeof(float));
    cudaMalloc(&coefficients, n * sizeof(float));
    cudaMemcpy(signal, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    cudaMemcpy(coefficients, weights.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#endif
    for (int step = 0; step < steps; ++step) {
#ifndef CURED
        cudaMemcpy(coefficients, weights.data(), n * sizeof(float), cudaMemcpyHostToDevice); // PLANTED
#endif
        apply<<<n / 256, 256>>>(signal, coefficients, n);
    }
    cudaMemcpy(host.data(), signal, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[2]);
    cudaFree(signal);
    cudaFree(coefficients);
}
