// Inclusive prefix sums and the total of an array of integers, with warp shuffles.
//
// Shows kernels whose communication goes through registers: shared memory only carries one value
// per warp. For n a multiple of 256, in b = n/256 blocks of 8 warps:
//   scan_blocks: n/32 loads and stores of 4 sectors; 8·b shared stores of one lane, b loads and b stores of
//                8 lanes, and a shared load by all warps of a block but the first (7·b, 1 word)
//   add_offsets: 8·(b − 1) loads and stores of 4 sectors; the offset: as many loads of 1 sector
//   reduce:      n/32 loads of 4 sectors, one atomic of one lane per block
// The sums of the blocks are themselves scanned by one block, 256 at a time.
//
// usage: scan [n = 262144]
#include "../common/common.h"

#include <algorithm>
#include <vector>

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ int scan_warp(int value)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = __shfl_up_sync(ALL_LANES, value, distance);
        if (lane >= distance) {
            value += other;
        }
    }
    return value;
}

// Inclusive scan over the block; every thread of the block must call it.
__device__ int scan_block(int value)
{
    __shared__ int warp_sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = scan_warp(value);
    __syncthreads();
    if (lane == 31) {
        warp_sums[warp] = value;
    }
    __syncthreads();
    if (warp == 0) {
        int sum = lane < WARPS ? warp_sums[lane] : 0;
        sum = scan_warp(sum);
        if (lane < WARPS) {
            warp_sums[lane] = sum;
        }
    }
    __syncthreads();
    if (warp > 0) {
        value += warp_sums[warp - 1];
    }
    return value;
}

__global__ void scan_blocks(const int *in, int *out, int *block_sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int value = scan_block(i < n ? in[i] : 0);
    if (i < n) {
        out[i] = value;
    }
    if (threadIdx.x == THREADS - 1) {
        block_sums[blockIdx.x] = value;
    }
}

__global__ void scan_sums(int *block_sums, int blocks)
{
    __shared__ int carry;
    if (threadIdx.x == 0) {
        carry = 0;
    }
    for (int start = 0; start < blocks; start += THREADS) {
        int i = start + threadIdx.x;
        int value = scan_block(i < blocks ? block_sums[i] : 0);
        int before = carry;
        __syncthreads();
        if (threadIdx.x == THREADS - 1) {
            carry = before + value;
        }
        if (i < blocks) {
            block_sums[i] = before + value;
        }
        __syncthreads();
    }
}

__global__ void add_offsets(int *out, const int *block_sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n) {
        int offset = block_sums[blockIdx.x - 1];
        out[i] += offset;
    }
}

__global__ void reduce(const int *in, int *total, int n)
{
    __shared__ int warp_sums[WARPS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    int value = i < n ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(ALL_LANES, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < WARPS ? warp_sums[threadIdx.x] : 0;
        for (int mask = WARPS / 2; mask > 0; mask /= 2) {
            value += __shfl_xor_sync(ALL_LANES, value, mask);
        }
        if (threadIdx.x == 0) {
            atomicAdd(total, value);
        }
    }
}

static bool run(int n)
{
    std::vector<int> in(n), expected(n);
    Random random(31);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = static_cast<int>(random.below(200)) - 100;
        expected[i] = sum += in[i];
    }

    int blocks = (n + THREADS - 1) / THREADS;
    int *d_in, *d_out, *d_block_sums, *d_total;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_block_sums, blocks * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_total, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_total, 0, sizeof(int)));

    scan_blocks<<<blocks, THREADS>>>(d_in, d_out, d_block_sums, n);
    scan_sums<<<1, THREADS>>>(d_block_sums, blocks);
    add_offsets<<<blocks, THREADS>>>(d_out, d_block_sums, n);
    reduce<<<blocks, THREADS>>>(d_in, d_total, n);
    CUDA_CHECK(cudaGetLastError());

    std::vector<int> out(n);
    int total = 0;
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost));
    for (int *pointer : {d_in, d_out, d_block_sums, d_total}) {
        CUDA_CHECK(cudaFree(pointer));
    }
    return all_equal("scan", out.data(), expected.data(), n) && all_equal("total", &total, &sum, 1);
}

int main(int argc, char **argv)
{
    return finish("scan", run(argument(argc, argv, 1, "n", 1 << 18)));
}
