// Results are copied to the host although the kernel writes only some of them.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *results, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) results[i] = i % 5;
}

int main() {
    const int n = 4096;
    static float all[n];
    float *results;
    cudaMalloc(&results, n * sizeof(float));
#ifdef CURED
    fill<<<n / 128, 128>>>(results, n);
#else
    fill<<<n / 128, 128>>>(results, n - 100);
#endif
    cudaMemcpy(all, results, sizeof all, cudaMemcpyDeviceToHost); // PLANTED
    std::printf("%g\n", all[5]);
    cudaFree(results);
}
