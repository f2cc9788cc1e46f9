// Doubles an array. Planted: an unused work space. Fixed: it is gone.
#include <cstdio>
#include <vector>

__global__ void twice(float *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}

int main() {
    const int n = 1 << 18;
    std::vector<float> host(n, 1.0f);
    float *data;
    cudaMalloc(&data, n * sizeof(float));
#ifndef CURED
    float *workspace;
    cudaMalloc(&workspace, 64 * n * sizeof(float)); // PLANTED
#endif
    cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<n / 256, 256>>>(data, n);
    cudaMemcpy(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(data);
#ifndef CURED
    cudaFree(workspace);
#endif
}
