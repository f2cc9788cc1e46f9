// A moving average over samples of a sensor, whose launch takes all the shared memory that a block may have.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int threads = 128, window = 4;

__global__ void average(const float *samples, float *means, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * threads + threadIdx.x;
    part[threadIdx.x] = samples[i];
    if (threadIdx.x < window) part[threads + threadIdx.x] = i + threads < n ? samples[i + threads] : 0;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < window; ++k) sum += part[threadIdx.x + k];
    means[i] = sum / window;
}

int main() {
    const int n = 1 << 19;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = float(i % 100);
    float *samples, *means;
    cudaMalloc(&samples, n * sizeof(float));
    cudaMalloc(&means, n * sizeof(float));
    cudaMemcpy(samples, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    size_t bytes = (threads + window) * sizeof(float);
#else
    size_t bytes = 40 << 10;
#endif
    average<<<n / threads, threads, bytes>>>(samples, means, n); // PLANTED
    cudaMemcpy(host.data(), means, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%.2f\n", host[1000]);
    cudaFree(samples);
    cudaFree(means);
}
