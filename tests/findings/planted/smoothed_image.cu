// Smooths an image in steps. Planted: a kernel copies the result of each step back. Fixed: the pointers are exchanged.
#include <cstdio>
#include <utility>
#include <vector>

__global__ void smooth(float *next, const float *image, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = image[i > 0 ? i - 1 : 0], right = image[i < n - 1 ? i + 1 : n - 1];
    next[i] = 0.25f * (left + right) + 0.5f * image[i];
}

__global__ void update(float *image, const float *next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) image[i] = next[i]; // PLANTED
}

int main() {
    const int n = 1 << 18, steps = 10;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i % 100;
    float *image, *next;
    cudaMalloc(&image, n * sizeof(float));
    cudaMalloc(&next, n * sizeof(float));
    cudaMemcpy(image, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < steps; ++step) {
        smooth<<<n / 256, 256>>>(next, image, n);
#ifdef CURED
        std::swap(image, next);
#else
        update<<<n / 256, 256>>>(image, next, n);
#endif
    }
    cudaMemcpy(host.data(), image, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[7]);
    cudaFree(image);
    cudaFree(next);
}
