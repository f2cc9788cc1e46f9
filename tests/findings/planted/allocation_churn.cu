// Iterates with a temporary. Planted: it is allocated and freed in every iteration. Fixed: once.
#include <cstdio>
#include <vector>

__global__ void shift(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] + 1.0f;
}

int main() {
    const int n = 1 << 16, steps = 40;
    std::vector<float> host(n, 1.0f);
    float *state, *next;
    cudaMalloc(&state, n * sizeof(float));
    cudaMemcpy(state, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    cudaMalloc(&next, n * sizeof(float));
#endif
    for (int step = 0; step < steps; ++step) {
#ifndef CURED
        cudaMalloc(&next, n * sizeof(float)); // PLANTED
#endif
        shift<<<n / 256, 256>>>(state, next, n);
        shift<<<n / 256, 256>>>(next, state, n);
#ifndef CURED
        cudaFree(next);
#endif
    }
    cudaMemcpy(host.data(), state, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(state);
#ifdef CURED
    cudaFree(next);
#endif
}
