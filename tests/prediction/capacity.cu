// Kernels that fill L1 or L2 just about.
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#include "grids.h"

// A thread to a column, forwards and backwards: what L1 keeps of a row's sectors decides what L2 is asked for again.
__global__ void sweep(double *values, double *factors, const double *__restrict__ weights, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || z >= nz) return;
    size_t first = size_t(z) * ny * nx + x;
    double factor = 0, value = 0;
    for (int y = 0; y < ny; y++) {
        size_t at = first + size_t(y) * nx;
        double scale = 1 / (2.1 + weights[at] * factor);
        factor = -weights[at] * scale;
        value = (values[at] - weights[at] * value) * scale;
        factors[at] = factor;
        values[at] = value;
    }
    for (int y = ny - 2; y >= 0; y--) {
        size_t at = first + size_t(y) * nx;
        value = values[at] - factors[at] * value;
        values[at] = value;
    }
}

// A thread to a row of a band.
__global__ void band(const double *rows, const double *x, double *y, size_t count, size_t width)
{
    size_t row = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (row >= count) return;
    double sum = 0;
#pragma unroll 4
    for (size_t at = 0; at < width; at++) sum += rows[row * width + at] * __ldg(&x[row + at]);
    y[row] = sum;
}

// What is stored in several turns: lines of which L2 has to keep those of all blocks that run.
__global__ void matrices(const float *__restrict__ in, float *__restrict__ out, long count)
{
    long at = long(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    float own[9], sum = 0;
#pragma unroll
    for (int part = 0; part < 9; part++) sum += own[part] = in[9 * at + part];
#pragma unroll
    for (int part = 0; part < 9; part++) out[9 * at + part] = own[part] / sum;
}

int main(int, char **arguments)
{
    dim3 block(atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]));
    if (!strcmp(arguments[1], "star")) {
        const int nx = 64, ny = 80, nz = 640;
        const size_t points = size_t(nx) * ny * nz;
        star<<<dim3(blocks(nx, block.x), blocks(ny, block.y), blocks(nz, block.z)), block>>>(
            zeros<double>(points), zeros<double>(points), nx, ny, nz);
    } else if (!strcmp(arguments[1], "sweep")) {
        const int nx = 150, ny = 70, nz = 90;
        const size_t points = size_t(nx) * ny * nz;
        sweep<<<dim3(blocks(nx, block.x), blocks(nz, block.y)), block>>>(
            zeros<double>(points), zeros<double>(points), zeros<double>(points), nx, ny, nz);
    } else if (!strcmp(arguments[1], "band")) {
        const size_t count = 80000, width = 15;
        band<<<blocks(count, block.x), block>>>(
            zeros<double>(count * width), zeros<double>(count + width), zeros<double>(count), count, width);
    } else {
        const long count = 300000;
        matrices<<<blocks(count, block.x), block>>>(zeros<float>(9 * count), zeros<float>(9 * count), count);
    }
    return cudaDeviceSynchronize();
}
