#include <cmath>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include "blend.h"

int main() {
    const int width = 1024, height = 1024;
    std::vector<float> image(width * height, 1), layer(width * height, 3);
    const size_t bytes = image.size() * sizeof(float);
    float *d_image, *d_layer;
    cudaMalloc((void **)&d_image, bytes);
    cudaMalloc((void **)&d_layer, bytes);
    cudaMemcpy(d_image, image.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_layer, layer.data(), bytes, cudaMemcpyHostToDevice);
    launch_blend(d_image, d_layer, width, height, 0.5f);
    cudaMemcpy(image.data(), d_image, bytes, cudaMemcpyDeviceToHost);
    for (float pixel : image) {
        if (std::fabs(pixel - 2) > 1e-6f) return std::puts("blend: wrong"), 1;
    }
    std::puts("blend: ok");
    cudaFree(d_image);
    cudaFree(d_layer);
}
