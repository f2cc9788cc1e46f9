// needs: hooks
// expect: stderr "use_after_free.cu:8"
// A kernel that is handed memory that was freed.
#include "test.h"

__global__ void touch(int *values)
{
    values[threadIdx.x] += 1;
}

int main()
{
    int *d_old, *d_other;
    CHECK(cudaMalloc(&d_old, 1 << 20));
    CHECK(cudaMalloc(&d_other, 1 << 20));
    touch<<<1, 32>>>(d_old);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_old));
    touch<<<1, 32>>>(d_old);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS use_after_free\n");
    return 0;
}
