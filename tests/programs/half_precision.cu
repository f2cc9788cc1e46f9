// Half precision: conversions, arithmetic, comparison, pairs, math functions.
#include "test.h"

#include <cuda_fp16.h>

__global__ void convert(const float *x, unsigned short *bits, float *back, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        __half value = __float2half(x[i]);
        bits[i] = __half_as_ushort(value);
        back[i] = __half2float(value);
    }
}

__global__ void scalar(const float *x, const float *y, float *r, int n)
{
    int i = threadIdx.x;
    __half a = __float2half(x[i]), b = __float2half(y[i]);
    r[0 * n + i] = __half2float(a + b);
    r[1 * n + i] = __half2float(__hsub(a, b));
    r[2 * n + i] = __half2float(a * b);
    r[3 * n + i] = __half2float(a / b);
    r[4 * n + i] = __half2float(__hfma(a, b, a));
    r[5 * n + i] = __hgt(a, b) ? 1.0f : 0.0f;
    r[6 * n + i] = a == b ? 1.0f : 0.0f;
    r[7 * n + i] = __half2float(hsqrt(__habs(a)));
    r[8 * n + i] = static_cast<float>(__half2int_rn(a));
    r[9 * n + i] = __half2float(__hneg(b));
    r[10 * n + i] = __half2float(hfloor(a));
    r[11 * n + i] = __half2float(__hmax(a, b));
}

__global__ void pairs(const __half2 *x, const __half2 *y, float2 *r, int n)
{
    int i = threadIdx.x;
    r[0 * n + i] = __half22float2(__hadd2(x[i], y[i]));
    r[1 * n + i] = __half22float2(__hfma2(x[i], y[i], __float2half2_rn(0.5f)));
    r[2 * n + i] = __half22float2(__lowhigh2highlow(x[i]));
    r[3 * n + i] = make_float2(__low2float(y[i]), __high2float(x[i]));
    r[4 * n + i] = __half22float2(__shfl_xor_sync(0xffffffffu, x[i], 5));
    r[5 * n + i] = make_float2(__half2float(__shfl_down_sync(0xffffffffu, __low2half(x[i]), 3, 16)), 0);
}

__global__ void fused(const uint3 *operands, unsigned *bits, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        __half r = __hfma(__ushort_as_half(operands[i].x), __ushort_as_half(operands[i].y), __ushort_as_half(operands[i].z));
        bits[i] = __hisnan(r) ? 0x7fff : __half_as_ushort(r);
    }
}

static long double number(unsigned bits)
{
    unsigned short pattern = bits;
    _Float16 value;
    std::memcpy(&value, &pattern, sizeof value);
    return value;
}

// The product and, but for what cannot matter, the sum are exact in 64 bits.
static unsigned fused_bits(uint3 operands)
{
    _Float16 value = static_cast<_Float16>(number(operands.x) * number(operands.y) + number(operands.z));
    unsigned short pattern;
    std::memcpy(&pattern, &value, sizeof value);
    return value != value ? 0x7fff : pattern;
}

static void check_fused()
{
    std::vector<uint3> operands;
    unsigned state = 1;
    auto random = [&](unsigned below) { return (state = state * 1664525u + 1013904223u) / 65536 % below; };
    for (int i = 0; i < 100000; ++i) {
        operands.push_back(make_uint3(random(65536), random(65536), random(65536)));
        // Products a little above or below half of the addend's last place: (1 + 2^-10) (1 - 2^-10) and its like.
        unsigned exponent = 12 + random(18), sign = random(2) << 15;
        operands.push_back(make_uint3(sign | (exponent - 11) << 10 | random(3), 0x3bfe + random(4), exponent << 10 | random(1024)));
    }
    for (unsigned special : {0u, 0x8000u, 1u, 0x3ffu, 0x400u, 0x3c00u, 0x7bffu, 0xfbffu, 0x7c00u, 0xfc00u, 0x7e00u}) {
        for (unsigned other : {0u, 0x8000u, 1u, 0x8001u, 0x3800u, 0x3c00u, 0x7bffu, 0x7c00u}) {
            operands.push_back(make_uint3(special, other, special));
            operands.push_back(make_uint3(special, special, other));
        }
    }
    int n = static_cast<int>(operands.size());
    std::vector<unsigned> want(n);
    for (int i = 0; i < n; ++i) {
        want[i] = fused_bits(operands[i]);
    }
    Device<uint3> d_operands(operands);
    Device<unsigned> bits(n);
    fused<<<(n + 63) / 64, 64>>>(d_operands, bits, n);
    expect_equal("fused", bits.read(), want);
}

static float rounded(double value)
{
    return static_cast<float>(static_cast<_Float16>(value));
}

int main()
{
    check_fused();
    std::vector<float> x;
    for (int i = 0; i < 300; ++i) {
        x.push_back((i - 150) * 0.731f);
        x.push_back(std::ldexp(1.0f + i / 300.0f, i % 45 - 28));
    }
    for (float special : {0.0f, -0.0f, INFINITY, 65504.0f, 65519.0f, 65520.0f, 1e6f, -1e6f, 6e-8f, 2.9e-8f, 1e-10f}) {
        x.push_back(special);
    }
    int n = static_cast<int>(x.size());
    std::vector<unsigned short> want_bits(n);
    std::vector<float> want_back(n);
    for (int i = 0; i < n; ++i) {
        _Float16 value = static_cast<_Float16>(x[i]);
        std::memcpy(&want_bits[i], &value, sizeof value);
        want_back[i] = static_cast<float>(value);
    }
    Device<float> d_x(x), back(n);
    Device<unsigned short> bits(n);
    convert<<<(n + 63) / 64, 64>>>(d_x, bits, back, n);
    expect_equal("bits", bits.read(), want_bits);
    expect_equal("back", back.read(), want_back);

    const int m = 64;
    std::vector<float> a(m), b(m), want(12 * m);
    for (int i = 0; i < m; ++i) {
        a[i] = rounded((i - 30) * 0.77);
        b[i] = i % 8 == 0 ? a[i] + (a[i] == 0) : rounded(i * 0.21 - 3.3);
        double p = a[i], q = b[i];
        const double values[] = {p + q, p - q, p * q, p / q, std::fma(p, q, p), double(p > q), double(p == q),
                                 std::sqrt(std::fabs(p)), std::rint(p), -q, std::floor(p), std::fmax(p, q)};
        for (int kind = 0; kind < 12; ++kind) {
            want[kind * m + i] = rounded(values[kind]);
        }
    }
    Device<float> d_a(a), d_b(b), results(12 * m);
    scalar<<<1, m>>>(d_a, d_b, results, m);
    std::vector<float> got = results.read();
    for (int i = 0; i < 12 * m; ++i) {
        // Division and square root may be off by a unit in the last place (2^-10).
        float limit = i / m == 3 || i / m == 7 ? std::fabs(want[i]) / 1000 : 0;
        if (!(std::fabs(got[i] - want[i]) <= limit)) {
            ++failures;
            std::fprintf(stderr, "scalar %d of %g, %g is %g, expected %g\n", i / m, a[i % m], b[i % m], got[i], want[i]);
        }
    }

    std::vector<__half2> p(m), q(m);
    std::vector<float> want_pairs(12 * m);
    for (int i = 0; i < m; ++i) {
        want_pairs[2 * (4 * m + i)] = a[i ^ 5];
        want_pairs[2 * (4 * m + i) + 1] = b[i ^ 5];
        want_pairs[2 * (5 * m + i)] = a[i % 16 + 3 < 16 ? i + 3 : i];
        float p0 = a[i], p1 = b[i], q0 = b[m - 1 - i], q1 = a[m - 1 - i];
        p[i] = __floats2half2_rn(p0, p1);
        q[i] = __floats2half2_rn(q0, q1);
        const float values[] = {rounded(double(p0) + q0), rounded(double(p1) + q1), rounded(std::fma(double(p0), q0, 0.5)),
                                rounded(std::fma(double(p1), q1, 0.5)), p1, p0, q0, p1};
        for (int kind = 0; kind < 4; ++kind) {
            want_pairs[2 * (kind * m + i)] = values[2 * kind];
            want_pairs[2 * (kind * m + i) + 1] = values[2 * kind + 1];
        }
    }
    Device<__half2> d_p(p), d_q(q);
    Device<float2> pair_results(6 * m);
    pairs<<<1, m>>>(d_p, d_q, pair_results, m);
    std::vector<float2> got_pairs = pair_results.read();
    expect_equal("pairs", &got_pairs[0].x, want_pairs.data(), want_pairs.size());
    return done("half_precision");
}
