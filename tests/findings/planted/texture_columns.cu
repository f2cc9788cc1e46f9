// Sums of the columns' neighbourhoods in an image that is fetched through a texture: consecutive threads fetch a column.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int WIDTH = 640, HEIGHT = 384, REACH = 2;

__global__ void blur_down(cudaTextureObject_t image, float *blurred) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, second = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef CURED
    int column = first, row = second;
#else
    int row = first, column = second;
#endif
    if (column >= WIDTH || row >= HEIGHT) return;
    float sum = 0.0f;
    for (int step = -REACH; step <= REACH; step++)
        sum += tex2D<float>(image, column + 0.5f, row + step + 0.5f); // PLANTED
    blurred[row * WIDTH + column] = sum / (2 * REACH + 1);
}

int main() {
    std::vector<float> pixels(WIDTH * HEIGHT);
    for (size_t at = 0; at < pixels.size(); at++) pixels[at] = at % 17;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t picture;
    cudaMallocArray(&picture, &format, WIDTH, HEIGHT);
    size_t bytes = WIDTH * sizeof(float);
    cudaMemcpy2DToArray(picture, 0, 0, pixels.data(), bytes, bytes, HEIGHT, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = picture;
    cudaTextureDesc reading = {};
    reading.addressMode[0] = reading.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t image;
    cudaCreateTextureObject(&image, &resource, &reading, nullptr);
    float *blurred;
    cudaMalloc(&blurred, pixels.size() * sizeof(float));
#ifdef CURED
    dim3 grid(WIDTH / 32, HEIGHT / 8);
#else
    dim3 grid(HEIGHT / 32, WIDTH / 8);
#endif
    blur_down<<<grid, dim3(32, 8)>>>(image, blurred);
    cudaMemcpy(pixels.data(), blurred, pixels.size() * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%.3f\n", pixels[WIDTH + 1]);
    cudaDestroyTextureObject(image);
    cudaFree(blurred);
    cudaFreeArray(picture);
}
