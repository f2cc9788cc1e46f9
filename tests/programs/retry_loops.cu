// Lanes that retry until the memory has what they wrote, as shared-memory histograms of old do, and lanes that wait for a lock.
#include "test.h"

__device__ int lock_word = 0;

template <bool SYNC>
__global__ void histogram(const unsigned *data, unsigned n, unsigned *out)
{
    __shared__ volatile unsigned bins[2][64];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, tag = lane << 27;
    for (unsigned i = lane; i < 64; i += 32) {
        bins[warp][i] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned d = data[i] & 63, c; // coalesced data
        do {
            c = tag | ((bins[warp][d] & 0x07ffffff) + 1);
            bins[warp][d] = c;
        } while (bins[warp][d] != c);
        if (SYNC) {
            __syncwarp();
        }
    }
    __syncthreads();
    atomicAdd(&out[threadIdx.x], (bins[0][threadIdx.x] & 0x07ffffff) + (bins[1][threadIdx.x] & 0x07ffffff));
}

__global__ void lock_in_rounds(const int *data, volatile int *sum, int rounds)
{
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        int x = data[round * 32 + threadIdx.x]; // coalesced before the lock
        while (atomicCAS(&lock_word, 0, 1) != 0) {
        }
        __threadfence();
        *sum = *sum + x;
        __threadfence();
        atomicExch(&lock_word, 0);
    }
}

__global__ void lock_once(const int *data, volatile int *sum, int *out, int who)
{
    if (threadIdx.x % 2 == who) {
        while (atomicCAS(&lock_word, 0, 1) != 0) {
        }
        __threadfence();
        *sum = *sum + 1;
        __threadfence();
        atomicExch(&lock_word, 0);
    }
    out[threadIdx.x] = data[threadIdx.x] + 1; // coalesced behind the lock
}

int main()
{
    const int n = 1 << 14;
    std::vector<unsigned> values(n), want(64);
    for (int i = 0; i < n; ++i) {
        // Every third block of values is all alike: lanes retry 32 times.
        values[i] = i / 256 % 3 == 0 ? 5 : (i * 7 + i / 64) % 61;
        ++want[values[i]];
    }
    Device<unsigned> data(values), bins(64), synchronised(64);
    histogram<false><<<4, 64>>>(data, n, bins);
    histogram<true><<<4, 64>>>(data, n, synchronised);
    expect_equal("histogram", bins.read(), want);
    expect_equal("histogram with __syncwarp", synchronised.read(), want);
    std::vector<int> numbers(256);
    for (int i = 0; i < 256; ++i) {
        numbers[i] = i;
    }
    Device<int> source(numbers), sum(1), out(32);
    lock_in_rounds<<<1, 32>>>(source, sum, 8);
    expect_equal("lock in a loop", sum.read()[0], 255 * 256 / 2);
    lock_once<<<1, 32>>>(source, sum, out, 1);
    expect_equal("lock of some", sum.read()[0], 255 * 256 / 2 + 16);
    expect_equal("behind the lock", out.read()[31], 32);
    return done("retry_loops");
}
