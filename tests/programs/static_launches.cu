// Kernels launched and device variables used by the constructors and destructors of static objects: the device code of
// the unit is registered before them.
#include "test.h"

__device__ int total = 3;

__global__ void add(int by)
{
    atomicAdd(&total, by);
}

static int read_total()
{
    int value = -1;
    CHECK(cudaMemcpyFromSymbol(&value, total, sizeof value));
    return value;
}

struct Early {
    int seen;
    Early()
    {
        add<<<1, 32>>>(2);
        CHECK(cudaDeviceSynchronize());
        seen = read_total();
    }
    ~Early()
    {
        int *late = nullptr;
        add<<<1, 1>>>(1);
        if (cudaMalloc(&late, 64) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess || read_total() != 68) {
            std::fprintf(stderr, "the destructor's launch is lost\n");
            std::_Exit(1);
        }
    }
};

static Early early;

int main()
{
    expect_equal("in the constructor", early.seen, 67);
    expect_equal("in main", read_total(), 67);
    return done("static_launches");
}
