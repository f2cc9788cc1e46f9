// A convolution layer with a 3 × 3 filter, bias and ReLU: one thread per output pixel and channel,
// the input plane of the current channel in a shared tile with its rim.
//
// Shows weights that are the same for a warp, and a cooperative tile load whose last round leaves
// most lanes idle. Planes are padded with zeros. For h and w multiples of 16, with o output and c
// input channels and p = o·h·w/32 warps:
//   weights: p·c·9 loads of 1 sector; bias: p loads of 1 sector
//   output: p stores of 4 sectors (two half rows)
//   tile: 324 cells per block and channel, by 256 threads: two rounds, of 8 warps and of 3
//
// usage: convolution [input channels = 4] [output channels = 8] [size = 64]
#include "../common/common.h"

#include <vector>

constexpr int TILE = 16;
constexpr int SIDE = TILE + 2;

struct Layer {
    int inputs, outputs, height, width;
    const float *weights;
    const float *bias;
};

__global__ void convolve(Layer layer, const float *input, float *output)
{
    __shared__ float tile[SIDE][SIDE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int channel = blockIdx.z;
    bool inside = x < layer.width && y < layer.height;
    float sum = layer.bias[channel];
    for (int c = 0; c < layer.inputs; ++c) {
        for (int cell = threadIdx.y * TILE + threadIdx.x; cell < SIDE * SIDE; cell += TILE * TILE) {
            int tile_y = cell / SIDE, tile_x = cell % SIDE;
            int from_y = static_cast<int>(blockIdx.y * TILE) + tile_y - 1;
            int from_x = static_cast<int>(blockIdx.x * TILE) + tile_x - 1;
            bool known = from_y >= 0 && from_y < layer.height && from_x >= 0 && from_x < layer.width;
            tile[tile_y][tile_x] = known ? input[(c * layer.height + from_y) * layer.width + from_x] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int ky = 0; ky < 3; ++ky) {
#pragma unroll
            for (int kx = 0; kx < 3; ++kx) {
                float weight = layer.weights[((channel * layer.inputs + c) * 3 + ky) * 3 + kx];
                sum += weight * tile[threadIdx.y + ky][threadIdx.x + kx];
            }
        }
        __syncthreads();
    }
    if (inside) {
        output[(channel * layer.height + y) * layer.width + x] = fmaxf(sum, 0.0f);
    }
}

struct Tensors {
    std::vector<float> input, weights, bias, output;
};

static void convolve_on_device(Tensors &tensors, int inputs, int outputs, int size)
{
    auto bytes = [](const std::vector<float> &values) { return values.size() * sizeof(float); };
    float *d_input, *d_output, *d_weights, *d_bias;
    CUDA_CHECK(cudaMalloc(&d_input, bytes(tensors.input)));
    CUDA_CHECK(cudaMalloc(&d_output, bytes(tensors.output)));
    CUDA_CHECK(cudaMalloc(&d_weights, bytes(tensors.weights)));
    CUDA_CHECK(cudaMalloc(&d_bias, bytes(tensors.bias)));
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaMemcpyAsync(d_input, tensors.input.data(), bytes(tensors.input), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(
        cudaMemcpyAsync(d_weights, tensors.weights.data(), bytes(tensors.weights), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(d_bias, tensors.bias.data(), bytes(tensors.bias), cudaMemcpyHostToDevice, stream));

    Layer layer{inputs, outputs, size, size, d_weights, d_bias};
    dim3 block(TILE, TILE);
    dim3 grid((size + TILE - 1) / TILE, (size + TILE - 1) / TILE, outputs);
    convolve<<<grid, block, 0, stream>>>(layer, d_input, d_output);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(
        cudaMemcpyAsync(tensors.output.data(), d_output, bytes(tensors.output), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));
    for (float *pointer : {d_input, d_output, d_weights, d_bias}) {
        CUDA_CHECK(cudaFree(pointer));
    }
}

static std::vector<float> convolve_on_host(const Tensors &tensors, int inputs, int outputs, int size)
{
    std::vector<float> output(tensors.output.size());
    auto input = [&](int c, int y, int x) {
        bool known = y >= 0 && y < size && x >= 0 && x < size;
        return known ? tensors.input[(static_cast<size_t>(c) * size + y) * size + x] : 0.0f;
    };
    for (int o = 0; o < outputs; ++o) {
        for (int y = 0; y < size; ++y) {
            for (int x = 0; x < size; ++x) {
                float sum = tensors.bias[o];
                for (int c = 0; c < inputs; ++c) {
                    for (int k = 0; k < 9; ++k) {
                        sum += tensors.weights[(o * inputs + c) * 9 + k] * input(c, y + k / 3 - 1, x + k % 3 - 1);
                    }
                }
                output[(static_cast<size_t>(o) * size + y) * size + x] = sum > 0 ? sum : 0;
            }
        }
    }
    return output;
}

int main(int argc, char **argv)
{
    int inputs = argument(argc, argv, 1, "input channels", 4);
    int outputs = argument(argc, argv, 2, "output channels", 8);
    int size = argument(argc, argv, 3, "size", 64);
    Tensors tensors;
    Random random(55);
    auto fill = [&](std::vector<float> &values, size_t count) {
        values.resize(count);
        for (float &value : values) {
            value = random.uniform() - 0.5f;
        }
    };
    fill(tensors.input, static_cast<size_t>(inputs) * size * size);
    fill(tensors.weights, static_cast<size_t>(outputs) * inputs * 9);
    fill(tensors.bias, outputs);
    tensors.output.resize(static_cast<size_t>(outputs) * size * size);
    convolve_on_device(tensors, inputs, outputs, size);
    std::vector<float> expected = convolve_on_host(tensors, inputs, outputs, size);
    return finish("convolution", all_close("output", tensors.output.data(), expected.data(), expected.size()));
}
