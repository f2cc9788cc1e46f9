// `__managed__` variables: one object for host and device, by name, by address and as a symbol.
#include "test.h"

struct Pair {
    int first;
    double second;
};

__managed__ int number = 5;
__managed__ int visits;
__device__ __managed__ float row[100];
static __managed__ Pair pair = {1, 2.5};
__managed__ int *where;
__managed__ int other = 11;

template <typename T>
struct Holder {
    static __managed__ T value;
};
template <typename T>
__managed__ T Holder<T>::value;

__global__ void work()
{
    row[threadIdx.x] = static_cast<float>(threadIdx.x * number);
    if (threadIdx.x == 0) {
        ++visits;
        pair.second += pair.first;
        Holder<long long>::value = 1ll << 40;
        *where += 1;
    }
}

// The address is chosen, which is a phi in unoptimised code.
static int *chosen(bool first) { return first ? &number : &other; }

// Runs before `main`, but after the registration.
static const int at_start = number;

int main()
{
    expect_equal("at start", at_start, 5);
    number = 7;
    pair.first = 20;
    where = chosen(false);
    work<<<1, 100>>>();
    CHECK(cudaDeviceSynchronize());
    expect_equal("number", number, 7);
    expect_equal("visits", visits, 1);
    expect_equal("element", row[99], 99 * 7.0f);
    expect_equal("member", pair.second, 22.5);
    expect_equal("of a template", Holder<long long>::value, 1ll << 40);
    expect_equal("through a managed pointer", other, 12);
    expect_equal("chosen", *chosen(true), 7);

    void *address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, number));
    EXPECT(address == &number);
    size_t bytes = 0;
    CHECK(cudaGetSymbolSize(&bytes, row));
    expect_equal("size", bytes, sizeof(row));
    float out[3];
    CHECK(cudaMemcpyFromSymbol(out, row, sizeof(out), 10 * sizeof(float)));
    expect_equal("copied", out[2], 12 * 7.0f);
    const int value = 100;
    CHECK(cudaMemcpyToSymbol(number, &value, sizeof(value)));
    expect_equal("written", number, 100);
    CHECK(cudaMemPrefetchAsync(row, sizeof(row), 0));
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, row));
    EXPECT(attributes.type == cudaMemoryTypeManaged);
    return done("managed_variables");
}
