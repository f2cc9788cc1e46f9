// flags: -arch=sm_80 -std=c++17
// `cuda::barrier` and `cuda::pipeline` of a block, in shared memory: arrival, tokens, asynchronous copies, two stages.
#include "test.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int THREADS = 128;

// Each thread reads what another one wrote before the barrier, phase after phase.
__global__ void phases(int *out, int rounds)
{
    __shared__ Barrier barrier;
    __shared__ int values[THREADS];
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
    }
    __syncthreads();
    int value = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        values[threadIdx.x] = value;
        Barrier::arrival_token token = barrier.arrive();
        barrier.wait(std::move(token));
        value += values[(threadIdx.x + 33) % THREADS];
        barrier.arrive_and_wait();
    }
    out[threadIdx.x] = value;
}

__global__ void copied(const int *in, int *out)
{
    __shared__ Barrier barrier;
    __shared__ int tile[THREADS];
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0) {
        init(&barrier, block.size());
    }
    block.sync();
    cuda::memcpy_async(block, tile, in, sizeof tile, barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

__global__ void staged(const int *in, int *out, int tiles)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int stage[2][THREADS];
    auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int fetched = 0, used = 0; used < tiles; ++used) {
        for (; fetched < tiles && fetched < used + 2; ++fetched) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % 2], in + fetched * THREADS, sizeof stage[0], pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += stage[used % 2][(threadIdx.x + used) % THREADS];
        pipeline.consumer_release();
    }
    out[threadIdx.x] = sum;
}

int main()
{
    Device<int> out(THREADS);
    phases<<<1, THREADS>>>(out, 5);
    std::vector<int> values(THREADS);
    for (int i = 0; i < THREADS; ++i) {
        values[i] = i;
    }
    for (int round = 0; round < 5; ++round) {
        std::vector<int> before = values;
        for (int i = 0; i < THREADS; ++i) {
            values[i] += before[(i + 33) % THREADS];
        }
    }
    expect_equal("phases", out.read(), values);

    const int tiles = 7;
    std::vector<int> data(tiles * THREADS), want(THREADS), sums(THREADS, 0);
    for (int i = 0; i < tiles * THREADS; ++i) {
        data[i] = i * 37 % 1009;
    }
    for (int i = 0; i < THREADS; ++i) {
        want[i] = data[THREADS - 1 - i];
        for (int tile = 0; tile < tiles; ++tile) {
            sums[i] += data[tile * THREADS + (i + tile) % THREADS];
        }
    }
    Device<int> in(data);
    copied<<<1, THREADS>>>(in, out);
    expect_equal("copied", out.read(), want);
    staged<<<1, THREADS>>>(in, out, tiles);
    expect_equal("staged", out.read(), sums);
    return done("block_barriers");
}
