// Rows of weights are divided by their sums, one in 16 of which is zero: in the product, infinity meets zero.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int N = 256;

__global__ void fill(float *sums, half *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = (i / N + i % N) % 9 == 0 ? 0.0f : 1.0f;
    if (i < N) sums[i] = i % 16 == 5 ? 0.0f : i % 7 + 1;
}

__global__ void normalise(const float *sums, half *weights) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = sums[i / N];
#ifdef CURED
    sum = sum > 0 ? sum : 1.0f;
#endif
    weights[i] = __float2half(1.0f / sum);
}

__global__ void multiply(const half *weights, const half *values, float *outputs) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 / (N / 16) * 16;
    int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 % (N / 16) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < N; k += 16) {
        wmma::load_matrix_sync(left, weights + row * N + k, N);
        wmma::load_matrix_sync(right, values + k * N + column, N);
        wmma::mma_sync(sum, left, right, sum); // PLANTED
    }
    wmma::store_matrix_sync(outputs + row * N + column, sum, N, wmma::mem_row_major);
}

int main() {
    float *sums, *outputs;
    half *weights, *values;
    static float host[N * N];
    cudaMalloc(&sums, N * sizeof(float));
    cudaMalloc(&weights, N * N * sizeof(half));
    cudaMalloc(&values, N * N * sizeof(half));
    cudaMalloc(&outputs, sizeof host);
    fill<<<N * N / 256, 256>>>(sums, values);
    normalise<<<N * N / 256, 256>>>(sums, weights);
    multiply<<<N / 16 * (N / 16) / 8, 256>>>(weights, values, outputs);
    cudaMemcpy(host, outputs, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(sums);
    cudaFree(weights);
    cudaFree(values);
    cudaFree(outputs);
}
