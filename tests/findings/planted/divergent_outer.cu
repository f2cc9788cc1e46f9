// Particles of two kinds, one of which takes an implicit step, with a rare case inside. Planted: the kinds alternate by lane, so
// that the step runs with half of the lanes; the rare case before it costs nothing. Fixed: sorted by kind.
#include <cstdio>
#include <vector>

__global__ void advance(const int *kind, float *state, float *history, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = state[i];
    if (kind[i] == 1) { // PLANTED
        if (x > 1.9f) {
            history[i] = x;
            x = 1.0f;
        }
        for (int step = 0; step < 60; ++step) x = x * 0.99f + 0.5f / (1.0f + x * x);
    }
    state[i] = x;
}

int main() {
    const int n = 1 << 16;
    std::vector<int> kind(n);
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) {
#ifdef CURED
        kind[i] = i < n / 2;
#else
        kind[i] = i % 2;
#endif
        host[i] = i % 97 == 5 ? 2.0f : 0.5f;
    }
    int *d_kind;
    float *state, *history;
    cudaMalloc(&d_kind, n * sizeof(int));
    cudaMalloc(&state, n * sizeof(float));
    cudaMalloc(&history, n * sizeof(float));
    cudaMemset(history, 0, n * sizeof(float));
    cudaMemcpy(d_kind, kind.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(state, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    advance<<<n / 256, 256>>>(d_kind, state, history, n);
    cudaMemcpy(host.data(), state, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::vector<float> seen(n);
    cudaMemcpy(seen.data(), history, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g %g\n", host[0], seen[5]);
    cudaFree(d_kind);
    cudaFree(state);
    cudaFree(history);
}
