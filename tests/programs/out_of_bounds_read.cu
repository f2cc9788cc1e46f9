// needs: hooks
// expect: stderr "out_of_bounds_read.cu:10"
// expect: stderr "d_values"
// A read behind the end of an allocation: the kernel stops with error 700 and the message names the line
// and the allocation.
#include "test.h"

__global__ void sum_pairs(const int *values, int *sums)
{
    sums[threadIdx.x] = values[threadIdx.x] + values[2 * threadIdx.x + 1001];
}

int main()
{
    int *d_values, *d_sums;
    CHECK(cudaMalloc(&d_values, 1000 * sizeof(int)));
    CHECK(cudaMalloc(&d_sums, 64 * sizeof(int)));
    sum_pairs<<<1, 64>>>(d_values, d_sums);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
    // As on a GPU, the context is lost.
    EXPECT_ERROR(cudaFree(d_values), cudaErrorIllegalAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS out_of_bounds_read\n");
    return 0;
}
