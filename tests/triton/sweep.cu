// A transpose through a tile, for sweeps: PADDING and the block's height are the configuration. Each block moves a tile of 32 x 32.
#include <cstdio>
#include <cstdlib>

#ifndef PADDING
#define PADDING 0
#endif
#if PADDING > 8
#error "PADDING is 8 at most"
#endif
#ifndef ROWS
#define ROWS 8
#endif

__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][32 + PADDING];
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        out[(blockIdx.x * 32 + j) * n + x] = tile[threadIdx.x][j];
}

__global__ void fill(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = float(i);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 128;
    if (n % 32 != 0) {
        fprintf(stderr, "n has to be a multiple of 32\n");
        return 2;
    }
    float *in, *out;
    cudaMalloc(&in, n * n * sizeof(float));
    cudaMalloc(&out, n * n * sizeof(float));
    fill<<<(n * n + 255) / 256, 256>>>(in, n * n);
    transpose<<<dim3(n / 32, n / 32), dim3(32, ROWS)>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
