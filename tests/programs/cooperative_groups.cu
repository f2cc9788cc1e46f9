// flags: -std=c++17
// Cooperative groups: blocks, tiles of several sizes, coalesced threads, reductions by shuffle.
#include "test.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <typename Group>
__device__ int sum_over(Group group, int value)
{
    for (int distance = group.size() / 2; distance > 0; distance /= 2) {
        value += group.shfl_down(value, distance);
    }
    return group.shfl(value, 0);
}

__global__ void tiles(int *out)
{
    __shared__ int shared[128];
    cg::thread_block block = cg::this_thread_block();
    int i = block.thread_rank();
    shared[i] = i * i;
    block.sync();
    int value = shared[block.size() - 1 - i];
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    out[i] = sum_over(warp, value);
    out[128 + i] = sum_over(eight, value);
    out[256 + i] = eight.thread_rank() + 100 * eight.meta_group_rank();
    out[384 + i] = eight.any(value % 7 == 0) + 10 * warp.all(value >= 0);
    warp.sync();
}

__global__ void gather(const int *in, int *out, int *count)
{
    int value = in[threadIdx.x];
    if (value % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0) {
            base = atomicAdd(count, active.size());
        }
        base = active.shfl(base, 0);
        out[base + active.thread_rank()] = value;
    }
}

int main()
{
    Device<int> out(512);
    tiles<<<1, 128>>>(out);
    std::vector<int> want(512);
    auto square = [](int i) { return (127 - i) * (127 - i); };
    for (int i = 0; i < 128; ++i) {
        bool any = false;
        for (int j = 0; j < 32; ++j) {
            want[i] += square(i / 32 * 32 + j);
        }
        for (int j = 0; j < 8; ++j) {
            want[128 + i] += square(i / 8 * 8 + j);
            any |= square(i / 8 * 8 + j) % 7 == 0;
        }
        want[256 + i] = i % 8 + 100 * (i % 32 / 8);
        want[384 + i] = any + 10;
    }
    expect_equal("tiles", out.read(), want);

    std::vector<int> in(64), multiples;
    for (int i = 0; i < 64; ++i) {
        in[i] = i * 5 % 64;
        if (in[i] % 3 == 0) {
            multiples.push_back(in[i]);
        }
    }
    Device<int> d_in(in), gathered(multiples.size()), count(1);
    gather<<<1, 64>>>(d_in, gathered, count);
    std::vector<int> got = gathered.read();
    std::sort(got.begin(), got.end());
    std::sort(multiples.begin(), multiples.end());
    expect_equal("gathered", got, multiples);
    return done("cooperative_groups");
}
