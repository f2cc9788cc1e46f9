// expect: exit 5
// The program ends by exit() from a function, with memory still allocated and a kernel just launched.
#include "test.h"

__global__ void fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

static void work(int *out)
{
    fill<<<8, 128>>>(out);
    std::exit(5);
}

int main()
{
    int *d_out;
    CHECK(cudaMalloc(&d_out, 1024 * sizeof(int)));
    work(d_out);
    return 0;
}
