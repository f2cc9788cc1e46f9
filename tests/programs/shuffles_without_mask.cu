// Warp intrinsics of before Volta, without a mask, as old programs have them: whoever runs one takes part in it.
#include "test.h"

__global__ void reduce(const int *in, int *sums, float *firsts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    for (int distance = warpSize / 2; distance > 0; distance /= 2) sum += __shfl_down(sum, distance);
    float value = 0.5f * i;
    value = __shfl(value, 3);
    if (threadIdx.x % warpSize == 0) {
        sums[i / warpSize] = sum;
        firsts[i / warpSize] = value;
    }
}

__global__ void exchange(int *pairs, int *before, unsigned *votes)
{
    const int lane = threadIdx.x % warpSize;
    pairs[threadIdx.x] = __shfl_xor(lane, 1);
    // Within groups of eight lanes.
    before[threadIdx.x] = __shfl_up(lane, 2, 8);
    if (lane >= 16) votes[threadIdx.x] = __ballot(lane % 2) | (__any(lane == 31) ? 1u : 0u) | (__all(lane > 20) ? 2u : 0u);
}

int main()
{
    const int n = 100, threads = 128;
    std::vector<int> numbers(n);
    for (int i = 0; i < n; ++i) numbers[i] = i;
    Device<int> in(numbers), sums(threads / 32), pairs(64), before(64);
    Device<float> firsts(threads / 32);
    Device<unsigned> votes(64);
    reduce<<<1, threads>>>(in, sums, firsts, n);
    const std::vector<int> want = {496, 1520, 2544, 96 + 97 + 98 + 99};
    auto found = sums.read();
    for (int warp = 0; warp < threads / 32; ++warp) {
        expect_equal("sum of a warp", found[warp], want[warp]);
        expect_equal("value of lane 3", firsts.read()[warp], 0.5f * (warp * 32 + 3));
    }
    exchange<<<1, 64>>>(pairs, before, votes);
    auto exchanged = pairs.read(), shifted = before.read();
    auto voted = votes.read();
    for (int i = 0; i < 64; ++i) {
        const int lane = i % 32;
        expect_equal("lane of the pair", exchanged[i], lane ^ 1);
        expect_equal("lane of two before", shifted[i], lane % 8 < 2 ? lane : lane - 2);
        if (lane >= 16) expect_equal("votes", voted[i], 0xaaaa0001u);
    }
    return done("shuffles_without_mask");
}
