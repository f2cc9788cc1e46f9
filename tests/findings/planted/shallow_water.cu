// A wave equation whose walls the host sets. Planted: for that the whole field comes to the host in each step, and goes back. Fixed: a
// kernel sets the walls.
#include <cstdio>
#include <utility>
#include <vector>

const int width = 512, rows = 256;
const size_t bytes = sizeof(float) * width * rows;

__global__ void flow(const float *height, float *next) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1, at = y * width + x;
    if (x > 0 && x < width - 1)
        next[at] = height[at] + 0.1f * (height[at - 1] + height[at + 1] + height[at - width] + height[at + width] - 4 * height[at]);
}

__global__ void walls(float *height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    height[x] = height[width + x];
    height[(rows - 1) * width + x] = height[(rows - 2) * width + x];
}

int main() {
    std::vector<float> host(width * rows);
    for (size_t at = 0; at < host.size(); at++) host[at] = at % 7 * 0.1f;
    float *height, *next;
    cudaMalloc(&height, bytes);
    cudaMalloc(&next, bytes);
    cudaMemcpy(height, host.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(next, host.data(), bytes, cudaMemcpyHostToDevice);
    for (int step = 0; step < 6; step++) {
        flow<<<dim3(width / 128, rows - 2), 128>>>(height, next);
#ifdef CURED
        walls<<<width / 128, 128>>>(next);
#else
        cudaMemcpy(host.data(), next, bytes, cudaMemcpyDeviceToHost); // PLANTED
        for (int x = 0; x < width; x++) {
            host[x] = host[width + x];
            host[(rows - 1) * width + x] = host[(rows - 2) * width + x];
        }
        cudaMemcpy(next, host.data(), bytes, cudaMemcpyHostToDevice);
#endif
        std::swap(height, next);
    }
    cudaMemcpy(host.data(), height, bytes, cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[width + 5]);
}
