// Launches as some editors format them, with blanks within the angle brackets.
#include "test.h"

__global__ void add(int *values, int by)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

template <typename T>
__global__ void twice(T *values)
{
    values[threadIdx.x] *= 2;
}

template <typename T>
static T one(T value)
{
    return value;
}

int main()
{
    Device<int> values(64);
    add << <2, 32 >> > (values, 3);
    add << < one<int>(1), dim3(16, 1) >> >(values, 1);
    twice<int> <<<1, 64>> >(values);
    add< < <1, 1, 0>> > (values,
                         5);
    std::vector<int> want(64, 6);
    std::fill(want.begin(), want.begin() + 16, 8);
    want[0] += 5;
    expect_equal("values << <1, 2>> >(3)", values.read(), want);
    return done("launch_spelling");
}
