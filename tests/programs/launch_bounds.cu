// Launch bounds: blocks within them run, larger ones are refused.
#include "test.h"

__global__ void __launch_bounds__(128, 4) bounded(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = blockDim.x;
}

__global__ void __launch_bounds__(64) small(int *out)
{
    out[threadIdx.x] = 1;
}

int main()
{
    Device<int> out(256);
    bounded<<<2, 128>>>(out);
    expect_equal("bounded", out.read(), std::vector<int>(256, 128));
    small<<<1, 64>>>(out);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
    small<<<1, 65>>>(out);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    bounded<<<1, 256>>>(out);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorLaunchOutOfResources);
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, small));
    expect_equal("limit", attributes.maxThreadsPerBlock, 64);
    return done("launch_bounds");
}
