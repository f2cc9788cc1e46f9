// Distances from squares that rounding makes negative.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void distance(float *distances, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float square = 5.0f - static_cast<float>(i % 7);
#ifdef CURED
    square = fmaxf(square, 0.0f);
#endif
    distances[i] = sqrtf(square); // PLANTED
}

int main() {
    const int n = 1 << 17;
    float *distances, last[32];
    cudaMalloc(&distances, n * sizeof(float));
    distance<<<n / 256, 256>>>(distances, n);
    cudaMemcpy(last, distances, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(distances);
}
