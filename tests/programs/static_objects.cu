// Device work before main and after it: in the constructor and the destructor of a static object.
#include "test.h"

__global__ void add(int *values, int by)
{
    values[threadIdx.x] += by;
}

struct Early {
    int *values = nullptr;
    Early()
    {
        CHECK(cudaMalloc(&values, 32 * sizeof(int)));
        CHECK(cudaMemset(values, 0, 32 * sizeof(int)));
        add<<<1, 32>>>(values, 3);
    }
    ~Early()
    {
        // Too late for a GPU to promise anything; it must not crash.
        cudaFree(values);
    }
};

static Early early;

int main()
{
    add<<<1, 32>>>(early.values, 4);
    std::vector<int> got(32);
    CHECK(cudaMemcpy(got.data(), early.values, 32 * sizeof(int), cudaMemcpyDeviceToHost));
    expect_equal("values", got, std::vector<int>(32, 7));
    return done("static_objects");
}
