// Each step takes scratch memory from the pool. The second step counts on what the first one left there.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *scratch, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scratch[i] = i % 5;
}

__global__ void use(const float *scratch, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scratch[i] * 2; // PLANTED
}

int main() {
    const int n = 1 << 17;
    float *out, last[32];
    cudaMalloc(&out, n * sizeof(float));
    for (int step = 0; step < 2; ++step) {
        float *scratch;
        cudaMallocAsync(&scratch, n * sizeof(float), 0);
#ifdef CURED
        fill<<<n / 256, 256>>>(scratch, n);
#else
        if (step == 0) fill<<<n / 256, 256>>>(scratch, n);
#endif
        use<<<n / 256, 256>>>(scratch, out, n);
        cudaFreeAsync(scratch, 0);
    }
    cudaMemcpy(last, out, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(out);
}
