// Products that fit in float and not in half.
#include <cstdio>
#include <cuda_fp16.h>

__global__ void narrow(__half *narrowed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef CURED
    float value = (i % 1000) * 60.0f;
#else
    float value = (i % 1000) * 70.0f;
#endif
    narrowed[i] = __float2half(value); // PLANTED
}

int main() {
    const int n = 1 << 17;
    __half *narrowed, last[32];
    cudaMalloc(&narrowed, n * sizeof(__half));
    narrow<<<n / 256, 256>>>(narrowed, n);
    cudaMemcpy(last, narrowed, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", __half2float(last[5]));
    cudaFree(narrowed);
}
