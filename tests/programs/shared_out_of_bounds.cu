// needs: hooks
// expect: stderr "shared_out_of_bounds.cu:10"
// An index far behind the block's shared memory.
#include "test.h"

__global__ void fill(int *out, int offset)
{
    __shared__ int buffer[64];
    buffer[threadIdx.x] = 0;
    buffer[threadIdx.x + offset] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = buffer[63 - threadIdx.x];
}

int main()
{
    Device<int> out(64);
    fill<<<1, 64>>>(out, 0);
    CHECK(cudaDeviceSynchronize());
    fill<<<1, 64>>>(out, 100000);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS shared_out_of_bounds\n");
    return 0;
}
