// Kernels of which a turn of a warp ends in the midst of a row, or of which some threads load rows that others have as their own. The grid covers
// what lies between the borders.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Nine neighbours, of which the three of a row are one item of the trace.
__global__ void box(const float *__restrict__ in, float *__restrict__ out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= nx - 1 || y >= ny - 1) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) sum += in[(y + dy) * nx + x + dx];
    out[y * nx + x] = sum;
}

// A block walks along z; its border threads load what its neighbours have.
__global__ void march(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz)
{
    extern __shared__ float tile[];
    int pitch = blockDim.x + 2, plane = nx * ny;
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int own = (threadIdx.y + 1) * pitch + threadIdx.x + 1, at = y * nx + x;
    bool inside = x < nx - 1 && y < ny - 1;
    for (int z = 0; z < nz; z++) {
        if (inside) {
            tile[own] = in[z * plane + at];
            if (threadIdx.y == 0) tile[own - pitch] = in[z * plane + at - nx];
            if (threadIdx.y == blockDim.y - 1 || y == ny - 2) tile[own + pitch] = in[z * plane + at + nx];
        }
        __syncthreads();
        if (inside) out[z * plane + at] = tile[own - pitch] + tile[own] + tile[own + pitch];
        __syncthreads();
    }
}

// Half of a matrix.
__global__ void half(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < n && x <= y) out[y * n + x] = 2 * in[y * n + x];
}

// Members of structures, read and written by turns.
struct Body {
    float place[3], speed[3], mass;
};

__global__ void advance(Body *bodies, int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float scale = step / bodies[i].mass;
    for (int axis = 0; axis < 3; axis++) bodies[i].speed[axis] += scale;
    for (int axis = 0; axis < 2; axis++) bodies[i].place[axis] += step * bodies[i].speed[axis];
}

template <class T> static T *filled(size_t count)
{
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

static unsigned blocks(int size, unsigned each) { return (size + each - 1) / each; }

int main(int, char **arguments)
{
    dim3 block(atoi(arguments[1]), atoi(arguments[2]));
    const int nx = 514, ny = 258, nz = 6, n = 600, count = 100000;
    float *in = filled<float>(size_t(nx) * ny * nz), *out = filled<float>(size_t(nx) * ny * nz);
    dim3 grid(blocks(nx - 2, block.x), blocks(ny - 2, block.y));
    box<<<grid, block>>>(in, out, nx, ny);
    march<<<grid, block, (block.x + 2) * (block.y + 2) * sizeof(float)>>>(in, out, nx, ny, nz);
    half<<<dim3(blocks(n, block.x), blocks(n, block.y)), block>>>(in, out, n);
    const unsigned threads = block.x * block.y;
    advance<<<blocks(count, threads), threads>>>(filled<Body>(count), count, 0.5f);
    return cudaDeviceSynchronize() != cudaSuccess;
}
