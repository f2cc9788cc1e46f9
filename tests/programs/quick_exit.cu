// expect: exit 6
// The program leaves without running its exit handlers.
#include "test.h"

#include <unistd.h>

__global__ void fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

int main()
{
    Device<int> out(1024);
    fill<<<8, 128>>>(out);
    CHECK(cudaDeviceSynchronize());
    _exit(6);
}
