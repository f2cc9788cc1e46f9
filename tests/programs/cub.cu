// flags: -O2 -std=c++17
// CUB: a selection by the whole device, whose blocks look back at those before them, and parts of a block's and a warp's.
#include "test.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/warp/warp_reduce.cuh>

struct IsOdd {
    __host__ __device__ bool operator()(int value) const { return value % 2 != 0; }
};

__global__ void in_blocks(const int *in, int *sums, int *scanned, int *largest)
{
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128>;
    using Warp = cub::WarpReduce<int>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
        typename Warp::TempStorage warps[4];
    } storage;
    int i = blockIdx.x * 128 + threadIdx.x, value = in[i];
    int sum = Reduce(storage.reduce).Sum(value);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(value, scanned[i]);
    __syncthreads();
    int warp = threadIdx.x / 32;
    int most = Warp(storage.warps[warp]).Reduce(value, [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x % 32 == 0) {
        largest[i / 32] = most;
    }
}

int main()
{
    constexpr int COUNT = 128 * 150;
    std::vector<int> numbers(COUNT), odd, sums(COUNT / 128), scanned(COUNT), largest(COUNT / 32);
    for (int i = 0; i < COUNT; ++i) {
        numbers[i] = static_cast<int>(i * 2654435761u >> 20);
        if (numbers[i] % 2 != 0) {
            odd.push_back(numbers[i]);
        }
        scanned[i] = sums[i / 128];
        sums[i / 128] += numbers[i];
        largest[i / 32] = std::max(largest[i / 32], numbers[i]);
    }
    Device<int> in(numbers), out(COUNT), selected(1), device_sums(COUNT / 128), device_scanned(COUNT), most(COUNT / 32);
    in_blocks<<<COUNT / 128, 128>>>(in, device_sums, device_scanned, most);
    expect_equal("sums of blocks", device_sums.read(), sums);
    expect_equal("sums within blocks", device_scanned.read(), scanned);
    expect_equal("largest of warps", most.read(), largest);

    size_t bytes = 0;
    CHECK(cub::DeviceSelect::If(nullptr, bytes, in.pointer, out.pointer, selected.pointer, COUNT, IsOdd()));
    Device<char> space(bytes);
    CHECK(cub::DeviceSelect::If(space.pointer, bytes, in.pointer, out.pointer, selected.pointer, COUNT, IsOdd()));
    expect_equal("how many are odd", selected.read()[0], static_cast<int>(odd.size()));
    std::vector<int> found = out.read();
    found.resize(odd.size());
    expect_equal("odd numbers", found, odd);
    return done("cub");
}
