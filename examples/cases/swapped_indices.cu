// A 3 × 3 convolution layer, a thread per output pixel, with the axes of the thread index swapped: neighbouring threads are
// rows apart. -DFIXED gives threadIdx.x the columns. Read with docs/cases/swapped-indices.md; the case is that of "profiner".
//
// usage: swapped_indices [channels = 8] [size = 128]
#include "../common/common.h"

#include <vector>

constexpr int TILE = 16;

__global__ void convolve(const float *input, const float *weights, float *output, int channels, int size)
{
#ifdef FIXED
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
#else
    int x = blockIdx.x * TILE + threadIdx.y, y = blockIdx.y * TILE + threadIdx.x;
#endif
    float sum = 0;
    for (int c = 0; c < channels; ++c) {
        for (int k = 0; k < 9; ++k) {
            int from_y = y + k / 3 - 1, from_x = x + k % 3 - 1;
            if (from_y >= 0 && from_y < size && from_x >= 0 && from_x < size) {
                sum += weights[c * 9 + k] * input[(c * size + from_y) * size + from_x];
            }
        }
    }
    output[y * size + x] = sum;
}

static float expected(const std::vector<float> &input, const std::vector<float> &weights, int channels, int size, int y,
                      int x)
{
    float sum = 0;
    for (int c = 0; c < channels; ++c) {
        for (int k = 0; k < 9; ++k) {
            int from_y = y + k / 3 - 1, from_x = x + k % 3 - 1;
            if (from_y >= 0 && from_y < size && from_x >= 0 && from_x < size) {
                sum += weights[c * 9 + k] * input[(static_cast<size_t>(c) * size + from_y) * size + from_x];
            }
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int channels = argument(argc, argv, 1, "channels", 8);
    int size = argument(argc, argv, 2, "size", 128) / TILE * TILE;
    Random random(1);
    std::vector<float> input(static_cast<size_t>(channels) * size * size), weights(channels * 9);
    std::vector<float> output(static_cast<size_t>(size) * size);
    for (float &value : input) value = random.uniform();
    for (float &value : weights) value = random.uniform() - 0.5f;
    float *d_input, *d_weights, *d_output;
    CUDA_CHECK(cudaMalloc(&d_input, input.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_weights, weights.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_output, output.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_input, input.data(), input.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_weights, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
    convolve<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(d_input, d_weights, d_output, channels, size);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(output.data(), d_output, output.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float *pointer : {d_input, d_weights, d_output}) CUDA_CHECK(cudaFree(pointer));
    bool good = true;
    for (int y = 0; y < size; y += 7) {
        for (int x = 0; x < size; ++x) {
            float wanted = expected(input, weights, channels, size, y, x);
            good = good && all_close("output", &output[static_cast<size_t>(y) * size + x], &wanted, 1);
        }
    }
    return finish("swapped_indices", good);
}
