// A vector is filled and doubled by a program that checks no errors. Planted: blocks of 2048 threads, which no GPU runs, so that the
// vector is never filled. Fixed: blocks of 256.
#include <cstdio>

__global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
}

__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

int main() {
    const int n = 1 << 16;
#ifdef CURED
    const int threads = 256;
#else
    const int threads = 2048;
#endif
    float *x, first = 0;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    fill<<<n / threads, threads>>>(x, n); // PLANTED
    twice<<<n / 256, 256>>>(x, n);
    cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
    cudaFree(x);
    std::printf("%g\n", first);
}
