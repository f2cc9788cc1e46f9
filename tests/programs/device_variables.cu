// __device__ and __constant__ variables: initial values, pointers to each other, copies to and from
// symbols, addresses and sizes, names with internal linkage.
#include "test.h"

struct Settings {
    int count;
    float scale;
    double offsets[3];
    char name[8];
};

__constant__ Settings c_settings = {3, 0.5f, {1.0, 2.0, 4.0}, "start"};
__constant__ float c_table[16];
__device__ int d_counter = 40;
__device__ int d_numbers[5] = {10, 20, 30, 40, 50};
__device__ int *d_third = &d_numbers[2];
__device__ const float *d_constant = c_table + 4;
__device__ Settings d_copy;
static __device__ long long d_static = -1;
namespace inner {
__device__ short d_short = 7;
}

struct Node {
    int value;
    Node *next;
};
__device__ Node d_last = {3, nullptr};
__device__ Node d_second = {2, &d_last};
__device__ Node d_first = {1, &d_second};

__global__ void read(double *results)
{
    results[0] = c_settings.count;
    results[1] = c_settings.scale;
    results[2] = c_settings.offsets[threadIdx.x] + c_settings.offsets[2];
    results[3] = c_settings.name[1];
    results[4] = atomicAdd(&d_counter, 2);
    results[5] = d_third[1] + d_numbers[d_third == d_numbers ? 2 : 0];
    results[6] = d_constant[0];
    results[7] = d_static + inner::d_short;
    results[8] = d_first.next->next->value * 10 + d_second.value;
    d_copy = c_settings;
    d_copy.count = 77;
    d_third = d_numbers;
}

__global__ void by_address(int *numbers, float *results)
{
    numbers[threadIdx.x] += 1;
    results[threadIdx.x] = c_table[15 - threadIdx.x];
}

int main()
{
    std::vector<float> table(16);
    for (int i = 0; i < 16; ++i) {
        table[i] = 1.5f * i;
    }
    CHECK(cudaMemcpyToSymbol(c_table, table.data(), 16 * sizeof(float)));
    Device<double> results(9);
    read<<<1, 1>>>(results);
    expect_equal("initial", results.read(),
                 std::vector<double>{3, 0.5, 1.0 + 4.0, 't', 40, 40 + 10, 6.0, 6, 3 * 10 + 2});

    int counter = 0;
    CHECK(cudaMemcpyFromSymbol(&counter, d_counter, sizeof counter));
    expect_equal("counter", counter, 42);
    Settings copy;
    CHECK(cudaMemcpyFromSymbol(&copy, d_copy, sizeof copy));
    EXPECT(copy.count == 77 && copy.scale == 0.5f && copy.offsets[2] == 4.0 && std::strcmp(copy.name, "start") == 0);

    Settings changed = {9, 0.25f, {8.0, 9.0, 16.0}, "other"};
    CHECK(cudaMemcpyToSymbol(c_settings, &changed, sizeof changed));
    long long minus_five = -5;
    CHECK(cudaMemcpyToSymbol(d_static, &minus_five, sizeof minus_five));
    float four = 400;
    CHECK(cudaMemcpyToSymbol(c_table, &four, sizeof four, 4 * sizeof(float), cudaMemcpyHostToDevice));
    read<<<1, 1>>>(results);
    // The first launch made d_third point to the start of the array.
    expect_equal("changed", results.read(),
                 std::vector<double>{9, 0.25, 8.0 + 16.0, 't', 42, 20 + 30, 400, 2, 3 * 10 + 2});

    int *address = nullptr;
    size_t bytes = 0;
    CHECK(cudaGetSymbolAddress(reinterpret_cast<void **>(&address), d_numbers));
    CHECK(cudaGetSymbolSize(&bytes, d_numbers));
    EXPECT(bytes == 5 * sizeof(int));
    CHECK(cudaGetSymbolSize(&bytes, c_settings));
    EXPECT(bytes == sizeof(Settings));
    Device<float> floats(5);
    by_address<<<1, 5>>>(address, floats);
    std::vector<int> numbers(5);
    CHECK(cudaMemcpy(numbers.data(), address, 5 * sizeof(int), cudaMemcpyDeviceToHost));
    expect_equal("by address", numbers, std::vector<int>{11, 21, 31, 41, 51});
    expect_equal("table", floats.read(), std::vector<float>{22.5f, 21.0f, 19.5f, 18.0f, 16.5f});

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int out = 0, in = 123;
    CHECK(cudaMemcpyToSymbolAsync(d_numbers, &in, sizeof in, 3 * sizeof(int), cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyFromSymbolAsync(&out, d_numbers, sizeof out, 3 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    expect_equal("async", out, 123);

    // Between symbol and device memory.
    Device<int> other(std::vector<int>{5, 4, 3, 2, 1});
    CHECK(cudaMemcpyToSymbol(d_numbers, other.pointer, 5 * sizeof(int), 0, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpyFromSymbol(numbers.data(), d_numbers, 5 * sizeof(int)));
    expect_equal("device to symbol", numbers, std::vector<int>{5, 4, 3, 2, 1});

    EXPECT_ERROR(cudaMemcpyToSymbol(d_counter, numbers.data(), 5 * sizeof(int)), cudaErrorInvalidValue);
    static int not_a_symbol;
    EXPECT_ERROR(cudaMemcpyToSymbol(not_a_symbol, &in, sizeof in), cudaErrorInvalidSymbol);
    cudaGetLastError();
    return done("device_variables");
}
