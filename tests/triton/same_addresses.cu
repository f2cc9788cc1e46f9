// What kernels of kernels.py and gluon_kernels.py do, with the same addresses in the same requests.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// strided_copy, of 1024 elements: each thread has four neighbours, reads them one by one and writes them at once.
__global__ void strided_copy(const float *x, float *out, int stride)
{
    const int first = 4 * threadIdx.x;
    float held[4];
    for (int i = 0; i < 4; ++i) held[i] = x[(first + i) * stride];
    reinterpret_cast<float4 *>(out)[threadIdx.x] = make_float4(held[0], held[1], held[2], held[3]);
}

// transpose without swizzling, of one warp: rows are written one after another, then each lane reads its own, 16 bytes at a time.
__global__ void columns(const float *x, float *out)
{
    __shared__ __align__(16) float tile[32][32];
    for (int row = 0; row < 32; ++row) tile[row][threadIdx.x] = x[32 * row + threadIdx.x];
    __syncwarp();
    for (int i = 0; i < 8; ++i) {
        const float4 four = *reinterpret_cast<const float4 *>(&tile[threadIdx.x][4 * i]);
        out[32 * (4 * i) + threadIdx.x] = four.x;
        out[32 * (4 * i + 1) + threadIdx.x] = four.y;
        out[32 * (4 * i + 2) + threadIdx.x] = four.z;
        out[32 * (4 * i + 3) + threadIdx.x] = four.w;
    }
}

// product, of 32 x 32 x 32 halves in one warp.
__global__ void product(const half *a, const half *b, float *c)
{
    for (int tile = 0; tile < 4; ++tile) {
        const int row = tile / 2 * 16, column = tile % 2 * 16;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::fill_fragment(sum, 0.0f);
        for (int k = 0; k < 32; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
            wmma::load_matrix_sync(left, a + 32 * row + k, 32);
            wmma::load_matrix_sync(right, b + 32 * k + column, 32);
            wmma::mma_sync(sum, left, right, sum);
        }
        wmma::store_matrix_sync(c + 32 * row + column, sum, 32, wmma::mem_row_major);
    }
}

// reversed_copy, of 1024 elements.
__global__ void reversed_copy(const float *x, float *out, int n)
{
    const int first = 4 * threadIdx.x;
    float held[4];
    for (int i = 0; i < 4; ++i) held[i] = x[n - 1 - (first + i)];
    reinterpret_cast<float4 *>(out)[threadIdx.x] = make_float4(held[0], held[1], held[2], held[3]);
}

// window, of 16 x 32 elements in one warp: eight lanes have a row, four neighbours each; four rows at a time.
__global__ void window(const float *x, float *out, int pitch, int columns)
{
    const int column = 4 * (threadIdx.x % 8);
    for (int row = threadIdx.x / 8; row < 16; row += 4) {
        float held[4] = {0, 0, 0, 0};
        for (int i = 0; i < 4; ++i)
            if (column + i < columns) held[i] = x[row * pitch + column + i];
        *reinterpret_cast<float4 *>(out + row * 32 + column) = make_float4(held[0], held[1], held[2], held[3]);
    }
}

// every_third, of 256 elements in one warp.
__global__ void every_third(const float *x, float *out, int n)
{
    for (int first = 4 * threadIdx.x; first < 256; first += 128) {
        float held[4] = {0, 0, 0, 0};
        for (int i = 0; i < 4; ++i)
            if (first + i < n) held[i] = x[3 * (first + i)];
        *reinterpret_cast<float4 *>(out + first) = make_float4(held[0], held[1], held[2], held[3]);
    }
}

// plain_transpose, in one warp: 16 bytes a lane each way.
__global__ void plain_transpose(const float *x, float *out)
{
    __shared__ float tile[32][33];
    const int row = threadIdx.x / 8, column = 4 * (threadIdx.x % 8);
    for (int at = row; at < 32; at += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(x + 32 * at + column);
        tile[column][at] = four.x;
        tile[column + 1][at] = four.y;
        tile[column + 2][at] = four.z;
        tile[column + 3][at] = four.w;
    }
    __syncwarp();
    for (int at = row; at < 32; at += 4)
        *reinterpret_cast<float4 *>(out + 32 * at + column) =
            make_float4(tile[at][column], tile[at][column + 1], tile[at][column + 2], tile[at][column + 3]);
}

// An operand of gluon_kernels.product that is not swizzled: 16 bytes a lane to shared memory, back with `ldmatrix`, 16 x 16 at a time.
__global__ void operand(const uint4 *x, unsigned *out)
{
    __shared__ __align__(16) half tile[32][32];
    for (int at = threadIdx.x; at < 128; at += 32) reinterpret_cast<uint4 *>(tile)[at] = x[at];
    __syncwarp();
    unsigned all = 0;
    for (int part = 0; part < 4; ++part) {
        const half *from = &tile[part / 2 * 16 + threadIdx.x % 16][part % 2 * 16 + threadIdx.x / 16 * 8];
        unsigned r[4];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))));
        all ^= r[0] ^ r[1] ^ r[2] ^ r[3];
    }
    out[threadIdx.x] = all;
}

int main()
{
    float *x, *out;
    half *a;
    cudaMalloc(&x, 16 * 1024 * sizeof(float));
    cudaMalloc(&out, 1024 * sizeof(float));
    cudaMalloc(&a, 1024 * sizeof(half));
    cudaMemset(x, 0, 16 * 1024 * sizeof(float));
    cudaMemset(a, 0, 1024 * sizeof(half));
    strided_copy<<<1, 256>>>(x, out, 8);
    columns<<<1, 32>>>(x, out);
    product<<<1, 32>>>(a, a, out);
    reversed_copy<<<1, 256>>>(x, out, 1024);
    window<<<1, 32>>>(x, out, 100, 20);
    every_third<<<1, 32>>>(x, out, 100);
    plain_transpose<<<1, 32>>>(x, out);
    operand<<<1, 32>>>(reinterpret_cast<const uint4 *>(a), reinterpret_cast<unsigned *>(out));
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
