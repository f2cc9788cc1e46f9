// expect: stderr "Barrier 1 never opens: it is for 128 threads, of which 32 have arrived"
// A numbered barrier that is for more threads than come to it: a GPU hangs.
#include "test.h"

__global__ void waits(int *out)
{
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 128;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}

int main()
{
    Device<int> out(64);
    waits<<<1, 64>>>(out);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS barrier_never_opens\n");
    return 0;
}
