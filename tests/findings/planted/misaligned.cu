// Copies the inside of a padded array. Planted: it begins one element after the padding's start. Fixed: the padding is
// as wide as a line.
#include <cstdio>
#include <vector>

#ifdef CURED
#define PAD 32
#else
#define PAD 1
#endif

__global__ void unpad(const float *padded, float *plain, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) plain[i] = padded[i + PAD]; // PLANTED
}

int main() {
    const int n = 1 << 20;
    std::vector<float> host(n + PAD, 2.0f);
    float *padded, *plain;
    cudaMalloc(&padded, (n + PAD) * sizeof(float));
    cudaMalloc(&plain, n * sizeof(float));
    cudaMemcpy(padded, host.data(), (n + PAD) * sizeof(float), cudaMemcpyHostToDevice);
    unpad<<<n / 256, 256>>>(padded, plain, n);
    cudaMemcpy(host.data(), plain, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[9]);
    cudaFree(padded);
    cudaFree(plain);
}
