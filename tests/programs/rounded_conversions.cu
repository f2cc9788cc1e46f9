// 64-bit integers to float and double in all roundings, against the host's own in each rounding mode.
#include "test.h"

#include <cfenv>

__global__ void convert(const long long *in, float *floats, double *doubles, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    long long x = in[i];
    auto u = static_cast<unsigned long long>(x);
    float *f = floats + 8 * i;
    double *d = doubles + 8 * i;
    f[0] = __ll2float_rn(x), f[1] = __ll2float_rz(x), f[2] = __ll2float_rd(x), f[3] = __ll2float_ru(x);
    f[4] = __ull2float_rn(u), f[5] = __ull2float_rz(u), f[6] = __ull2float_rd(u), f[7] = __ull2float_ru(u);
    d[0] = __ll2double_rn(x), d[1] = __ll2double_rz(x), d[2] = __ll2double_rd(x), d[3] = __ll2double_ru(x);
    d[4] = __ull2double_rn(u), d[5] = __ull2double_rz(u), d[6] = __ull2double_rd(u), d[7] = __ull2double_ru(u);
}

// Of numbers that the compiler does not see.
template <typename To, typename From>
__attribute__((noinline)) To rounded(From value, int mode)
{
    volatile From hidden = value;
    std::fesetround(mode);
    volatile To result = static_cast<To>(hidden);
    std::fesetround(FE_TONEAREST);
    return result;
}

int main()
{
    std::vector<long long> in{0, 1, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (int bit = 20; bit < 64; ++bit) {
        for (long long near = -2; near <= 2; ++near) {
            auto x = static_cast<long long>((1ull << bit) + static_cast<unsigned long long>(near));
            in.insert(in.end(), {x, -x, x + (x >> 24), x + (x >> 25), x + (x >> 54)});
        }
    }
    unsigned long long state = 1;
    for (int i = 0; i < 2000; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        in.push_back(static_cast<long long>(state >> (i % 50)));
    }
    int n = static_cast<int>(in.size());
    Device<long long> device_in(in);
    Device<float> floats(8 * n);
    Device<double> doubles(8 * n);
    convert<<<(n + 127) / 128, 128>>>(device_in, floats, doubles, n);
    std::vector<float> want_floats(8 * n);
    std::vector<double> want_doubles(8 * n);
    const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    for (int i = 0; i < n; ++i) {
        for (int mode = 0; mode < 4; ++mode) {
            auto u = static_cast<unsigned long long>(in[i]);
            want_floats[8 * i + mode] = rounded<float>(in[i], modes[mode]);
            want_floats[8 * i + 4 + mode] = rounded<float>(u, modes[mode]);
            want_doubles[8 * i + mode] = rounded<double>(in[i], modes[mode]);
            want_doubles[8 * i + 4 + mode] = rounded<double>(u, modes[mode]);
        }
    }
    expect_equal("floats", floats.read(), want_floats);
    expect_equal("doubles", doubles.read(), want_doubles);
    return done("rounded_conversions");
}
