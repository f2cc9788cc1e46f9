// Relaxes distances. Nearly all candidates are worse than the distance that is there, which is stored again.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void start(unsigned *distance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = i * 2654435761u >> 4;
}

__global__ void relax(unsigned *distance, unsigned step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned candidate = i % 1024 < 32 ? step : 0xffffffffu;
#ifdef CURED
    if (candidate < distance[i]) distance[i] = candidate;
#else
    distance[i] = min(distance[i], candidate); // PLANTED
#endif
}

int main() {
    const int n = 1 << 18;
    unsigned *distance, *host = new unsigned[n];
    cudaMalloc(&distance, n * sizeof(unsigned));
    start<<<n / 256, 256>>>(distance, n);
    for (unsigned step = 20; step > 16; --step) relax<<<n / 256, 256>>>(distance, step, n);
    cudaMemcpy(host, distance, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    std::printf("%u\n", host[33]);
    cudaFree(distance);
    delete[] host;
}
