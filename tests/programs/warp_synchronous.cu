// Code of before Volta: a reduction and a scan by one warp over volatile shared memory, without any
// barrier between the steps. It relies on the lanes of a warp going in step.
#include "test.h"

__global__ void reduce(const int *values, int *sums)
{
    __shared__ volatile int shared[256];
    unsigned thread = threadIdx.x;
    shared[thread] = values[blockIdx.x * 256 + thread];
    __syncthreads();
    if (thread < 128) {
        shared[thread] += shared[thread + 128];
    }
    __syncthreads();
    if (thread < 64) {
        shared[thread] += shared[thread + 64];
    }
    __syncthreads();
    if (thread < 32) {
        shared[thread] += shared[thread + 32];
        shared[thread] += shared[thread + 16];
        shared[thread] += shared[thread + 8];
        shared[thread] += shared[thread + 4];
        shared[thread] += shared[thread + 2];
        shared[thread] += shared[thread + 1];
    }
    if (thread == 0) {
        sums[blockIdx.x] = shared[0];
    }
}

__global__ void scan(const int *values, int *sums)
{
    __shared__ volatile int shared[64];
    int lane = threadIdx.x;
    shared[lane] = 0;
    shared[32 + lane] = values[lane];
    for (int distance = 1; distance < 32; distance *= 2) {
        shared[32 + lane] += shared[32 + lane - distance];
    }
    sums[lane] = shared[32 + lane];
}

// Through global memory, and with a pointer that has lost its space.
__device__ __noinline__ void add_neighbour(volatile int *cells, int lane, int distance)
{
    cells[lane] = cells[lane] + cells[lane + distance];
}

__global__ void through_function(volatile int *cells, int *result)
{
    __shared__ int shared[64];
    int lane = threadIdx.x;
    shared[lane] = lane;
    shared[32 + lane] = 0;
    for (int distance = 16; distance > 0; distance /= 2) {
        add_neighbour(cells, lane, distance);
        add_neighbour(shared, lane, distance);
    }
    if (lane == 0) {
        result[0] = shared[0];
    }
}

int main()
{
    std::vector<int> values(512);
    for (int i = 0; i < 512; ++i) {
        values[i] = i * 7 % 31;
    }
    Device<int> d_values(values), sums(2), scanned(32);
    reduce<<<2, 256>>>(d_values, sums);
    std::vector<int> want(2, 0), want_scan(32);
    for (int i = 0; i < 512; ++i) {
        want[i / 256] += values[i];
    }
    expect_equal("reduce", sums.read(), want);
    scan<<<1, 32>>>(d_values, scanned);
    for (int i = 0, sum = 0; i < 32; ++i) {
        want_scan[i] = sum += values[i];
    }
    expect_equal("scan", scanned.read(), want_scan);

    std::vector<int> start(64, 0);
    std::fill(start.begin(), start.begin() + 32, 3);
    Device<int> cells(start), result(1);
    through_function<<<1, 32>>>(cells, result);
    expect_equal("global", cells.read()[0], 96);
    expect_equal("shared", result.read()[0], 31 * 16);
    return done("warp_synchronous");
}
