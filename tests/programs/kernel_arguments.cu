// Kernel arguments by value: structs with arrays, pointers and padding, small types, many of them, and
// structs that the kernel changes.
#include "test.h"

struct Inner {
    char tag;
    double weights[3];
};

struct Large {
    int counts[17];
    Inner inner[4];
    const float *data;
    float *out;
    bool negate;
};

struct Empty {};

struct alignas(16) Aligned {
    float x, y, z;
};

__global__ void with_struct(Large large, int which)
{
    int i = threadIdx.x;
    float value = large.data[i] * static_cast<float>(large.inner[i % 4].weights[which]) + large.counts[i % 17];
    large.out[i] = large.negate ? -value : value + large.inner[which].tag;
}

// The kernel has a copy of its own, each thread one.
__global__ void changes(Large large, int *results)
{
    large.counts[threadIdx.x % 17] += threadIdx.x;
    int sum = 0;
    for (int count : large.counts) {
        sum += count;
    }
    results[threadIdx.x] = sum;
}

__global__ void many(char a, short b, bool c, float d, double e, Empty, Aligned f, long long g, unsigned char h, int2 i,
                     int (*j)[2], double *out)
{
    out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = e, out[5] = f.x + f.y + f.z, out[6] = static_cast<double>(g);
    out[7] = h, out[8] = i.x - i.y, out[9] = j[1][0];
}

struct Array {
    int *values;
    int count;
    __device__ int &operator[](int i) const { return values[i]; }
};

__global__ void nested_pointers(Array array, Array *in_memory)
{
    int i = threadIdx.x;
    array[i] += (*in_memory)[array.count - 1 - i];
}

// CUB passes initial values of scans so. LLVM makes it one load, from the parameter or from what it points to.
struct Future {
    bool later;
    union {
        const int *pointer;
        int value;
    };
};

__global__ void now_or_later(Future future, int *out) { out[threadIdx.x] = future.later ? *future.pointer : future.value; }

__global__ void now_and_later(Future future, const int *pointer, int *out)
{
    out[threadIdx.x] = *(threadIdx.x % 3 == 0 ? pointer : &future.value);
}

template <typename... Ts>
__global__ void variadic(long long *out, Ts... values)
{
    long long sum = 0;
    ((sum = sum * 3 + static_cast<long long>(values)), ...);
    *out = sum;
}

int main()
{
    std::vector<float> data(64);
    Large large{};
    for (int i = 0; i < 64; ++i) {
        data[i] = 0.5f * i;
    }
    for (int i = 0; i < 17; ++i) {
        large.counts[i] = 100 * i;
    }
    for (int i = 0; i < 4; ++i) {
        large.inner[i] = {static_cast<char>('a' + i), {1.0 * i, 2.0 * i, 4.0 * i}};
    }
    Device<float> d_data(data), out(64);
    large.data = d_data;
    large.out = out;
    for (bool negate : {false, true}) {
        large.negate = negate;
        with_struct<<<1, 64>>>(large, 2);
        std::vector<float> want(64);
        for (int i = 0; i < 64; ++i) {
            float value = data[i] * static_cast<float>(large.inner[i % 4].weights[2]) + large.counts[i % 17];
            want[i] = negate ? -value : value + 'c';
        }
        expect_equal("struct", out.read(), want);
    }

    Device<int> sums(40);
    changes<<<1, 40>>>(large, sums);
    std::vector<int> want_sums(40);
    for (int i = 0; i < 40; ++i) {
        want_sums[i] = 100 * 16 * 17 / 2 + i;
    }
    expect_equal("changed copy", sums.read(), want_sums);

    Device<int> table(std::vector<int>{1, 2, 3, 4});
    Device<double> values(10);
    many<<<1, 1>>>(-7, -300, true, 1.5f, 2.25, Empty{}, Aligned{1, 2, 3}, -(1ll << 40), 200, int2{10, 3},
                   reinterpret_cast<int(*)[2]>(table.pointer), values);
    expect_equal("many", values.read(), std::vector<double>{-7, -300, 1, 1.5, 2.25, 6, -double(1ll << 40), 200, 7, 3});

    Device<int> first(std::vector<int>{1, 2, 3, 4, 5}), second(std::vector<int>{10, 20, 30, 40, 50});
    Device<Array> in_memory(std::vector<Array>{{second, 5}});
    nested_pointers<<<1, 5>>>(Array{first, 5}, in_memory);
    expect_equal("nested", first.read(), std::vector<int>{51, 42, 33, 24, 15});

    Device<int> filled(32), seven(std::vector<int>{7});
    Future future{};
    future.value = 42;
    now_or_later<<<1, 32>>>(future, filled);
    expect_equal("now", filled.read(), std::vector<int>(32, 42));
    std::vector<int> want_both(32);
    for (int i = 0; i < 32; ++i) {
        want_both[i] = i % 3 == 0 ? 7 : 42;
    }
    now_and_later<<<1, 32>>>(future, seven, filled);
    expect_equal("now and later", filled.read(), want_both);
    future.later = true;
    future.pointer = seven;
    now_or_later<<<1, 32>>>(future, filled);
    expect_equal("later", filled.read(), std::vector<int>(32, 7));

    Device<long long> result(1);
    variadic<<<1, 1>>>(result.pointer, 1, 2.0f, 'a', short(-4), 5ull);
    expect_equal("variadic", result.read()[0], (((1ll * 3 + 2) * 3 + 97) * 3 - 4) * 3 + 5);
    return done("kernel_arguments");
}
