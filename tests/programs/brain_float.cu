// flags: -arch=sm_90
// bfloat16, and the half-precision conversions that CUDA's headers write as assembly from sm_80 on: every rounding,
// packed conversions, arithmetic, comparisons.
#include "test.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

static const int ROUNDINGS = 4;

__global__ void to_brain(const float *x, unsigned short *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        r[0 * n + i] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
        r[1 * n + i] = __bfloat16_as_ushort(__float2bfloat16_rz(x[i]));
        r[2 * n + i] = __bfloat16_as_ushort(__float2bfloat16_rd(x[i]));
        r[3 * n + i] = __bfloat16_as_ushort(__float2bfloat16_ru(x[i]));
    }
}

__global__ void to_half(const float *x, unsigned short *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        r[0 * n + i] = __half_as_ushort(__float2half_rn(x[i]));
        r[1 * n + i] = __half_as_ushort(__float2half_rz(x[i]));
        r[2 * n + i] = __half_as_ushort(__float2half_rd(x[i]));
        r[3 * n + i] = __half_as_ushort(__float2half_ru(x[i]));
    }
}

template <typename Number, typename Pair>
__global__ void arithmetic(const float *x, const float *y, float *r, int n)
{
    int i = threadIdx.x;
    Number a = Number(x[i]), b = Number(y[i]);
    r[0 * n + i] = float(a + b);
    r[1 * n + i] = float(a - b);
    r[2 * n + i] = float(a * b);
    r[3 * n + i] = float(__hfma(a, b, a));
    r[4 * n + i] = float(__hmax(a, b));
    r[5 * n + i] = float(__hmin(a, b));
    r[6 * n + i] = float(__habs(a));
    r[7 * n + i] = float(-b);
    r[8 * n + i] = a < b ? 1.0f : 0.0f;
    r[9 * n + i] = __hgeu(a, b) ? 1.0f : 0.0f;
    r[10 * n + i] = float(hfloor(a));
    r[11 * n + i] = float(__hfma_relu(a, b, b));
    Pair both;
    both.x = a;
    both.y = b;
    Pair swapped;
    swapped.x = b;
    swapped.y = a;
    Pair sum = __hadd2(both, swapped);
    r[12 * n + i] = float(sum.x) - float(sum.y);
    Pair less = __hlt2(both, swapped);
    r[13 * n + i] = float(less.x) - 2 * float(less.y);
    r[14 * n + i] = static_cast<float>(__heq2_mask(both, both));
    r[15 * n + i] = float(__hadd_sat(a, b));
}

__global__ void packed(const float *x, float *r, int n)
{
    int i = threadIdx.x;
    __half2 h = __floats2half2_rn(x[i], -x[i]);
    __nv_bfloat162 b = __floats2bfloat162_rn(x[i], -x[i]);
    r[0 * n + i] = __low2float(h);
    r[1 * n + i] = __high2float(h);
    r[2 * n + i] = __low2float(b);
    r[3 * n + i] = __high2float(b);
}

__global__ void whole_numbers(const float *x, int *r, int n)
{
    int i = threadIdx.x;
    __half h = __float2half(x[i]);
    __nv_bfloat16 b = __float2bfloat16(x[i]);
    r[0 * n + i] = __half2int_rz(h);
    r[1 * n + i] = __half2char_rz(h);
    r[2 * n + i] = __half2uchar_rz(h);
    r[3 * n + i] = __half2int_rd(h);
    r[4 * n + i] = __bfloat162int_rz(b);
    r[5 * n + i] = __bfloat162char_rz(b);
    r[6 * n + i] = __half_as_ushort(__int2half_rz(i * 4099));
    r[7 * n + i] = __half_as_ushort(__int2half_ru(i * 4099));
    r[8 * n + i] = __bfloat16_as_ushort(__int2bfloat16_rn(i * 65551));
    r[9 * n + i] = __bfloat16_as_ushort(__int2bfloat16_rd(-i * 65551));
}

// Rounds to a format of `digits` significant bits, least exponent `least` and largest finite number `largest`.
// 0: nearest, 1: toward zero, 2: down, 3: up.
static double rounded(double value, int digits, int least, double largest, int rounding)
{
    if (!std::isfinite(value) || value == 0) {
        return value;
    }
    int exponent;
    std::frexp(value, &exponent);
    double unit = std::ldexp(1.0, std::max(exponent - digits, least));
    double scaled = value / unit, near;
    switch (rounding) {
    case 0: near = std::nearbyint(scaled); break;
    case 1: near = std::trunc(scaled); break;
    case 2: near = std::floor(scaled); break;
    default: near = std::ceil(scaled); break;
    }
    double result = std::copysign(near * unit, value);
    if (std::fabs(result) <= largest) {
        return result;
    }
    bool down = rounding == 1 || (rounding == 2 && value > 0) || (rounding == 3 && value < 0);
    return std::copysign(down ? largest : INFINITY, value);
}

static const double BRAIN_LARGEST = std::ldexp(255.0, 120), HALF_LARGEST = 65504;

static double as_brain(double value, int rounding = 0) { return rounded(value, 8, -133, BRAIN_LARGEST, rounding); }
static double as_half(double value, int rounding = 0) { return rounded(value, 11, -24, HALF_LARGEST, rounding); }

static unsigned short brain_bits(double value)
{
    float number = static_cast<float>(value);
    unsigned bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits >> 16;
}

static unsigned short half_bits(double value)
{
    _Float16 number = static_cast<_Float16>(value);
    unsigned short bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

static int clamp(double value, int low, int high) { return value < low ? low : value > high ? high : int(value); }

template <typename Number, typename Pair>
void check_arithmetic(const char *name, double (*round)(double, int))
{
    const int n = 96;
    std::vector<float> x(n), y(n), want(16 * n);
    for (int i = 0; i < n; ++i) {
        x[i] = round((i - 40) * 0.37, 0);
        y[i] = i % 7 == 0 ? x[i] : round(2.5 - i * 0.11, 0);
        double a = x[i], b = y[i];
        double results[] = {a + b, a - b, a * b, std::fma(a, b, a), std::max(a, b), std::min(a, b), std::fabs(a), -b,
                            double(a < b), double(a >= b), std::floor(a), std::max(0.0, std::fma(a, b, b)), 0,
                            (a < b) - 2.0 * (b < a), 4294967295.0, std::min(1.0, std::max(0.0, a + b))};
        for (int kind = 0; kind < 16; ++kind) {
            want[kind * n + i] = kind == 14 ? 4294967295.0f : float(round(results[kind], 0));
        }
    }
    Device<float> d_x(x), d_y(y), out(16 * n);
    arithmetic<Number, Pair><<<1, n>>>(d_x, d_y, out, n);
    expect_equal(name, out.read(), want);
}

// Integers of 64 bits, which no other format holds on the way: a first rounding to it must not be seen in the second.
__global__ void long_integers(const long long *x, int *out)
{
    int i = threadIdx.x;
    out[4 * i] = __bfloat16_as_ushort(__ll2bfloat16_rn(x[i]));
    out[4 * i + 1] = __bfloat16_as_ushort(__ll2bfloat16_ru(x[i]));
    out[4 * i + 2] = __bfloat16_as_ushort(__ull2bfloat16_rn(static_cast<unsigned long long>(x[i])));
    out[4 * i + 3] = __bfloat16_as_ushort(__ull2bfloat16_rz(static_cast<unsigned long long>(x[i])));
}

static void check_long_integers()
{
    const long long base = 1ll << 60, half = 1ll << 52;
    std::vector<long long> x{base + half, base + half + 1, base + half - 1, base + 2 * half - 1, -base - half - 1, 77};
    std::vector<int> want{0x5d80, 0x5d81, 0x5d80, 0x5d80, 0x5d81, 0x5d81, 0x5d81, 0x5d80, 0x5d80, 0x5d81, 0x5d80, 0x5d80,
                          0x5d81, 0x5d81, 0x5d81, 0x5d80, 0xdd81, 0xdd80, 0x5f70, 0x5f6f, 0x429a, 0x429a, 0x429a, 0x429a};
    Device<long long> d_x(x);
    Device<int> out(want.size());
    long_integers<<<1, x.size()>>>(d_x, out);
    expect_equal("long integers", out.read(), want);
}

int main()
{
    check_long_integers();
    std::vector<float> x;
    for (int i = 0; i < 200; ++i) {
        x.push_back((i - 100) * 0.731f);
        x.push_back(std::ldexp(1.0f + i / 256.0f + i / 65536.0f, i % 300 - 150));
        x.push_back(-std::ldexp(1.0f + i / 256.0f, i % 50 - 30));
    }
    for (float special : {0.0f, -0.0f, INFINITY, -INFINITY, 65504.0f, 65519.0f, 65520.0f, 1e6f, 3.4e38f, -3.4e38f, 1e-45f}) {
        x.push_back(special);
    }
    int n = static_cast<int>(x.size());
    std::vector<unsigned short> want_brain(ROUNDINGS * n), want_half(ROUNDINGS * n);
    for (int rounding = 0; rounding < ROUNDINGS; ++rounding) {
        for (int i = 0; i < n; ++i) {
            want_brain[rounding * n + i] = brain_bits(as_brain(x[i], rounding));
            want_half[rounding * n + i] = half_bits(as_half(x[i], rounding));
        }
    }
    Device<float> d_x(x);
    Device<unsigned short> bits(ROUNDINGS * n);
    to_brain<<<(n + 63) / 64, 64>>>(d_x, bits, n);
    expect_equal("to bfloat16", bits.read(), want_brain);
    to_half<<<(n + 63) / 64, 64>>>(d_x, bits, n);
    expect_equal("to half", bits.read(), want_half);

    check_arithmetic<__half, __half2>("half", as_half);
    check_arithmetic<__nv_bfloat16, __nv_bfloat162>("bfloat16", as_brain);

    const int m = 64;
    std::vector<float> small(m), want(4 * m);
    std::vector<int> want_whole(10 * m);
    for (int i = 0; i < m; ++i) {
        small[i] = (i - 30) * 13.37f;
        want[0 * m + i] = as_half(small[i]);
        want[1 * m + i] = -as_half(small[i]);
        want[2 * m + i] = as_brain(small[i]);
        want[3 * m + i] = -as_brain(small[i]);
        double h = as_half(small[i]), b = as_brain(small[i]);
        int row[] = {int(h),
                     clamp(h, -128, 127),
                     clamp(h, 0, 255),
                     int(std::floor(h)),
                     int(b),
                     clamp(b, -128, 127),
                     half_bits(as_half(i * 4099.0, 1)),
                     half_bits(as_half(i * 4099.0, 3)),
                     brain_bits(as_brain(i * 65551.0)),
                     brain_bits(as_brain(-i * 65551.0, 2))};
        for (int kind = 0; kind < 10; ++kind) {
            want_whole[kind * m + i] = row[kind];
        }
    }
    Device<float> d_small(small), out(4 * m);
    packed<<<1, m>>>(d_small, out, m);
    expect_equal("packed", out.read(), want);
    Device<int> whole(10 * m);
    whole_numbers<<<1, m>>>(d_small, whole, m);
    expect_equal("whole numbers", whole.read(), want_whole);
    return done("brain_float");
}
