// Kernels on which no constant of the predictions was fitted: launches of one grid each, in blocks of any shape.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// Upwind differences: two neighbours on one side, one on the other, in rows that start anywhere in a line.
__global__ void upwind(const float *in, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int at = y * nx + x;
    out[at] = in[at - 2] - 3 * in[at - 1] + 3 * in[at] - in[at + 1] + in[at - nx] - in[at + nx];
}

// A quarter of the elements, each used four times.
__global__ void enlarge(const float *in, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) out[y * nx + x] = in[(y / 2) * ((nx + 1) / 2) + x / 2];
}

// Stores along columns.
__global__ void turned(const float *in, float *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) out[x * ny + (ny - 1 - y)] = in[y * nx + x];
}

// Sums over windows of rows, in single steps.
__global__ void windows(const float *in, float *out, int nx, int ny, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny - width) return;
    float sum = 0;
    for (int step = 0; step < width; step++) sum += in[(y + step) * nx + x];
    out[y * nx + x] = sum;
}

// Pairs of doubles from two arrays, one of them read backwards.
__global__ void paired(const double2 *left, const double2 *right, double2 *out, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    double2 one = left[y * nx + x], other = right[y * nx + (nx - 1 - x)];
    out[y * nx + x] = make_double2(one.x + other.y, one.y - other.x);
}

template <class T> static T *filled(size_t count)
{
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    cudaMemset(memory, 0, count * sizeof(T));
    return memory;
}

int main(int, char **arguments)
{
    const dim3 block(atoi(arguments[1]), atoi(arguments[2]));
    const int nx = 1130, ny = 990;
    const dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
    float *in = filled<float>(nx * ny), *out = filled<float>(nx * ny);
    upwind<<<grid, block>>>(in, out, nx, ny);
    enlarge<<<grid, block>>>(in, out, nx, ny);
    turned<<<grid, block>>>(in, out, nx, ny);
    windows<<<grid, block>>>(in, out, nx, ny, 5);
    paired<<<grid, block>>>(filled<double2>(nx * ny), filled<double2>(nx * ny), filled<double2>(nx * ny), nx, ny);
    return cudaDeviceSynchronize() != cudaSuccess;
}
