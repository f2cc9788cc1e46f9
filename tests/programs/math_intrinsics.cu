// Fast intrinsics within their stated errors, directed rounding, and conversions between numbers.
#include "test.h"

#include <cfenv>

__global__ void fast(const float *x, float *r, int n)
{
    int i = threadIdx.x;
    float a = x[i];
    r[0 * n + i] = __expf(a);
    r[1 * n + i] = __logf(a + 4.5f);
    r[2 * n + i] = __fdividef(a, a + 9.0f);
    r[3 * n + i] = __sinf(a);
    r[4 * n + i] = __cosf(a);
    r[5 * n + i] = __powf(a + 4.5f, 1.5f);
    r[6 * n + i] = __frcp_rn(a + 9.0f);
    r[7 * n + i] = __fsqrt_rn(a + 4.5f);
    r[8 * n + i] = __log2f(a + 4.5f);
    r[9 * n + i] = __saturatef(a);
    r[10 * n + i] = __tanf(a / 3);
    r[11 * n + i] = __exp10f(a);
}

static void test_fast()
{
    const int n = 64;
    std::vector<float> x(n);
    for (int i = 0; i < n; ++i) {
        x[i] = -4.0f + i / 8.0f;
    }
    Device<float> d_x(x), results(12 * n);
    fast<<<1, n>>>(d_x, results, n);
    std::vector<float> got = results.read();
    for (int i = 0; i < n; ++i) {
        double a = x[i], s = std::fmin(std::fmax(a, 0), 1);
        const double want[] = {std::exp(a), std::log(a + 4.5), a / (a + 9), std::sin(a), std::cos(a),
                               std::pow(a + 4.5, 1.5), 1 / (a + 9), std::sqrt(a + 4.5), std::log2(a + 4.5), s,
                               std::tan(a / 3), std::pow(10, a)};
        for (int kind = 0; kind < 12; ++kind) {
            float value = got[kind * n + i];
            if (!(std::fabs(value - want[kind]) <= 2e-6 * std::fmax(1, std::fabs(want[kind])))) {
                ++failures;
                std::fprintf(stderr, "fast %d of %g is %.9g, expected %.9g\n", kind, a, value, want[kind]);
            }
        }
    }
}

__global__ void rounded(const float *x, const float *y, float *r, double *d, int n)
{
    int i = threadIdx.x;
    float a = x[i], b = y[i];
    r[0 * n + i] = __fadd_rn(a, b), r[1 * n + i] = __fadd_rz(a, b), r[2 * n + i] = __fadd_ru(a, b), r[3 * n + i] = __fadd_rd(a, b);
    r[4 * n + i] = __fmul_rn(a, b), r[5 * n + i] = __fmul_rz(a, b), r[6 * n + i] = __fmul_ru(a, b), r[7 * n + i] = __fmul_rd(a, b);
    r[8 * n + i] = __fdiv_rn(a, b), r[9 * n + i] = __fdiv_rz(a, b), r[10 * n + i] = __fdiv_ru(a, b), r[11 * n + i] = __fdiv_rd(a, b);
    double p = a, q = b;
    p = __dmul_rn(p, 1.1);
    d[0 * n + i] = __dadd_rn(p, q), d[1 * n + i] = __dadd_rz(p, q), d[2 * n + i] = __dadd_ru(p, q), d[3 * n + i] = __dadd_rd(p, q);
    d[4 * n + i] = __dmul_rn(p, q), d[5 * n + i] = __dmul_rz(p, q), d[6 * n + i] = __dmul_ru(p, q), d[7 * n + i] = __dmul_rd(p, q);
}

static void test_rounded()
{
    const int n = 32;
    const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    std::vector<float> x(n), y(n), want(12 * n);
    std::vector<double> want_double(8 * n);
    for (int i = 0; i < n; ++i) {
        x[i] = (i - 15) * 0.37f + 1e-3f;
        y[i] = (i % 2 ? -1 : 1) * (1.7f + i * 1e-4f);
        for (int mode = 0; mode < 4; ++mode) {
            volatile float a = x[i], b = y[i], sum, product, quotient;
            volatile double p = a, q = b, factor = 1.1, double_sum, double_product;
            p = p * factor;
            std::fesetround(modes[mode]);
            sum = a + b, product = a * b, quotient = a / b, double_sum = p + q, double_product = p * q;
            std::fesetround(FE_TONEAREST);
            want[mode * n + i] = sum, want[(4 + mode) * n + i] = product, want[(8 + mode) * n + i] = quotient;
            want_double[mode * n + i] = double_sum, want_double[(4 + mode) * n + i] = double_product;
        }
    }
    Device<float> d_x(x), d_y(y), results(12 * n);
    Device<double> doubles(8 * n);
    rounded<<<1, n>>>(d_x, d_y, results, doubles, n);
    expect_equal("rounded", results.read(), want);
    expect_equal("rounded double", doubles.read(), want_double);
}

__global__ void convert(const float *x, const double *y, long long *r, int n)
{
    int i = threadIdx.x;
    float a = x[i];
    double b = y[i];
    r[0 * n + i] = __float2int_rn(a), r[1 * n + i] = __float2int_rz(a), r[2 * n + i] = __float2int_ru(a), r[3 * n + i] = __float2int_rd(a);
    r[4 * n + i] = __double2int_rn(b), r[5 * n + i] = __double2int_rz(b), r[6 * n + i] = __double2int_ru(b), r[7 * n + i] = __double2int_rd(b);
    r[8 * n + i] = __float2ll_rn(a), r[9 * n + i] = __double2ll_rd(b);
    r[10 * n + i] = __float2uint_rz(fabsf(a)), r[11 * n + i] = __double2uint_ru(fabs(b));
    r[12 * n + i] = __float_as_int(a), r[13 * n + i] = __double_as_longlong(b);
    r[14 * n + i] = __double2hiint(b), r[15 * n + i] = __double2loint(b);
    r[16 * n + i] = __float_as_int(__double2float_rz(b)), r[17 * n + i] = __float_as_int(__double2float_ru(b));
    r[18 * n + i] = __float_as_int(__int2float_rn(r[13 * n + i] >> 20)), r[19 * n + i] = __float_as_int(__uint2float_rz(0xfffffff0u + i));
    r[20 * n + i] = __double_as_longlong(__hiloint2double(i, -i)), r[21 * n + i] = __double_as_longlong(__ll2double_rn(r[13 * n + i]));
    r[22 * n + i] = lrintf(a), r[23 * n + i] = llround(b);
    r[24 * n + i] = static_cast<signed char>(static_cast<int>(a)), r[25 * n + i] = static_cast<unsigned short>(static_cast<int>(b));
}

static int bits(float value)
{
    int result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

static long long bits(double value)
{
    long long result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

template <typename From>
static float narrowed(From value, int mode)
{
    volatile From from = value;
    std::fesetround(mode);
    volatile float result = static_cast<float>(from);
    std::fesetround(FE_TONEAREST);
    return result;
}

static void test_convert()
{
    const int n = 40, kinds = 26;
    std::vector<float> x(n);
    std::vector<double> y(n);
    std::vector<long long> want(kinds * n);
    for (int i = 0; i < n; ++i) {
        float a = x[i] = (i - 20) * 0.75f;
        double b = y[i] = (i - 20) * 1234.5678901;
        const long long values[kinds] = {
            llrint(a), (long long)(a), (long long)ceil(a), (long long)floor(a), llrint(b), (long long)(b), (long long)ceil(b),
            (long long)floor(b), llrint(a), (long long)floor(b), (long long)fabs(a), (long long)ceil(fabs(b)), bits(a), bits(b),
            int(bits(b) >> 32), int(bits(b)), bits(narrowed(b, FE_TOWARDZERO)), bits(narrowed(b, FE_UPWARD)),
            bits(float(int(bits(b) >> 20))), bits(narrowed(0xfffffff0u + i, FE_TOWARDZERO)),
            (long long)((unsigned long long)(i) << 32 | unsigned(-i)), bits(double(bits(b))), llrint(a), llround(b),
            (signed char)(int(a)), (unsigned short)(int(b))};
        for (int kind = 0; kind < kinds; ++kind) {
            want[kind * n + i] = values[kind];
        }
    }
    Device<float> d_x(x);
    Device<double> d_y(y);
    Device<long long> results(kinds * n);
    convert<<<1, n>>>(d_x, d_y, results, n);
    std::vector<long long> got = results.read();
    for (int kind = 0; kind < kinds; ++kind) {
        char name[32];
        std::snprintf(name, sizeof name, "conversion %d", kind);
        expect_equal(name, got.data() + kind * n, want.data() + kind * n, n);
    }
    // What does not fit saturates, and not-a-number becomes 0.
    std::vector<float> extremes{3e9f, -3e9f, NAN, 1e30f};
    std::vector<double> wide{3e9, -3e9, NAN, -1e300};
    Device<float> d_extremes(extremes);
    Device<double> d_wide(wide);
    convert<<<1, 4>>>(d_extremes, d_wide, results, 4);
    got = results.read();
    expect_equal("float to int", std::vector<long long>(got.begin() + 4, got.begin() + 8),
                 std::vector<long long>{2147483647, -2147483648ll, 0, 2147483647});
    expect_equal("double to int", std::vector<long long>(got.begin() + 20, got.begin() + 22),
                 std::vector<long long>{2147483647, -2147483648ll});
}

__global__ void not_numbers(unsigned long long *bits)
{
    bits[0] = __double_as_longlong(nan(""));
    bits[1] = __double_as_longlong(std::nan("0x12345"));
    bits[2] = __float_as_uint(nanf(""));
    bits[3] = __float_as_uint(std::nanf("77"));
}

static void test_not_numbers()
{
    Device<unsigned long long> bits(4);
    not_numbers<<<1, 1>>>(bits);
    const std::vector<unsigned long long> want{0x7ff8000000000000, 0x7ff8000000012345, 0x7fc00000, 0x7fc0004d};
    expect_equal("not-a-number with a tag", bits.read(), want);
}

int main()
{
    test_fast();
    test_rounded();
    test_convert();
    test_not_numbers();
    return done("math_intrinsics");
}
