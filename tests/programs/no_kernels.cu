// A program that has a kernel and never launches it, and touches no device.
#include "test.h"

__global__ void unused(int *out)
{
    *out = 1;
}

int main()
{
    std::printf("PASS no_kernels\n");
    return 0;
}
