// Loads and stores with a cache operator, which clang's headers write as inline assembly.
#include "test.h"

template <typename T>
__global__ void copy(const T *__restrict__ in, T *out)
{
    int i = threadIdx.x;
    out[i] = __ldcg(&in[i]);
    out[32 + i] = __ldcs(&in[i]);
    out[64 + i] = __ldcv(&in[i]);
    __stwt(&out[96 + i], in[31 - i]);
}

template <typename T>
static void test(const char *name)
{
    std::vector<T> values(32), want(128);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(values.data());
    for (size_t i = 0; i < 32 * sizeof(T); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 7 % 113);
    }
    for (int i = 0; i < 128; ++i) {
        want[i] = values[i < 96 ? i % 32 : 31 - i % 32];
    }
    Device<T> in(values), out(128);
    copy<T><<<1, 32>>>(in, out);
    std::vector<T> got = out.read();
    for (int i = 0; i < 128; ++i) {
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
    test<char4>("char4");
    test<double2>("double2");
    return done("cached_loads");
}
