// What the programs beside this have in common.
#pragma once

#include <cuda_runtime.h>

// Two neighbours in each direction: five planes, of which L2 has some when the next block wants them.
__global__ void star(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 2 || y < 2 || z < 2 || x >= nx - 2 || y >= ny - 2 || z >= nz - 2) return;
    long row = nx, plane = long(nx) * ny, at = z * plane + y * row + x;
    double sum = in[at];
    for (int far = 1; far <= 2; far++)
        sum += far * (in[at - far] + in[at + far] + in[at - far * row] + in[at + far * row] + in[at - far * plane] +
                      in[at + far * plane]);
    out[at] = sum;
}

template <class T> static T *zeros(size_t count)
{
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

static unsigned blocks(int points, unsigned size) { return (points + size - 1) / size; }
