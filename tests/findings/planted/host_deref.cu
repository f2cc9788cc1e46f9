// Sums an array on the device. Planted: the host prints the result through the device's pointer. Fixed: it copies the result first.
#include <cstdio>
#include <vector>

__global__ void sum(const float *values, float *total, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += values[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) *total = sum;
}

int main() {
    const int n = 4096;
    std::vector<float> host(n, 0.5f);
    float *values, *total;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&total, sizeof(float));
    cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    sum<<<1, 32>>>(values, total, n);
#ifdef CURED
    float result;
    cudaMemcpy(&result, total, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", result);
#else
    cudaDeviceSynchronize();
    std::printf("%g\n", *total); // PLANTED
#endif
    cudaFree(values);
    cudaFree(total);
}
