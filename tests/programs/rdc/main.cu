// flags: -rdc=true
// Relocatable device code: functions, variables and constants of another translation unit.
#include "../test.h"

#include "shared.h"

__global__ void use(int *out)
{
    int i = threadIdx.x;
    out[i] = external_function(i) + external_table[i % 4] + c_external;
    if (i == 0) {
        external_counter += 5;
        managed_elsewhere += 1;
    }
    managed_row[i] = i;
    out[64 + i] = pointer_from_other()(i);
}

// Used before host code names it, which makes clang give it another name.
static __device__ int local_count = 3;

__global__ void count(int *out)
{
    *out = ++local_count;
}

__device__ int called_back(int value)
{
    return value - 1;
}

int main()
{
    Device<int> out(128);
    use<<<1, 64>>>(out);
    std::vector<int> want(128);
    for (int i = 0; i < 64; ++i) {
        want[i] = i * i - 1 + 10 * (i % 4 + 1) + 42;
        want[64 + i] = i + 1000;
    }
    expect_equal("external", out.read(), want);
    expect_equal("managed elsewhere", managed_elsewhere, 9);
    EXPECT(managed_there() == &managed_elsewhere);
    managed_elsewhere = 10;
    expect_equal("managed from the other unit", *managed_there(), 10);
    expect_equal("managed row", managed_row[63], 63);
    int managed = 0;
    CHECK(cudaMemcpyFromSymbol(&managed, managed_elsewhere, sizeof managed));
    expect_equal("managed as a symbol", managed, 10);
    int counter = 0;
    CHECK(cudaMemcpyFromSymbol(&counter, external_counter, sizeof counter));
    expect_equal("counter", counter, 12);
    expect_equal("from the other unit", read_counter_there(), 12);
    launch_there(out);
    for (int i = 0; i < 64; ++i) {
        want[i] = i - 1 + 12;
    }
    expect_equal("there", out.read(), want);
    const int nine = 9;
    CHECK(cudaMemcpyToSymbol(local_count, &nine, sizeof(nine)));
    count<<<1, 1>>>(out);
    expect_equal("static", out.read()[0], 10);
    return done("rdc");
}
