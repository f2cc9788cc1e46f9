// Kernels that touch more than an L2 of 4 MiB holds, whose blocks come to the same lines at different times.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "grids.h"

// A thread to a column of planes: what neighbours load, they load at nearly the same time, however far behind each other their blocks begin.
__global__ void walk(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    for (int z = 0; z < nz; z++) {
        long at = (long(z) * ny + y) * nx + x;
        out[at] = in[at] + 0.25f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]);
    }
}

// Members of structures, changed in several turns of a warp, between which all other warps have theirs.
struct Record {
    float members[9];
};

__global__ void change(Record *records, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int member = 0; member < 9; member++) records[i].members[member] *= 1.5f;
}

int main(int, char **arguments)
{
    dim3 block(atoi(arguments[1]), atoi(arguments[2]), atoi(arguments[3]));
    const int nx = 192, ny = 160, nz = 40, count = 150000;
    const size_t points = size_t(nx) * ny * nz;
    dim3 grid(blocks(nx, block.x), blocks(ny, block.y), blocks(nz, block.z));
    star<<<grid, block>>>(zeros<double>(points), zeros<double>(points), nx, ny, nz);
    const int columns = 600, rows = 500, planes = 20;
    const size_t cells = size_t(columns) * rows * planes;
    dim3 flat(block.x, block.y * block.z);
    walk<<<dim3(blocks(columns, flat.x), blocks(rows, flat.y)), flat>>>(zeros<float>(cells), zeros<float>(cells),
                                                                        columns, rows, planes);
    const unsigned threads = block.x * block.y * block.z;
    change<<<blocks(count, threads), threads>>>(zeros<Record>(count), count);
    return cudaDeviceSynchronize() != cudaSuccess;
}
