// Halves an image in both directions: once by texture, whose filter averages four texels in one fetch, once by hand.
//
// A fetch with linear filtering reads the four texels around its place, and the profile has a request for each of them:
// two rows, in each the even and the odd texels, 32 of them 8 bytes apart.
// For a width that is a multiple of 64 and an even height, of warps = width/64 · height/2:
//   texture: 4 · warps requests of 8 sectors (ideal 4)
//   by hand: 2 · warps requests of 8 sectors (ideal 8), 8 bytes per lane
//   result:  warps stores of 4 sectors each time
// By hand the pairs are read as float2, so the same sectors are requested half as often.
//
// usage: downscale [width = 512] [height = width]
#include "../common/common.h"

#include <vector>

__global__ void by_texture(cudaTextureObject_t image, float *small, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float mean = tex2D<float>(image, 2 * x + 1, 2 * y + 1);
        small[y * width + x] = mean;
    }
}

__global__ void by_hand(const float *image, float *small, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        const float2 *pairs = reinterpret_cast<const float2 *>(image) + 2 * y * width + x;
        float2 upper = pairs[0];
        float2 lower = pairs[width];
        small[y * width + x] = (upper.x + upper.y + lower.x + lower.y) / 4;
    }
}

static cudaTextureObject_t filtered(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    CUDA_CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    return texture;
}

int main(int argc, char **argv)
{
    int width = argument(argc, argv, 1, "width", 512, 2), height = argument(argc, argv, 2, "height", width, 2);
    int out_width = width / 2, out_height = height / 2;
    std::vector<float> image(static_cast<size_t>(width) * height), result(static_cast<size_t>(out_width) * out_height);
    Random random(7);
    for (float &value : image) {
        value = random.below(256);
    }
    std::vector<float> expected(result.size());
    for (int y = 0; y < out_height; ++y) {
        for (int x = 0; x < out_width; ++x) {
            const float *at = &image[static_cast<size_t>(2 * y) * width + 2 * x];
            expected[static_cast<size_t>(y) * out_width + x] = (at[0] + at[1] + at[width] + at[width + 1]) / 4;
        }
    }

    auto format = cudaCreateChannelDesc<float>();
    cudaArray_t d_array;
    float *d_image, *d_small;
    CUDA_CHECK(cudaMallocArray(&d_array, &format, width, height));
    CUDA_CHECK(cudaMalloc(&d_image, image.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_small, result.size() * sizeof(float)));
    size_t row = width * sizeof(float);
    CUDA_CHECK(cudaMemcpy2DToArray(d_array, 0, 0, image.data(), row, row, height, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_image, image.data(), row * height, cudaMemcpyHostToDevice));
    cudaTextureObject_t texture = filtered(d_array);

    bool right = true;
    dim3 block(32, 8), grid((out_width + 31) / 32, (out_height + 7) / 8);
    for (bool textured : {true, false}) {
        CUDA_CHECK(cudaMemset(d_small, 0, result.size() * sizeof(float)));
        if (textured) {
            by_texture<<<grid, block>>>(texture, d_small, out_width, out_height);
        } else {
            by_hand<<<grid, block>>>(d_image, d_small, out_width, out_height);
        }
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(result.data(), d_small, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
        // The weights are a quarter each and the texels whole numbers: nothing is rounded.
        right &= all_equal(textured ? "texture" : "hand", result.data(), expected.data(), result.size());
    }
    CUDA_CHECK(cudaDestroyTextureObject(texture));
    CUDA_CHECK(cudaFreeArray(d_array));
    CUDA_CHECK(cudaFree(d_image));
    CUDA_CHECK(cudaFree(d_small));
    return finish("downscale", right);
}
