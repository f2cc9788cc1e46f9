// expect: signal 11
// The host crashes after its kernels; what they did was recorded before.
#include "test.h"

#include <csignal>

__global__ void fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

int main()
{
    Device<int> out(1024);
    fill<<<8, 128>>>(out);
    CHECK(cudaDeviceSynchronize());
    std::raise(SIGSEGV);
    return 0;
}
