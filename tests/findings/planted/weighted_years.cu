// Yields of fields over many years. The price is the block's; behind the only barrier each thread adds up its field in memory.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void total(const float *yields, const float *prices, float *income, int fields, int years) {
    __shared__ float price;
    if (threadIdx.x == 0) price = prices[blockIdx.x];
    __syncthreads();
    int field = blockIdx.x * blockDim.x + threadIdx.x;
    if (field >= fields) return;
#ifdef CURED
    float sum = 0;
    for (int year = 0; year < years; year++) sum += price * yields[(size_t)(year % 4) * fields + field];
    income[field] = sum;
#else
    income[field] = 0;
    for (int year = 0; year < years; year++) income[field] += price * yields[(size_t)(year % 4) * fields + field]; // PLANTED
#endif
}

int main() {
    const int fields = 1 << 15, years = 64, threads = 256;
    float *yields, *prices, *income;
    cudaMalloc(&yields, 4 * fields * sizeof(float));
    cudaMalloc(&prices, fields / threads * sizeof(float));
    cudaMalloc(&income, fields * sizeof(float));
    cudaMemset(yields, 0, 4 * fields * sizeof(float));
    cudaMemset(prices, 0, fields / threads * sizeof(float));
    total<<<fields / threads, threads>>>(yields, prices, income, fields, years);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
