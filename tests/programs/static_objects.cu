// Device memory that a static object's constructor takes and its destructor gives back.
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
    expect_equal("values", got, std::vector<int>(32, 4));
    return done("static_objects");
}
