// Weighs elements by their place. Planted: each thread reads another entry of constant memory. Fixed: the weights lie in
// global memory, where neighbours are one request.
#include <cstdio>
#include <vector>

#ifndef CURED
__constant__ float weights[1024];
#endif

__global__ void weigh(float *data, const float *table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = data[i];
    for (int tap = 0; tap < 16; ++tap) {
#ifdef CURED
        value += table[(i + tap * 32) % 1024];
#else
        value += weights[(i + tap * 32) % 1024]; // PLANTED
#endif
    }
    data[i] = value;
}

int main() {
    const int n = 1 << 17;
    std::vector<float> host(n, 1.0f), factors(1024, 0.5f);
    float *data, *table = nullptr;
    cudaMalloc(&data, n * sizeof(float));
    cudaMemcpy(data, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    cudaMalloc(&table, 1024 * sizeof(float));
    cudaMemcpy(table, factors.data(), 1024 * sizeof(float), cudaMemcpyHostToDevice);
#else
    cudaMemcpyToSymbol(weights, factors.data(), 1024 * sizeof(float));
#endif
    weigh<<<n / 256, 256>>>(data, table, n);
    cudaMemcpy(host.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(data);
#ifdef CURED
    cudaFree(table);
#endif
}
