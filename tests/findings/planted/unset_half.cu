// A table of doubles is filled by a kernel whose grid was computed for half of it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void make_table(double *table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) table[i] = i;
}

__global__ void look_up(const double *table, float *found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) found[i] = static_cast<float>(table[i]); // PLANTED
}

int main() {
    const int n = 1 << 17;
    double *table;
    float *found, last[32];
    cudaMalloc(&table, n * sizeof(double));
    cudaMalloc(&found, n * sizeof(float));
#ifdef CURED
    make_table<<<n / 256, 256>>>(table, n);
#else
    make_table<<<n / 512, 256>>>(table, n);
#endif
    look_up<<<n / 256, 256>>>(table, found, n);
    cudaMemcpy(last, found, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(table);
    cudaFree(found);
}
