// A check of the results that overflows, as in programs that were only ever built with g++ for the host.
#include "test.h"

__global__ void square(int *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] *= values[i];
}

int main()
{
    const int count = 1 << 17;
    std::vector<int> values(count);
    for (int i = 0; i < count; i += 1) {
        values[i] = i;
    }
    Device<int> squares(values);
    square<<<count / 256, 256>>>(squares);
    std::vector<int> got = squares.read();
    for (int i = 0; i < count; i += 1) {
        if (got[i] != i * i) {
            std::fprintf(stderr, "element %d is %d\n", i, got[i]);
            return 1;
        }
    }
    return done("host_overflow");
}
