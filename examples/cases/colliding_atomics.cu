// Counts how often each of 16 values occurs: all threads add to the same few counters in global memory. -DFIXED counts per block
// in shared memory first, with a copy of the counters for each warp. Read with docs/cases/colliding-atomics.md.
//
// usage: colliding_atomics [n = 1048576]
#include "../common/common.h"

#include <vector>

constexpr int BINS = 16;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

__global__ void count(const unsigned char *values, int n, unsigned *bins)
{
#ifdef FIXED
    __shared__ unsigned own[WARPS][BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += THREADS) {
        own[i / BINS][i % BINS] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        // Lanes with the same value add once, together.
        unsigned same = __match_any_sync(__activemask(), values[i]);
        if ((threadIdx.x & 31) == __ffs(same) - 1) {
            own[threadIdx.x / 32][values[i]] += __popc(same);
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
        for (int warp = 0; warp < WARPS; ++warp) {
            sum += own[warp][threadIdx.x];
        }
        atomicAdd(&bins[threadIdx.x], sum);
    }
#else
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        atomicAdd(&bins[values[i]], 1u);
    }
#endif
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 1 << 20);
    Random random(4);
    std::vector<unsigned char> values(n);
    std::vector<unsigned> wanted(BINS), bins(BINS);
    for (unsigned char &value : values) {
        value = static_cast<unsigned char>(random.below(BINS));
        ++wanted[value];
    }
    unsigned char *d_values;
    unsigned *d_bins;
    CUDA_CHECK(cudaMalloc(&d_values, n));
    CUDA_CHECK(cudaMalloc(&d_bins, BINS * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(d_values, values.data(), n, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_bins, 0, BINS * sizeof(unsigned)));
    count<<<136, THREADS>>>(d_values, n, d_bins);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(bins.data(), d_bins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_values));
    CUDA_CHECK(cudaFree(d_bins));
    return finish("colliding_atomics", all_equal("bins", bins.data(), wanted.data(), BINS));
}
