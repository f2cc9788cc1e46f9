// A picture is darkened by one kernel and squared by the next, element by element. Its rows are one pixel longer than whole sectors;
// fixed, they are padded.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void darken(const float *in, float *shade, int width, int pitch, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height) shade[(size_t)y * pitch + x] = 0.5f * in[(size_t)y * pitch + x];
}

__global__ void square(const float *shade, float *out, int width, int pitch, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= height) return;
    float value = shade[(size_t)y * pitch + x]; // PLANTED
    out[(size_t)y * pitch + x] = value * value;
}

int main() {
    const int width = 1025, height = 4096;
#ifdef CURED
    const int pitch = 1056;
#else
    const int pitch = width;
#endif
    const size_t bytes = (size_t)pitch * height * sizeof(float);
    float *in, *shade, *out;
    cudaMalloc(&in, bytes);
    cudaMalloc(&shade, bytes);
    cudaMalloc(&out, bytes);
    cudaMemset(in, 0, bytes);
    dim3 blocks((width + 255) / 256, height);
    darken<<<blocks, 256>>>(in, shade, width, pitch, height);
    square<<<blocks, 256>>>(shade, out, width, pitch, height);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
