// flags: -std=c++17 -arch=sm_80
// Cooperative launches: barriers of the whole grid, as many blocks as fit and one more, and a barrier by hand that turns
// its sense around.
#include "test.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each round every cell takes its left neighbour's value; blocks read what others wrote in the round before.
__global__ void rotate(int *from, int *to, int count, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < rounds; ++round) {
        for (int i = grid.thread_rank(); i < count; i += grid.size()) {
            to[i] = from[(i + count - 1) % count] + 1;
        }
        grid.sync();
        int *swap = from;
        from = to;
        to = swap;
    }
}

// Work between arriving and waiting; a grid and blocks of two dimensions, and blocks that are no multiple of a warp.
__global__ void split_barrier(int *arrived, int *seen)
{
    cg::grid_group grid = cg::this_grid();
    int rank = grid.thread_rank();
    atomicAdd(arrived, 1);
    auto token = grid.barrier_arrive();
    seen[rank] = rank;
    grid.barrier_wait(std::move(token));
    seen[rank] += *static_cast<volatile int *>(arrived);
}

__global__ void is_cooperative(int *valid) { *valid = cg::this_grid().is_valid(); }

// All blocks but the last to arrive wait until the sense turns.
__device__ void wait_for_all(int *count, volatile int *sense, int *mine)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        *mine = 1 - *mine;
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            *count = 0;
            __threadfence();
            *sense = *mine;
        } else {
            while (*sense != *mine) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void by_hand(int *count, int *sense, int *sums, int rounds)
{
    __shared__ int mine;
    if (threadIdx.x == 0) {
        mine = 0;
    }
    for (int round = 1; round <= rounds; ++round) {
        atomicAdd(&sums[round], threadIdx.x + blockIdx.x);
        wait_for_all(count, sense, &mine);
        if (blockIdx.x == round % gridDim.x && threadIdx.x == 0) {
            sums[round] += sums[round - 1];
        }
        wait_for_all(count, sense, &mine);
    }
}

template <typename... Parameters>
cudaError_t cooperative(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::common_type_t<Parameters>... values)
{
    void *arguments[] = {&values...};
    return cudaLaunchCooperativeKernel(reinterpret_cast<void *>(kernel), grid, block, arguments, 0, nullptr);
}

int main()
{
    int supported = 0, sms = 0, resident = 0;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(supported == 1);
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, rotate, 128, 0));

    const int count = 1000, rounds = 5;
    std::vector<int> start(count), want(count);
    for (int i = 0; i < count; ++i) {
        start[i] = i * i % 977;
        want[(i + rounds) % count] = start[i] + rounds;
    }
    for (int blocks : {1, 7, sms * resident}) {
        Device<int> from(start), to(count);
        CHECK(cooperative(rotate, blocks, 128, from, to, count, rounds));
        expect_equal("rotated", to.read(), want);
    }
    Device<int> unused(count);
    EXPECT_ERROR(cooperative(rotate, sms * resident + 1, 128, unused, unused, count, rounds),
                 cudaErrorCooperativeLaunchTooLarge);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);

    const int threads = 3 * 2 * 11 * 5;
    Device<int> arrived(1), seen(threads);
    CHECK(cooperative(split_barrier, dim3(3, 2), dim3(11, 5), arrived, seen));
    std::vector<int> want_seen(threads);
    for (int i = 0; i < threads; ++i) {
        want_seen[i] = i + threads;
    }
    expect_equal("seen", seen.read(), want_seen);

    Device<int> valid(1);
    CHECK(cooperative(is_cooperative, 1, 1, valid));
    expect_equal("valid", valid.read()[0], 1);
    is_cooperative<<<1, 1>>>(valid);
    expect_equal("valid", valid.read()[0], 0);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, is_cooperative, static_cast<int *>(valid)));
    expect_equal("valid", valid.read()[0], 1);

    const int blocks = 12, width = 50;
    Device<int> entered(1), sense(1), sums(rounds + 1);
    by_hand<<<blocks, width>>>(entered, sense, sums, rounds);
    std::vector<int> want_sums(rounds + 1);
    for (int round = 1; round <= rounds; ++round) {
        want_sums[round] = want_sums[round - 1] + blocks * width * (width - 1) / 2 + width * blocks * (blocks - 1) / 2;
    }
    expect_equal("sums", sums.read(), want_sums);
    return done("grid_sync");
}
