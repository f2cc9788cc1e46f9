// An iteration over elements, each block of which does the same work. Planted: eight blocks more than the GPU holds at a time (68
// SMs of four blocks). Fixed: as many as it holds.
#include <cstdio>

__global__ void iterate(float *state, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = state[i];
    for (int step = 0; step < 200; ++step) x = x * 0.99f + 0.5f / (1.0f + x * x);
    state[i] = x;
}

int main() {
#ifdef CURED
    const int blocks = 272;
#else
    const int blocks = 280;
#endif
    float *state;
    cudaMalloc(&state, blocks * 256 * sizeof(float));
    cudaMemset(state, 0, blocks * 256 * sizeof(float));
    iterate<<<blocks, 256>>>(state, blocks * 256); // PLANTED
    float first;
    cudaMemcpy(&first, state, sizeof first, cudaMemcpyDeviceToHost);
    std::printf("%g\n", first);
    cudaFree(state);
}
