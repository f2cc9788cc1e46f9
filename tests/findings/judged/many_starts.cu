// Work in too many or too few pieces: a launch for each small picture, a copy on the device for each element of a column, and blocks that
// are fewer than the SMs although the kernel steps by the grid's size. Each as its argument says, as it should not be and cured.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

// Halves a picture's width and height, or those of all pictures (blockIdx.z).
__global__ void halve(float *out, const float *in, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height) return;
    const float *from = in + 4 * width * height * blockIdx.z;
    float *to = out + width * height * blockIdx.z;
    const float2 *upper = (const float2 *)(from + 2 * y * 2 * width), *lower = (const float2 *)(from + (2 * y + 1) * 2 * width);
    float2 above = upper[x], below = lower[x];
    to[y * width + x] = 0.25f * (above.x + above.y + below.x + below.y);
}

static void pictures(bool cured) {
    const int count = 96, width = 128, height = 128;
    float *in, *out;
    cudaMalloc(&in, 4 * count * width * height * sizeof(float));
    cudaMalloc(&out, count * width * height * sizeof(float));
    cudaMemset(in, 0, 4 * count * width * height * sizeof(float));
    dim3 block(32, 8), grid(width / 32, height / 8);
    if (cured) {
        halve<<<dim3(grid.x, grid.y, count), block>>>(out, in, width, height);
    } else {
        for (int one = 0; one < count; one++)
            halve<<<grid, block>>>(out + one * width * height, in + 4 * one * width * height, width, height); // A LAUNCH PER PICTURE
    }
}

// Each step fills a row of a table from the one before: launches that cannot be one.
__global__ void next_row(int *table, int size, int step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int above = table[(step - 1) * size + x], left = x > 0 ? table[(step - 1) * size + x - 1] : 0;
    table[step * size + x] = (above > left ? above : left) + (x * step) % 3;
}

static void rows() {
    const int size = 1024;
    int *table;
    cudaMalloc(&table, size * size * sizeof(int));
    cudaMemset(table, 0, size * size * sizeof(int));
    for (int step = 1; step < size; step++) next_row<<<size / 128, 128>>>(table, size, step); // A LAUNCH PER ROW
}

__global__ void fill(float *column, int pitch, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) column[row * pitch] = row;
}

static void columns(bool cured) {
    const int rows = 400, pitch = 1000;
    float *left, *right;
    cudaMalloc(&left, rows * pitch * sizeof(float));
    cudaMalloc(&right, rows * pitch * sizeof(float));
    fill<<<4, 128>>>(left + pitch - 1, pitch, rows);
    if (cured) {
        cudaMemcpy2DAsync(right, pitch * sizeof(float), left + pitch - 1, pitch * sizeof(float), sizeof(float), rows, cudaMemcpyDeviceToDevice);
    } else {
        for (int row = 0; row < rows; row++)
            cudaMemcpyAsync(right + row * pitch, left + (row + 1) * pitch - 1, sizeof(float), cudaMemcpyDeviceToDevice); // AN ELEMENT
    }
}

// A block for each plane, whose threads step by its size.
__global__ void stretch(float *planes, const float *factors, int size) {
    float *plane = planes + blockIdx.x * size;
    for (int at = threadIdx.x; at < size; at += blockDim.x) plane[at] *= factors[blockIdx.x];
}

static void planes() {
    const int size = 1 << 20;
    float *planes, *factors;
    cudaMalloc(&planes, 3 * size * sizeof(float));
    cudaMalloc(&factors, 3 * sizeof(float));
    cudaMemset(planes, 0, 3 * size * sizeof(float));
    cudaMemset(factors, 0, 3 * sizeof(float));
    stretch<<<3, 512>>>(planes, factors, size); // A BLOCK PER PLANE
}

__global__ void distances(const float3 *points, float *sums, int count) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        float3 mine = points[at];
        float sum = 0;
        for (int other = 0; other < 512; other++) {
            float x = mine.x - points[other].x, y = mine.y - points[other].y, z = mine.z - points[other].z;
            sum += rsqrtf(x * x + y * y + z * z + 0.01f);
        }
        sums[at] = sum;
    }
}

static void steps(int blocks) {
    const int count = 1 << 18;
    float3 *points;
    float *sums;
    cudaMalloc(&points, count * sizeof(float3));
    cudaMalloc(&sums, count * sizeof(float));
    cudaMemset(points, 0, count * sizeof(float3));
    distances<<<blocks, 512>>>(points, sums, count); // STEPS
}

int main(int, char **arguments) {
    const char *mode = arguments[1];
    if (!strcmp(mode, "pictures")) pictures(false);
    if (!strcmp(mode, "one-launch")) pictures(true);
    if (!strcmp(mode, "rows")) rows();
    if (!strcmp(mode, "columns")) columns(false);
    if (!strcmp(mode, "one-copy")) columns(true);
    if (!strcmp(mode, "planes")) planes();
    if (!strcmp(mode, "few-blocks")) steps(40);
    if (!strcmp(mode, "all-blocks")) steps(108);
    return cudaDeviceSynchronize() != cudaSuccess;
}
