// Memory that is not freed when the program ends.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *table, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[i] = i % 5;
}

int main() {
    const int n = 1 << 17;
    float *table, *out, last[32];
    cudaMalloc(&table, n * sizeof(float)); // PLANTED
    cudaMalloc(&out, n * sizeof(float));
    fill<<<n / 256, 256>>>(table, out, n);
    cudaMemcpy(last, out, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(out);
#ifdef CURED
    cudaFree(table);
#endif
}
