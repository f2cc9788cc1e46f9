// flags: -arch=sm_90 -std=c++17
// Clusters of thread blocks: as the kernel declares them and as the launch requests them, their barrier, ranks, and the
// shared memory of other blocks, through cooperative groups and in PTX.
#include "test.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) rotate(int *out)
{
    __shared__ int values[64];
    auto cluster = cg::this_cluster();
    values[threadIdx.x] = cluster.block_rank() * 100 + threadIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(values, (cluster.block_rank() + 1) % cluster.num_blocks());
    out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
    cluster.sync();
}

// A histogram whose bins are spread over the cluster: atomic operations on other blocks' shared memory.
__global__ void histogram(const int *in, int count, int *bins)
{
    extern __shared__ int mine[];
    auto cluster = cg::this_cluster();
    unsigned blocks = cluster.num_blocks();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) {
        mine[i] = 0;
    }
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int bin = in[i] % (16 * blocks);
        atomicAdd(cluster.map_shared_rank(mine, bin / 16) + bin % 16, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) {
        atomicAdd(bins + cluster.block_rank() * 16 + i, mine[i]);
    }
}

// Shapes in several dimensions.
__global__ void places(unsigned *out)
{
    auto cluster = cg::this_cluster();
    dim3 block = cluster.block_index(), size = cluster.dim_blocks();
    unsigned index, clusters;
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(index));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
    unsigned linear = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[linear] = cluster.block_rank() + 10 * block.x + 100 * block.y + 1000 * size.x + 10000 * size.y + 100000 * index +
                  1000000 * clusters;
}

// The same in PTX: stores to another block, a barrier without waiting at once, ranks of addresses.
__global__ void __cluster_dims__(2) stores(unsigned *out)
{
    __shared__ unsigned values[32];
    unsigned rank, place = (unsigned)__cvta_generic_to_shared(values + threadIdx.x), remote, whose, read;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    values[threadIdx.x] = 7;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(place), "r"(rank ^ 1));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(whose) : "r"(remote));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(blockIdx.x * 32 + threadIdx.x) : "memory");
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(read) : "r"(remote) : "memory");
    out[blockIdx.x * 32 + threadIdx.x] = values[threadIdx.x] * 1000 + read + 100000 * whose;
    cg::this_cluster().sync();
}

int main()
{
    Device<int> rotated(16 * 64);
    rotate<<<16, 64>>>(rotated);
    std::vector<int> want(16 * 64);
    for (int i = 0; i < 16 * 64; ++i) {
        want[i] = (i / 64 % 4 + 1) % 4 * 100 + 63 - i % 64;
    }
    expect_equal("rotate", rotated.read(), want);

    std::vector<int> in(5000), counts(16 * 8);
    for (int i = 0; i < 5000; ++i) {
        in[i] = i * 7 % 131;
        ++counts[in[i] % 128];
    }
    Device<int> d_in(in), bins(16 * 8);
    cudaLaunchConfig_t config{};
    cudaLaunchAttribute attribute;
    config.gridDim = 16;
    config.blockDim = 96;
    config.dynamicSmemBytes = 64;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {8, 1, 1};
    CHECK(cudaLaunchKernelEx(&config, histogram, (const int *)d_in, 5000, (int *)bins));
    expect_equal("histogram", bins.read(), counts);

    Device<unsigned> placed(6 * 4);
    config.gridDim = dim3(6, 4);
    config.blockDim = 1;
    attribute.val.clusterDim = {3, 2, 1};
    CHECK(cudaLaunchKernelEx(&config, places, (unsigned *)placed));
    std::vector<unsigned> expected(24);
    for (unsigned i = 0; i < 24; ++i) {
        unsigned x = i % 6 % 3, y = i / 6 % 2;
        expected[i] = x + 3 * y + 10 * x + 100 * y + 3000 + 20000 + 100000 * (i / 12) + 2000000;
    }
    expect_equal("places", placed.read(), expected);

    Device<unsigned> stored(4 * 32);
    stores<<<4, 32>>>(stored);
    std::vector<unsigned> crossed(4 * 32);
    for (unsigned i = 0; i < 4 * 32; ++i) {
        crossed[i] = (i ^ 32) * 1000 + i + 100000 * (i / 32 % 2 ^ 1);
    }
    expect_equal("stores", stored.read(), crossed);

    // Grids that are no multiple of the cluster, clusters that are too large, or others than the kernel is made for.
    attribute.val.clusterDim = {4, 1, 1};
    EXPECT_ERROR(cudaLaunchKernelEx(&config, places, (unsigned *)placed), cudaErrorInvalidClusterSize);
    attribute.val.clusterDim = {6, 4, 1};
    EXPECT_ERROR(cudaLaunchKernelEx(&config, places, (unsigned *)placed), cudaErrorInvalidClusterSize);
    return done("clusters");
}
