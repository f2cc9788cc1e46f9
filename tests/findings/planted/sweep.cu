// Relaxes an array larger than the level-2 cache. Planted: each step is a launch that sweeps all of it again. Fixed: a thread
// makes all steps on its element.
#include <cstdio>
#include <vector>

__global__ void relax(float *field, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = field[i]; // PLANTED
    for (int step = 0; step < steps; ++step) value = 0.5f * (value + 1.0f);
    field[i] = value; // PLANTED
}

int main() {
    const int n = 4 << 20, steps = 8;
    std::vector<float> host(n, 3.0f);
    float *field;
    cudaMalloc(&field, n * sizeof(float));
    cudaMemcpy(field, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    relax<<<n / 256, 256>>>(field, n, steps);
#else
    for (int step = 0; step < steps; ++step) relax<<<n / 256, 256>>>(field, n, 1); // PLANTED
#endif
    cudaMemcpy(host.data(), field, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(field);
}
