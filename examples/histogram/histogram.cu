// Histogram of bytes: each block counts in shared memory and adds its counts to the result.
//
// Shows atomics on shared and on global memory. For n bytes, a multiple of 128·blocks, and b blocks
// of 256 threads, four bytes read at a time:
//   data: n/128 loads of 4 sectors
//   shared atomics: n/32 requests of 32 lanes (how many lanes share a bin depends on the data)
//   clearing and merging: 8·b shared stores, 8·b shared loads, and global atomics of 4 sectors for
//   the warps that have counts to add: 8·b requests and 256·b lanes when no bin is empty
//
// usage: histogram [n = 1048576] [blocks = 32]
#include "../common/common.h"

#include <vector>

constexpr int BINS = 256;
constexpr int THREADS = 256;

__global__ void count_bytes(const unsigned int *data, int words, unsigned int *histogram)
{
    __shared__ unsigned int counts[BINS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        unsigned int word = data[i];
        atomicAdd(&counts[word & 255], 1u);
        atomicAdd(&counts[word >> 8 & 255], 1u);
        atomicAdd(&counts[word >> 16 & 255], 1u);
        atomicAdd(&counts[word >> 24], 1u);
    }
    __syncthreads();
    unsigned int count = counts[threadIdx.x];
    if (count > 0) {
        atomicAdd(&histogram[threadIdx.x], count);
    }
}

static std::vector<unsigned int> count_on_device(const std::vector<unsigned char> &data, int blocks)
{
    unsigned int *d_data, *d_histogram;
    CUDA_CHECK(cudaMalloc(&d_data, data.size()));
    CUDA_CHECK(cudaMalloc(&d_histogram, BINS * sizeof(unsigned int)));
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), data.size(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_histogram, 0, BINS * sizeof(unsigned int)));

    Timer timer;
    count_bytes<<<blocks, THREADS>>>(d_data, static_cast<int>(data.size() / 4), d_histogram);
    CUDA_CHECK(cudaGetLastError());
    std::printf("%zu bytes in %.3f ms\n", data.size(), timer.stop());

    std::vector<unsigned int> histogram(BINS);
    CUDA_CHECK(cudaMemcpy(histogram.data(), d_histogram, BINS * sizeof(unsigned int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_histogram));
    return histogram;
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 1 << 20, 4) / 4 * 4;
    int blocks = argument(argc, argv, 2, "blocks", 32);
    std::vector<unsigned char> data(n);
    std::vector<unsigned int> expected(BINS, 0);
    Random random(23);
    for (unsigned char &byte : data) {
        // The sum of two: small and large values are rare, as in a picture.
        byte = static_cast<unsigned char>(random.below(128) + random.below(129));
        ++expected[byte];
    }
    std::vector<unsigned int> histogram = count_on_device(data, blocks);
    return finish("histogram", all_equal("histogram", histogram.data(), expected.data(), BINS));
}
