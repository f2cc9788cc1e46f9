// Loads and stores with a cache operator, which clang's headers, and Warpline's for those that clang lacks, write as inline
// assembly.
#include "test.h"

template <typename T>
__global__ void copy(const T *__restrict__ in, T *out)
{
    int i = threadIdx.x;
    out[i] = __ldcg(&in[i]);
    out[32 + i] = __ldcs(&in[i]);
    out[64 + i] = __ldcv(&in[i]);
    __stwt(&out[96 + i], in[31 - i]);
    __stwb(&out[128 + i], __ldca(&in[i]));
    __stcg(&out[160 + i], __ldlu(&in[i]));
    __stcs(&out[192 + i], in[i]);
}

template <typename T>
static void test(const char *name)
{
    std::vector<T> values(32), want(224);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(values.data());
    for (size_t i = 0; i < 32 * sizeof(T); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 7 % 113);
    }
    for (int i = 0; i < 224; ++i) {
        want[i] = values[i / 32 == 3 ? 31 - i % 32 : i % 32];
    }
    Device<T> in(values), out(224);
    copy<T><<<1, 32>>>(in, out);
    std::vector<T> got = out.read();
    for (int i = 0; i < 224; ++i) {
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
    test<long>("long");
    test<unsigned long>("unsigned long");
    test<unsigned long long>("unsigned long long");
    test<float>("float");
    test<double>("double");
    test<int2>("int2");
    test<float4>("float4");
    test<char4>("char4");
    test<uchar2>("uchar2");
    test<ushort4>("ushort4");
    test<longlong2>("longlong2");
    test<double2>("double2");
    return done("cached_loads");
}
