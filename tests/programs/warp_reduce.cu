// flags: -arch=sm_80
// The warp-wide reductions of compute capability 8.0; such a program finds a GPU of that kind, also without `warpline run`.
#include "test.h"

__global__ void reduce(const int *values, int *results)
{
    int lane = threadIdx.x;
    int value = values[lane];
    results[lane] = __reduce_add_sync(0xffffffffu, value);
    results[32 + lane] = __reduce_min_sync(0xffffffffu, value);
    results[64 + lane] = __reduce_max_sync(0xffffffffu, value);
    unsigned bits = static_cast<unsigned>(value);
    results[96 + lane] = static_cast<int>(__reduce_max_sync(0xffffffffu, bits));
    results[128 + lane] = static_cast<int>(__reduce_and_sync(0xffffffffu, bits | 0xf0));
    results[160 + lane] = static_cast<int>(__reduce_or_sync(0xffffffffu, bits & 0xfff));
    results[192 + lane] = static_cast<int>(__reduce_xor_sync(0xffffffffu, bits));
    if (lane % 4 == 1) {
        results[224 + lane] = __reduce_add_sync(0x22222222u, value);
    }
    // Tiles of eight lanes, of which one runs in part.
    unsigned tile = 0xffu << (lane & ~7);
    results[256 + lane] = __reduce_add_sync(tile, value);
    if (lane < 12) {
        results[288 + lane] = __reduce_min_sync(lane < 8 ? 0xffu : 0xf00u, value);
    }
}

// More shared memory than an older GPU has.
constexpr int LARGE = 100 * 1024;

__global__ void far_apart(int *result)
{
    extern __shared__ int room[];
    if (threadIdx.x == 0) {
        room[LARGE / 4 - 1] = 80;
        *result = room[LARGE / 4 - 1];
    }
}

static void finds_its_gpu()
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    expect_equal("capability", properties.major * 10 + properties.minor, 80);
    Device<int> result(1);
    CHECK(cudaFuncSetAttribute(far_apart, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE));
    far_apart<<<1, 32, LARGE>>>(result);
    expect_equal("large", result.read()[0], 80);
}

int main()
{
    finds_its_gpu();
    std::vector<int> values(32), want(320, 0);
    int add = 0, least = 1 << 30, most = -(1 << 30), some = 0;
    unsigned umost = 0, all = ~0u, any = 0, odd = 0;
    for (int i = 0; i < 32; ++i) {
        values[i] = (i * 37) % 101 - 40;
        unsigned bits = static_cast<unsigned>(values[i]);
        add += values[i];
        least = std::min(least, values[i]);
        most = std::max(most, values[i]);
        umost = std::max(umost, bits);
        all &= bits | 0xf0;
        any |= bits & 0xfff;
        odd ^= bits;
        some += i % 4 == 1 ? values[i] : 0;
    }
    const int sums[] = {add, least, most, int(umost), int(all), int(any), int(odd)};
    for (int i = 0; i < 7 * 32; ++i) {
        want[i] = sums[i / 32];
    }
    for (int lane = 1; lane < 32; lane += 4) {
        want[224 + lane] = some;
    }
    for (int lane = 0; lane < 32; ++lane) {
        int first = lane & ~7, least = values[first];
        for (int other = first; other < first + 8; ++other) {
            want[256 + lane] += values[other];
            least = other < 12 ? std::min(least, values[other]) : least;
        }
        want[288 + lane] = lane < 12 ? least : 0;
    }
    Device<int> d_values(values), results(320);
    reduce<<<1, 32>>>(d_values, results);
    expect_equal("reduce", results.read(), want);
    return done("warp_reduce");
}
