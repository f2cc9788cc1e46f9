// What the tests of `warpline.cluster` profile: two kernels, with the number of elements in the first argument.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scale(const float *from, float *to, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = 2.0f * from[i * stride % n];
    }
}

__global__ void add(const float *one, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] += one[i];
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 1024;
    float *from, *to;
    cudaMalloc(&from, n * sizeof(float));
    cudaMalloc(&to, n * sizeof(float));
    cudaMemset(from, 0, n * sizeof(float));
    scale<<<(n + 127) / 128, 128>>>(from, to, n, 7);
    add<<<(n + 127) / 128, 128>>>(from, to, n);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
