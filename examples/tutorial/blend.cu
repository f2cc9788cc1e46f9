#include "blend.h"

__global__ void blend(float *image, const float *layer, int width, int height, float opacity) {
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width && y < height) {
        int pixel = y * width + x;
        image[pixel] = (1 - opacity) * image[pixel] + opacity * layer[pixel];
    }
}

void launch_blend(float *image, const float *layer, int width, int height, float opacity) {
    dim3 block(32, 8);
    dim3 grid((height + block.x - 1) / block.x, (width + block.y - 1) / block.y);
    blend<<<grid, block>>>(image, layer, width, height, opacity);
}
