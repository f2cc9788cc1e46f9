// Fragments whose loads, products and stores are known: tests/end_to_end/operations.rs computes them again.
// One allocation holds A (16 x 16, by rows), B (16 x 16, by columns), and C and D (16 x 16 floats, by rows).
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__global__ void multiply(const half *a, const half *b, const float *c, float *d) {
    __shared__ __align__(32) half shared[16 * 16];
    for (int i = threadIdx.x; i < 256; i += 32) shared[i] = b[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, shared, 16);
    wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

int main() {
    static half host[512];
    static float sums[512], got[256];
    char *all;
    for (int i = 0; i < 512; ++i) host[i] = __float2half(i % 128 + i / 128 * 0.25f);
    for (int i = 0; i < 512; ++i) sums[i] = 0.5f * i;
    cudaMalloc(&all, sizeof host + sizeof sums);
    cudaMemcpy(all, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(all + sizeof host, sums, sizeof sums, cudaMemcpyHostToDevice);
    half *a = reinterpret_cast<half *>(all);
    float *c = reinterpret_cast<float *>(all + sizeof host);
    multiply<<<1, 32>>>(a, a + 256, c, c + 256);
    cudaMemcpy(got, c + 256, sizeof got, cudaMemcpyDeviceToHost);
    double want = 0.5;
    for (int k = 0; k < 16; ++k) want += static_cast<double>(__half2float(host[k])) * __half2float(host[272 + k]);
    printf("%s\n", got[1] == static_cast<float>(want) ? "PASS fragments" : "FAIL fragments");
    return 0;
}
