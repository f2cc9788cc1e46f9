// Loads through the read-only cache: __ldg of all kinds, and restricted pointers.
#include "test.h"

template <typename T>
__global__ void copy(const T *__restrict__ in, T *out)
{
    int i = threadIdx.x;
    out[i] = __ldg(&in[i]);
    out[32 + i] = __ldg(in + 31 - i);
}

__global__ void restricted(const int *__restrict__ in, const float4 *__restrict__ wide, volatile int *out)
{
    int i = threadIdx.x;
    float4 value = wide[i];
    out[i] = in[i] + in[(i + 1) % 32] + static_cast<int>(value.x + value.w);
    out[i] = out[i] + 1;
}

template <typename T>
static void test(const char *name)
{
    std::vector<T> values(32), want(64);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(values.data());
    for (size_t i = 0; i < 32 * sizeof(T); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 7 % 113);
    }
    for (int i = 0; i < 64; ++i) {
        want[i] = values[i < 32 ? i : 31 - i % 32];
    }
    Device<T> in(values), out(64);
    copy<T><<<1, 32>>>(in, out);
    std::vector<T> got = out.read();
    for (int i = 0; i < 64; ++i) {
        if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) {
            ++failures;
            std::fprintf(stderr, "%s[%d] is wrong\n", name, i);
        }
    }
}

int main()
{
    test<signed char>("signed char");
    test<unsigned short>("unsigned short");
    test<int>("int");
    test<unsigned long long>("unsigned long long");
    test<float>("float");
    test<double>("double");
    test<int2>("int2");
    test<float4>("float4");
    test<uchar4>("uchar4");
    test<double2>("double2");

    std::vector<int> in(32), want(32);
    std::vector<float4> wide(32);
    for (int i = 0; i < 32; ++i) {
        in[i] = i * i;
        wide[i] = {1.0f * i, -1, -1, 2.0f};
    }
    for (int i = 0; i < 32; ++i) {
        want[i] = in[i] + in[(i + 1) % 32] + i + 2 + 1;
    }
    Device<int> d_in(in), out(32);
    Device<float4> d_wide(wide);
    restricted<<<1, 32>>>(d_in, d_wide, out);
    expect_equal("restricted", out.read(), want);
    return done("read_only_loads");
}
