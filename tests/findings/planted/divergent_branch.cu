// Two formulas for two kinds of element. Planted: even and odd threads take different sides of a branch. Fixed: the kinds
// alternate by warp.
#include <cstdio>
#include <vector>

__device__ float even(float x) {
    for (int i = 0; i < 40; ++i) x = x * 0.99f + 0.5f / (1.0f + x * x);
    return x;
}

__device__ float odd(float x) {
    for (int i = 0; i < 40; ++i) x = x * 1.01f - 0.25f / (2.0f + x * x);
    return x;
}

__global__ void evolve(float *state, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = state[i];
#ifdef CURED
    if (i / 32 % 2 == 0) {
#else
    if (i % 2 == 0) { // PLANTED
#endif
        x = even(x);
    } else {
        x = odd(x);
    }
    state[i] = x;
}

int main() {
    const int n = 1 << 17;
    std::vector<float> host(n, 1.0f);
    float *state;
    cudaMalloc(&state, n * sizeof(float));
    cudaMemcpy(state, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    evolve<<<n / 256, 256>>>(state, n);
    cudaMemcpy(host.data(), state, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(state);
}
