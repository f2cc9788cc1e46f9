// Accesses that the machine code of a GPU has, and no others: ptxas keeps small local arrays in registers, and atomic
// operations on the two sides of a branch are two. Each line states its requests, lanes and sectors.
#include "test.h"

// 16 bytes: ptxas compares the index instead.
__global__ void small_array(float *out, const float *in, int turn)
{
    float held[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        held[k] = in[k * 32 + threadIdx.x]; // sites load 1 32 4, load 1 32 4, load 1 32 4, load 1 32 4
    }
    out[threadIdx.x] = held[turn & 3]; // sites store 1 32 4
}

// 256 bytes: too many for registers.
__global__ void large_array(float *out, const float *in, int turn)
{
    float held[64];
#pragma unroll 1
    for (int k = 0; k < 64; ++k) {
        held[k] = in[k]; // sites load 64 2048 64, store 64 2048 256
    }
    out[threadIdx.x] = held[turn & 63]; // sites load 1 32 4, store 1 32 4
}

// The reduction of large arguments has an array of its own.
__global__ void sine(float *out, const float *in)
{
    out[threadIdx.x] = sinf(in[threadIdx.x] * 1e6f); // sites load 1 32 4, load 6 192 6, store 1 32 4
}

// More work than LLVM unrolls by default; nvcc does.
__global__ void unrolled(unsigned *out, unsigned one, unsigned two)
{
    unsigned cells[16], costs[16];
    for (int k = 0; k < 16; ++k) {
        cells[k] = k * threadIdx.x;
        costs[k] = k + threadIdx.x;
    }
    unsigned last = 3, late = 0, least = ~0u;
    for (int k = 1; k + 1 < 16; ++k) {
        unsigned found = min(cells[k] - last, two);
        found = min(found, cells[k - 1] - last + one);
        found = min(found, cells[k + 1] - last + one);
        cells[k - 1] = late;
        late = __byte_perm(found, costs[k], 0x5140) ^ (found * costs[k] + (found >> 3)) ^ (costs[k] << 2);
        late = min(late * late + costs[k], max(late >> 5, two ^ costs[k - 1])) - last;
        late ^= (late << 7) + __popc(late) * (costs[k + 1] | 1);
        late += __clz(late ^ costs[k - 1]) * (late >> 11) + (late & costs[k + 1]);
        late = late * 0x9e3779b9 + (late >> 15) * costs[k] + (found << 3);
        least = min(least, late);
    }
    out[threadIdx.x] = least; // sites store 1 32 4
    out[32 + threadIdx.x] = cells[3] ^ cells[9]; // sites store 1 32 4
}

__global__ void sides(int *sum)
{
    if (threadIdx.x & 1) atomicAdd(sum, 1); // sites atomic 1 16 1
    else { __threadfence_block(); atomicAdd(sum, 2); } // sites atomic 1 16 1
}

int main()
{
    Device<float> in(256), out(64);
    Device<unsigned> least(64);
    Device<int> sum(1);
    CHECK(cudaMemset(in, 0x4f, 256 * sizeof(float)));
    CHECK(cudaMemset(sum, 0, sizeof(int)));
    small_array<<<1, 32>>>(out, in, 2);
    large_array<<<1, 32>>>(out, in, 5);
    sine<<<1, 32>>>(out, in);
    unrolled<<<1, 32>>>(least, 1, 2);
    sides<<<1, 32>>>(sum);
    CHECK(cudaDeviceSynchronize());
    expect_equal("sum", sum.read(), {48});
    return done("gpu_accesses");
}
