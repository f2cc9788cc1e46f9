// Two translation units that each define a kernel, a device function and a device variable of the same
// name: without relocatable device code each unit is a program of its own.
#include "../test.h"

__device__ int state = 100;

__device__ __noinline__ int value_of(int i)
{
    return i + 1;
}

static __global__ void fill(int *out)
{
    out[threadIdx.x] = value_of(threadIdx.x) + atomicAdd(&state, 0);
}

void fill_second(int *out);

int main()
{
    Device<int> out(40);
    std::vector<int> want(40);
    fill<<<1, 40>>>(out);
    for (int i = 0; i < 40; ++i) {
        want[i] = i + 101;
    }
    expect_equal("first", out.read(), want);
    fill_second(out);
    for (int i = 0; i < 40; ++i) {
        want[i] = 2 * i + 5000;
    }
    expect_equal("second", out.read(), want);
    int seven = 7;
    CHECK(cudaMemcpyToSymbol(state, &seven, sizeof seven));
    fill_second(out);
    expect_equal("second again", out.read(), want);
    return done("two_units");
}
