// needs: hooks
// expect: stderr "out_of_bounds_below.cu:11"
// expect: stderr "16 bytes before the start of d_first"
// A read below the very first allocation: it is reported by its distance, not as an access to host memory.
#include "test.h"

// No device variable stands here: it would be placed before the allocation.
__global__ void shifted(const int *values, int *out)
{
    int i = threadIdx.x;
    out[i] = values[i - 4];
}

int main()
{
    int *d_first, *d_out;
    CHECK(cudaMalloc(&d_first, 64 * sizeof(int)));
    CHECK(cudaMalloc(&d_out, 64 * sizeof(int)));
    shifted<<<1, 32>>>(d_first, d_out);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS out_of_bounds_below\n");
    return 0;
}
