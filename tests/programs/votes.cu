// Votes, match, the active mask and warp barriers, in converged and in divergent code.
#include "test.h"

__global__ void converged(const int *values, unsigned *results)
{
    int lane = threadIdx.x % 32;
    int value = values[threadIdx.x];
    unsigned *mine = results + 8 * threadIdx.x;
    unsigned live = __activemask();
    mine[0] = __any_sync(live, value == 5);
    mine[1] = __all_sync(live, value >= 0);
    mine[2] = __ballot_sync(live, value % 2 == 1);
    mine[3] = live;
    mine[4] = __match_any_sync(live, value);
    int same = 7;
    mine[5] = __match_all_sync(live, value >> 8, &same);
    mine[6] = same;
    mine[7] = __match_any_sync(live, (static_cast<unsigned long long>(value & 1) << 40) | (lane & 4));
}

__global__ void divergent(unsigned *results)
{
    unsigned lane = threadIdx.x;
    unsigned odd = 0xaaaaaaaau;
    if (lane & 1) {
        results[lane] = __ballot_sync(odd, lane > 10);
        results[32 + lane] = __all_sync(odd, lane & 1);
        if (lane & 2) {
            results[64 + lane] = __activemask();
        } else {
            results[64 + lane] = __match_any_sync(0x22222222u, lane & 16);
        }
    } else {
        results[lane] = __any_sync(~odd, lane == 31);
        results[32 + lane] = __popc(__activemask());
        results[64 + lane] = 1;
    }
    __syncwarp();
    results[96 + lane] = __ballot_sync(0xffffffffu, true);
}

// One lane writes, the others read after the warp barrier.
__global__ void handed_over(int *results)
{
    __shared__ int box[4];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int sum = 0;
    for (int round = 0; round < 32; ++round) {
        if (lane == round) {
            box[warp] = 100 * warp + round;
        }
        __syncwarp();
        sum += box[warp];
        __syncwarp();
    }
    results[threadIdx.x] = sum;
}

// The leader of each group of equal keys adds for its group.
__global__ void aggregated(const int *keys, int *counts)
{
    int key = keys[threadIdx.x];
    unsigned group = __match_any_sync(0xffffffffu, key);
    if (static_cast<unsigned>(__ffs(group) - 1) == threadIdx.x % 32) {
        atomicAdd(&counts[key], __popc(group));
    }
}

int main()
{
    const int threads = 77;
    for (int kind = 0; kind < 3; ++kind) {
        std::vector<int> values(threads);
        for (int i = 0; i < threads; ++i) {
            values[i] = kind == 0 ? i % 7 : kind == 1 ? 256 + i % 3 : (i * 9) % 600;
        }
        Device<int> d_values(values);
        Device<unsigned> results(8 * threads);
        converged<<<1, threads>>>(d_values, results);
        std::vector<unsigned> want(8 * threads);
        for (int i = 0; i < threads; ++i) {
            int first = i / 32 * 32, last = std::min(first + 32, threads);
            unsigned any = 0, all = 1, ballot = 0, live = 0, match = 0, match64 = 0, same = 1;
            for (int j = first; j < last; ++j) {
                unsigned bit = 1u << (j - first);
                live |= bit;
                any |= values[j] == 5;
                all &= values[j] >= 0;
                ballot |= values[j] % 2 == 1 ? bit : 0;
                match |= values[j] == values[i] ? bit : 0;
                same &= values[j] >> 8 == values[first] >> 8;
                match64 |= ((values[j] ^ values[i]) & 1) == 0 && (((j % 32) ^ (i % 32)) & 4) == 0 ? bit : 0;
            }
            unsigned mine[8] = {any, all, ballot, live, match, same ? live : 0, same, match64};
            std::copy(mine, mine + 8, want.begin() + 8 * i);
        }
        expect_equal("converged", results.read(), want);
    }

    Device<unsigned> results(128);
    divergent<<<1, 32>>>(results);
    std::vector<unsigned> want(128);
    for (unsigned lane = 0; lane < 32; ++lane) {
        bool odd = lane & 1;
        want[lane] = odd ? 0xaaaaaaaau & 0xfffff800u : 0;
        want[32 + lane] = odd ? 1 : 16;
        want[64 + lane] = !odd ? 1 : lane & 2 ? 0x88888888u : lane & 16 ? 0x22220000u : 0x2222u;
        want[96 + lane] = 0xffffffffu;
    }
    expect_equal("divergent", results.read(), want);

    Device<int> sums(128);
    handed_over<<<1, 128>>>(sums);
    std::vector<int> want_sums(128);
    for (int i = 0; i < 128; ++i) {
        want_sums[i] = 32 * 100 * (i / 32) + 31 * 16;
    }
    expect_equal("__syncwarp", sums.read(), want_sums);

    std::vector<int> keys(256), want_counts(10, 0);
    for (int i = 0; i < 256; ++i) {
        keys[i] = (i * i) % 10;
        ++want_counts[keys[i]];
    }
    Device<int> d_keys(keys), counts(10);
    aggregated<<<1, 256>>>(d_keys, counts);
    expect_equal("aggregated", counts.read(), want_counts);
    return done("votes");
}
