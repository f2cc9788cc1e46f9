// Kernels whose grids are hundreds of waves on a small GPU, and a product whose tiles end beyond its matrices.
#include <cstdlib>
#include <cuda_runtime.h>

#include "grids.h"

// Columns are stored in parts, which L2 has to keep until the next blocks complete them.
__global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) out[long(x) * ny + y] = in[long(y) * nx + x];
}

constexpr int TILE = 16;

__global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float rows[TILE][TILE], columns[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int tile = 0; tile < (n + TILE - 1) / TILE; tile++) {
        rows[y][x] = row < n && tile * TILE + x < n ? a[row * n + tile * TILE + x] : 0;
        columns[y][x] = column < n && tile * TILE + y < n ? b[(tile * TILE + y) * n + column] : 0;
        __syncthreads();
        for (int at = 0; at < TILE; at++) sum += rows[y][at] * columns[at][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

// A thread to a row, gone through twice: what is left of the rows when the second loop begins depends on which part of the first, unrolled one was last.
__global__ void rows(const float *__restrict__ in, float *__restrict__ out, int count, int length)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count) return;
    float sum = 0;
    for (int at = 0; at < length; at++) sum += in[row * length + at];
    for (int at = 0; at < length; at++) out[row * length + at] = in[row * length + at] / sum;
}

int main(int, char **arguments)
{
    dim3 block(atoi(arguments[1]), atoi(arguments[2]), atoi(arguments[3]));
    const int nx = 160, ny = 128, nz = 48;
    const size_t points = size_t(nx) * ny * nz;
    star<<<dim3(blocks(nx, block.x), blocks(ny, block.y), blocks(nz, block.z)), block>>>(
        zeros<double>(points), zeros<double>(points), nx, ny, nz);
    const int width = 1000, height = 900;
    dim3 flat(block.x, block.y * block.z);
    transpose<<<dim3(blocks(width, flat.x), blocks(height, flat.y)), flat>>>(
        zeros<float>(width * height), zeros<float>(width * height), width, height);
    const int n = 250;
    dim3 tile(TILE, TILE);
    product<<<dim3(blocks(n, TILE), blocks(n, TILE)), tile>>>(zeros<float>(n * n), zeros<float>(n * n), zeros<float>(n * n), n);
    const int count = 1500, length = 50;
    rows<<<blocks(count, 256), 256>>>(zeros<float>(count * length), zeros<float>(count * length), count, length);
    return cudaDeviceSynchronize();
}
