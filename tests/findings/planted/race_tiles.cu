// Smoothing in place: neighbours lie in other warps and in other blocks, which no barrier orders.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void smooth(float *out, const float *in, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) {
        return;
    }
    int i = y * width + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void smooth_in_place(float *field, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) {
        return;
    }
    int i = y * width + x;
    field[i] = 0.25f * (field[i - 1] + field[i + 1] + field[i - width] + field[i + width]); // PLANTED
}

int main() {
    const int width = 512, height = 512;
    float *field, *next, last = 0;
    cudaMalloc(&field, width * height * sizeof(float));
    cudaMalloc(&next, width * height * sizeof(float));
    cudaMemset(field, 1, width * height * sizeof(float));
    cudaMemset(next, 1, width * height * sizeof(float));
    dim3 block(32, 8), grid(width / 32, height / 8);
#ifdef CURED
    smooth<<<grid, block>>>(next, field, width, height);
    smooth<<<grid, block>>>(field, next, width, height);
#else
    smooth_in_place<<<grid, block>>>(field, width, height);
    smooth<<<grid, block>>>(next, field, width, height);
    smooth<<<grid, block>>>(field, next, width, height);
#endif
    cudaMemcpy(&last, field + 5 * width + 5, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last);
    cudaFree(field);
    cudaFree(next);
}
