// Shuffles of all four kinds, every width, 32- and 64-bit values, and with part of the lanes.
#include "test.h"

template <typename T>
__global__ void shuffle(const T *values, const int *arguments, T *results, int width)
{
    int lane = threadIdx.x;
    T value = values[lane];
    results[lane] = __shfl_sync(0xffffffffu, value, arguments[lane], width);
    results[32 + lane] = __shfl_up_sync(0xffffffffu, value, arguments[0] & 31, width);
    results[64 + lane] = __shfl_down_sync(0xffffffffu, value, arguments[0] & 31, width);
    results[96 + lane] = __shfl_xor_sync(0xffffffffu, value, arguments[0] & 31, width);
}

template <typename T>
static void test(const char *name)
{
    std::vector<T> values(32);
    for (int i = 0; i < 32; ++i) {
        values[i] = static_cast<T>(1.25 * i * i - 3 * i) + static_cast<T>(sizeof(T) == 8 ? 1e10 : 0);
    }
    for (int width = 1; width <= 32; width *= 2) {
        for (int distance = 0; distance < 32; distance += 1 + distance / 4) {
            std::vector<int> arguments(32);
            for (int i = 0; i < 32; ++i) {
                arguments[i] = i == 0 ? distance : (i * 13 + distance) % 40;
            }
            std::vector<T> want(128);
            for (int lane = 0; lane < 32; ++lane) {
                int first = lane / width * width, last = first + width - 1;
                want[lane] = values[first + arguments[lane] % width];
                want[32 + lane] = lane - distance >= first ? values[lane - distance] : values[lane];
                want[64 + lane] = lane + distance <= last ? values[lane + distance] : values[lane];
                // Reading from a later segment leaves the value; from an earlier one is allowed.
                want[96 + lane] = (lane ^ distance) <= last ? values[lane ^ distance] : values[lane];
            }
            Device<T> d_values(values), results(128);
            Device<int> d_arguments(arguments);
            shuffle<T><<<1, 32>>>(d_values, d_arguments, results, width);
            expect_equal(name, results.read(), want);
        }
    }
}

__global__ void constant_distances(int *results)
{
    int lane = threadIdx.x;
    int value = lane * lane;
    results[lane] = __shfl_down_sync(0xffffffffu, value, 1);
    results[32 + lane] = __shfl_up_sync(0xffffffffu, value, 4, 8);
    results[64 + lane] = __shfl_xor_sync(0xffffffffu, value, 16);
    results[96 + lane] = __shfl_sync(0xffffffffu, value, 7);
    results[128 + lane] = __shfl_sync(0xffffffffu, value, lane + 1, 16);
}

// Two halves of a warp shuffle apart from each other.
__global__ void divergent(int *results)
{
    int lane = threadIdx.x;
    int value = 100 + lane;
    if (lane % 2 == 0) {
        value = __shfl_xor_sync(0x55555555u, value, 2);
    } else {
        value = 1000 + __shfl_sync(0xaaaaaaaau, value, 31);
    }
    results[lane] = value;
}

// Sums over a partial warp: missing lanes are never read.
__global__ void partial_sum(int *result)
{
    int value = threadIdx.x + 1;
    unsigned mask = (1u << blockDim.x) - 1;
    int sum = 0;
    for (int source = 0; source < static_cast<int>(blockDim.x); ++source) {
        sum += __shfl_sync(mask, value, source);
    }
    result[threadIdx.x] = sum;
}

int main()
{
    test<int>("int");
    test<unsigned>("unsigned");
    test<float>("float");
    test<long long>("long long");
    test<unsigned long long>("unsigned long long");
    test<double>("double");

    Device<int> results(160);
    constant_distances<<<1, 32>>>(results);
    std::vector<int> want(160);
    for (int lane = 0; lane < 32; ++lane) {
        auto square = [](int i) { return i * i; };
        want[lane] = square(lane < 31 ? lane + 1 : lane);
        want[32 + lane] = square(lane % 8 >= 4 ? lane - 4 : lane);
        want[64 + lane] = square(lane ^ 16);
        want[96 + lane] = 49;
        want[128 + lane] = square(lane / 16 * 16 + (lane + 1) % 16);
    }
    expect_equal("constant distance", results.read(), want);

    Device<int> halves(32);
    divergent<<<1, 32>>>(halves);
    want.assign(32, 0);
    for (int lane = 0; lane < 32; ++lane) {
        want[lane] = lane % 2 == 0 ? 100 + (lane ^ 2) : 1131;
    }
    expect_equal("divergent", halves.read(), want);

    Device<int> sums(13);
    partial_sum<<<1, 13>>>(sums);
    expect_equal("partial", sums.read(), std::vector<int>(13, 13 * 14 / 2));
    return done("shuffles");
}
