// expect: stderr "assert_fails.cu:11: void check(const int *, int *): block: [1,0,0], thread: [5,0,0] Assertion `value < 50 && "too large"` failed."
// An assertion that does not hold stops the kernel; the error stays.
#include "test.h"

#include <cassert>

__global__ void check(const int *values, int *copies)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = values[i];
    assert(value < 50 && "too large");
    copies[i] = value;
}

int main()
{
    std::vector<int> values(64);
    for (int i = 0; i < 64; ++i) {
        values[i] = i == 37 ? 50 : i % 50;
    }
    Device<int> d_values(values), copies(64);
    check<<<2, 32>>>(d_values, copies);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorAssert);
    // As on a GPU, the context is lost.
    int *more;
    EXPECT_ERROR(cudaMalloc(&more, 4), cudaErrorAssert);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorAssert);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS assert_fails\n");
    return 0;
}
