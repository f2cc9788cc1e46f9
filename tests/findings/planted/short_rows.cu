// Scales an image of bytes by blocks of 4 x 64 threads. Planted: threadIdx.x counts the rows, and rows of the block are so short
// that no request shows one stride. Fixed: the indices are exchanged.
#include <cstdio>
#include <vector>

__global__ void scale(const unsigned char *image, unsigned char *scaled, int width, int height, int factor) {
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
    std::vector<unsigned char> host(n * n, 3);
    unsigned char *image, *scaled;
    cudaMalloc(&image, n * n);
    cudaMalloc(&scaled, n * n);
    cudaMemcpy(image, host.data(), n * n, cudaMemcpyHostToDevice);
#ifdef CURED
    dim3 block(64, 4);
#else
    dim3 block(4, 64);
#endif
    dim3 grid(n / block.x, n / block.y);
    scale<<<grid, block>>>(image, scaled, n, n, 2);
    cudaMemcpy(host.data(), scaled, n * n, cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[5]);
    cudaFree(image);
    cudaFree(scaled);
}
