// Scales an image. Planted: threadIdx.x counts the rows, though neighbouring pixels lie in neighbouring columns. Fixed: the
// indices are exchanged.
#include <cstdio>
#include <vector>

__global__ void scale(const float *image, float *scaled, int width, int height, float factor) {
#ifdef CURED
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
#else
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    int x = blockIdx.y * blockDim.y + threadIdx.y;
#endif
    if (x < width && y < height) {
        scaled[y * width + x] = factor * image[y * width + x]; // PLANTED
    }
}

int main() {
    const int n = 1024;
    std::vector<float> host(n * n, 3.0f);
    float *image, *scaled;
    cudaMalloc(&image, n * n * sizeof(float));
    cudaMalloc(&scaled, n * n * sizeof(float));
    cudaMemcpy(image, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(32, 8), grid(n / 32, n / 8);
    scale<<<grid, block>>>(image, scaled, n, n, 2.0f);
    cudaMemcpy(host.data(), scaled, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(image);
    cudaFree(scaled);
}
