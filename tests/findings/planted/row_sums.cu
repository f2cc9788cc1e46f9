// Smooths the rows of an image with their neighbours in shared memory. Planted: the tile has no room for the right border, so that it
// is stored over the first weights. Fixed: the tile has two more elements.
#include <cstdio>
#include <vector>

constexpr int width = 128;
#ifdef CURED
constexpr int tile_size = width + 2;
#else
constexpr int tile_size = width + 1;
#endif

__global__ void smooth(const float *image, float *smoothed, int n) {
    __shared__ float tile[tile_size];
    __shared__ float weights[3];
    int lane = threadIdx.x, i = blockIdx.x * width + lane;
    if (lane < 3) weights[lane] = lane == 1 ? 0.5f : 0.25f;
    __syncthreads();
    tile[lane + 1] = image[i];
    if (lane == 0) tile[0] = i > 0 ? image[i - 1] : 0;
    if (lane == width - 1) tile[lane + 2] = i + 1 < n ? image[i + 1] : 0; // PLANTED
    __syncthreads();
    smoothed[i] = weights[0] * tile[lane] + weights[1] * tile[lane + 1] + weights[2] * tile[lane + 2]; // PLANTED
}

int main() {
    const int n = 1 << 16;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i % 32;
    float *image, *smoothed;
    cudaMalloc(&image, n * sizeof(float));
    cudaMalloc(&smoothed, n * sizeof(float));
    cudaMemcpy(image, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    smooth<<<n / width, width>>>(image, smoothed, n);
    cudaMemcpy(host.data(), smoothed, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[width - 1]);
    cudaFree(image);
    cudaFree(smoothed);
}
