// Frames of a film, each with a buffer of its own that nothing frees.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int pixels = 1 << 16, frames = 12;

__global__ void brighten(const float *frame, float *result, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) result[i] = frame[i] + by;
}

__global__ void blend(float *film, const float *frame, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) film[i] = 0.5f * (film[i] + frame[i]);
}

int main() {
    float *film;
    cudaMalloc(&film, pixels * sizeof(float));
    cudaMemset(film, 0, pixels * sizeof(float));
#ifdef CURED
    float *brighter;
    cudaMalloc(&brighter, pixels * sizeof(float));
#endif
    for (int frame = 0; frame < frames; ++frame) {
#ifndef CURED
        float *brighter;
        cudaMalloc(&brighter, pixels * sizeof(float)); // PLANTED
#endif
        brighten<<<pixels / 256, 256>>>(film, brighter, 0.1f * frame, pixels);
        blend<<<pixels / 256, 256>>>(film, brighter, pixels);
    }
    float first;
    cudaMemcpy(&first, film, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%.3f\n", first);
#ifdef CURED
    cudaFree(brighter);
#endif
    cudaFree(film);
}
