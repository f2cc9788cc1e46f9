// The host hands over one NaN: by ldmatrix, it gets to a factor of mma.sync, and to a whole column of the results.
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>

constexpr int TILES = 512;

// Tiles of 16 by 16 and of 16 by 8.
__global__ void multiply(const half *lefts, const half *rights, float *results) {
    __shared__ __align__(16) half left[16 * 16], right[16 * 8];
    int lane = threadIdx.x;
    for (int i = lane; i < 16 * 16; i += 32) left[i] = lefts[blockIdx.x * 256 + i];
    for (int i = lane; i < 16 * 8; i += 32) {
        right[i] = rights[blockIdx.x * 128 + i]; // PLANTED
    }
    __syncwarp();
    unsigned a[4], b[2];
    float sum[4] = {0, 0, 0, 0};
    unsigned row = __cvta_generic_to_shared(left + lane % 16 * 16 + lane / 16 * 8);
    unsigned column = __cvta_generic_to_shared(right + lane % 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1]) : "r"(column));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a[2]), "r"(a[3]), "r"(b[1]));
    float *to = results + blockIdx.x * 128 + lane / 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<float2 *>(to) = make_float2(sum[0], sum[1]);
    *reinterpret_cast<float2 *>(to + 64) = make_float2(sum[2], sum[3]);
}

int main() {
    static half left[TILES * 256], right[TILES * 128];
    static float host[TILES * 128];
    half *lefts, *rights;
    float *results;
    for (int i = 0; i < TILES * 256; ++i) left[i] = __float2half(i % 5);
    for (int i = 0; i < TILES * 128; ++i) right[i] = __float2half(i % 3);
#ifndef CURED
    // Row 9, column 3 of tile 7.
    right[7 * 128 + 9 * 8 + 3] = __float2half(std::nanf(""));
#endif
    cudaMalloc(&lefts, sizeof left);
    cudaMalloc(&rights, sizeof right);
    cudaMalloc(&results, sizeof host);
    cudaMemcpy(lefts, left, sizeof left, cudaMemcpyHostToDevice);
    cudaMemcpy(rights, right, sizeof right, cudaMemcpyHostToDevice);
    multiply<<<TILES, 32>>>(lefts, rights, results);
    cudaMemcpy(host, results, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(lefts);
    cudaFree(rights);
    cudaFree(results);
}
