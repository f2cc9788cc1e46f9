// Grids and blocks of one to three dimensions, odd sizes, partial warps, many blocks.
#include "test.h"

__global__ void record(uint32_t *thread, uint32_t *block, uint32_t *dims)
{
    unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned block_id = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned at = block_id * blockDim.x * blockDim.y * blockDim.z + in_block;
    thread[at] = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20;
    block[at] = blockIdx.x | blockIdx.y << 10 | blockIdx.z << 20;
    if (in_block == 0) {
        uint32_t *mine = dims + 6 * block_id;
        mine[0] = blockDim.x, mine[1] = blockDim.y, mine[2] = blockDim.z;
        mine[3] = gridDim.x, mine[4] = gridDim.y, mine[5] = gridDim.z;
    }
}

static void test(dim3 grid, dim3 block)
{
    size_t blocks = static_cast<size_t>(grid.x) * grid.y * grid.z;
    size_t threads = static_cast<size_t>(block.x) * block.y * block.z;
    Device<uint32_t> thread_ids(blocks * threads), block_ids(blocks * threads), dims(6 * blocks);
    record<<<grid, block>>>(thread_ids, block_ids, dims);
    std::vector<uint32_t> want_thread, want_block, want_dims;
    for (unsigned bz = 0; bz < grid.z; ++bz)
        for (unsigned by = 0; by < grid.y; ++by)
            for (unsigned bx = 0; bx < grid.x; ++bx) {
                for (unsigned value : {block.x, block.y, block.z, grid.x, grid.y, grid.z})
                    want_dims.push_back(value);
                for (unsigned z = 0; z < block.z; ++z)
                    for (unsigned y = 0; y < block.y; ++y)
                        for (unsigned x = 0; x < block.x; ++x) {
                            want_thread.push_back(x | y << 10 | z << 20);
                            want_block.push_back(bx | by << 10 | bz << 20);
                        }
            }
    std::printf("grid %u %u %u, block %u %u %u\n", grid.x, grid.y, grid.z, block.x, block.y, block.z);
    expect_equal("threadIdx", thread_ids.read(), want_thread);
    expect_equal("blockIdx", block_ids.read(), want_block);
    expect_equal("dimensions", dims.read(), want_dims);
}

__global__ void count_threads(unsigned long long *count)
{
    atomicAdd(count, 1ull);
}

__global__ void add_one(int *values, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        values[i] += i;
    }
}

int main()
{
    const dim3 shapes[][2] = {
        {{1}, {1}},          {{1}, {32}},         {{3}, {33}},          {{5}, {31}},        {{2}, {1024}},
        {{7}, {100}},        {{3, 2}, {16, 16}},  {{2, 3}, {8, 4}},     {{2, 2}, {5, 7}},   {{1, 4}, {48, 3}},
        {{2, 1, 3}, {4, 4, 4}}, {{2, 3, 4}, {3, 5, 7}}, {{1, 1, 2}, {1, 1, 64}}, {{3, 1, 1}, {1, 40, 2}},
        {{2, 2}, {64, 4}},   {{2, 1}, {17, 13}},  {{1, 2, 2}, {32, 2, 3}}, {{4}, {16, 3, 2}},
    };
    for (const auto &shape : shapes) {
        test(shape[0], shape[1]);
    }
    Device<unsigned long long> count(1);
    count_threads<<<dim3(1, 65535), 3>>>(count);
    count_threads<<<70000, 1>>>(count);
    expect_equal("threads", count.read()[0], 65535ull * 3 + 70000);

    const int n = 12345;
    for (int threads : {1, 7, 64, 96, 1000}) {
        Device<int> values(n);
        add_one<<<3, threads>>>(values, n);
        std::vector<int> want(n);
        for (int i = 0; i < n; ++i) {
            want[i] = i;
        }
        expect_equal("grid-stride loop", values.read(), want);
    }
    return done("grids");
}
