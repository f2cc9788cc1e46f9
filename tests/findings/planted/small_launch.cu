// Adds two vectors. Planted: a single block walks over all elements. Fixed: a grid of blocks.
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *sum, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) sum[i] = a[i] + b[i];
}

int main() {
    const int n = 1 << 19;
    std::vector<float> host(n, 1.0f);
    float *a, *b, *sum;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&sum, n * sizeof(float));
    cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    add<<<512, 256>>>(a, b, sum, n);
#else
    add<<<1, 256>>>(a, b, sum, n); // PLANTED
#endif
    cudaMemcpy(host.data(), sum, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[0]);
    cudaFree(a);
    cudaFree(b);
    cudaFree(sum);
}
