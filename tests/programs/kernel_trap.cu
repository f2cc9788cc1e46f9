// __trap stops the kernel: error 719.
#include "test.h"

__global__ void stop(int at)
{
    if (static_cast<int>(threadIdx.x) == at) {
        __trap();
    }
}

int main()
{
    stop<<<2, 64>>>(64);
    CHECK(cudaDeviceSynchronize());
    stop<<<2, 64>>>(40);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS kernel_trap\n");
    return 0;
}
