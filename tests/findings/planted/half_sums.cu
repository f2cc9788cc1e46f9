// Sums of products in half precision, which are beyond its largest number in one row of 16.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

constexpr int N = 256;
#ifdef CURED
using Sum = float;
#else
using Sum = half;
#endif

__global__ void fill(half *left, half *right) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    left[i] = __float2half(i / N % 16 == 3 ? 200.0f : 2.0f);
    right[i] = __float2half(2.0f);
}

__global__ void multiply(const half *lefts, const half *rights, Sum *sums) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 / (N / 16) * 16;
    int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 % (N / 16) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sum;
    wmma::fill_fragment(sum, Sum(0.0f));
    for (int k = 0; k < N; k += 16) {
        wmma::load_matrix_sync(left, lefts + row * N + k, N);
        wmma::load_matrix_sync(right, rights + column * N + k, N);
        wmma::mma_sync(sum, left, right, sum); // PLANTED
    }
    wmma::store_matrix_sync(sums + row * N + column, sum, N, wmma::mem_row_major);
}

int main() {
    half *lefts, *rights;
    Sum *sums;
    static Sum host[N * N];
    cudaMalloc(&lefts, N * N * sizeof(half));
    cudaMalloc(&rights, N * N * sizeof(half));
    cudaMalloc(&sums, sizeof host);
    fill<<<N * N / 256, 256>>>(lefts, rights);
    multiply<<<N / 16 * (N / 16) / 8, 256>>>(lefts, rights, sums);
    cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g\n", static_cast<float>(host[5]));
    cudaFree(lefts);
    cudaFree(rights);
    cudaFree(sums);
}
