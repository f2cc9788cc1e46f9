// flags: --extended-lambda
// Single-precision math against the host's double precision, within the errors that the CUDA guide
// gives, over ordinary, tiny, huge and special arguments.
#include "math_test.h"

#define COMPARE(expression, host, x, y, limit)                                                        \
    compare<float>(#expression, [] __device__(float a, float b) -> float { return (void)b, expression; }, \
                   [](double a, double b) -> double { return (void)b, host; }, x, y, limit)

__device__ float split_and_join(float value)
{
    int exponent;
    float fraction = frexpf(value, &exponent);
    bool proper = fraction == 0 || !isfinite(value) || (fabsf(fraction) >= 0.5f && fabsf(fraction) < 1);
    return proper ? ldexpf(fraction, isfinite(value) ? exponent : 0) : -12345.0f;
}

__device__ float fraction_and_whole(float value)
{
    float whole;
    float fraction = modff(value, &whole);
    return fabsf(fraction) < 1 && truncf(whole) == whole ? whole + fraction : -12345.0f;
}

__device__ float sine_and_cosine(float value, float)
{
    float sine, cosine;
    sincosf(value, &sine, &cosine);
    return 2 * sine + cosine;
}

// Exact at whole numbers, where the sine of a rounded multiple of pi is not.
static double sine_of_pi(double value)
{
    double rest = std::remainder(value, 2.0);
    if (std::fabs(rest) > 0.5) {
        rest = std::copysign(1.0, rest) - rest;
    }
    return std::sin(3.14159265358979323846 * rest);
}

static std::vector<float> range(float low, float high, int count)
{
    std::vector<float> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(low + (high - low) * ((i * 7919) % count) / (count - 1));
    }
    return values;
}

static std::vector<float> with_specials(std::vector<float> values)
{
    for (float special : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 1e-37f, 3e38f, -3e38f, 0.5f}) {
        values.push_back(special);
    }
    return values;
}

int main()
{
    const int n = 400;
    std::vector<float> any = with_specials(range(-20, 20, n));
    std::vector<float> positive = with_specials(range(1e-3f, 900, n));
    std::vector<float> unit = with_specials(range(-1, 1, n));
    std::vector<float> huge = with_specials(range(-1e7f, 3e9f, n));
    std::vector<float> other = range(-6, 6, static_cast<int>(any.size()));
    std::vector<float> small = range(0.1f, 3, static_cast<int>(any.size()));

    COMPARE(sqrtf(a), std::sqrt(a), positive, other, 0.5);
    COMPARE(rsqrtf(a), 1 / std::sqrt(a), positive, other, 2);
    COMPARE(cbrtf(a), std::cbrt(a), any, other, 1);
    COMPARE(expf(a), std::exp(a), any, other, 2);
    COMPARE(exp2f(a), std::exp2(a), any, other, 2);
    COMPARE(exp10f(a), std::pow(10.0, a), any, other, 2);
    COMPARE(expm1f(a), std::expm1(a), any, other, 2);
    COMPARE(logf(a), std::log(a), positive, other, 1);
    COMPARE(log2f(a), std::log2(a), positive, other, 1);
    COMPARE(log10f(a), std::log10(a), positive, other, 2);
    COMPARE(log1pf(a), std::log1p(a), positive, other, 1);
    COMPARE(powf(a, b), std::pow(a, b), positive, other, 4);
    COMPARE(sinf(a), std::sin(a), any, other, 2);
    COMPARE(cosf(a), std::cos(a), any, other, 2);
    COMPARE(tanf(a), std::tan(a), any, other, 4);
    COMPARE(sinf(a), std::sin(a), huge, other, 2);
    COMPARE(cosf(a), std::cos(a), huge, other, 2);
    COMPARE(sinpif(a), sine_of_pi(a), any, other, 2);
    COMPARE(asinf(a), std::asin(a), unit, other, 4);
    COMPARE(acosf(a), std::acos(a), unit, other, 4);
    COMPARE(atanf(a), std::atan(a), any, other, 2);
    COMPARE(atan2f(a, b), std::atan2(a, b), any, other, 3);
    COMPARE(sinhf(a), std::sinh(a), any, other, 3);
    COMPARE(coshf(a), std::cosh(a), any, other, 2);
    COMPARE(tanhf(a), std::tanh(a), any, other, 2);
    COMPARE(asinhf(a), std::asinh(a), any, other, 3);
    COMPARE(acoshf(a), std::acosh(a), positive, other, 4);
    COMPARE(atanhf(a), std::atanh(a), unit, other, 3);
    COMPARE(hypotf(a, b), std::hypot(a, b), any, other, 3);
    COMPARE(erff(a), std::erf(a), any, other, 2);
    COMPARE(erfcf(a), std::erfc(a), range(-4, 9, n), range(0, 1, n), 4);
    COMPARE(tgammaf(a), std::tgamma(a), small, other, 5);
    COMPARE(lgammaf(a), std::lgamma(a), range(3.1f, 40, n), range(0, 1, n), 6);
    COMPARE(fmodf(a, b), std::fmod(a, b), any, other, 0);
    COMPARE(remainderf(a, b), std::remainder(a, b), any, other, 0);
    COMPARE(fmaf(a, b, 0.1f), std::fma(a, b, static_cast<double>(0.1f)), any, other, 0.5);
    COMPARE(a / b, a / b, any, other, 0.5);
    COMPARE(fabsf(a), std::fabs(a), any, other, 0);
    COMPARE(fminf(a, b), std::fmin(a, b), any, other, 0);
    COMPARE(fmaxf(a, b), std::fmax(a, b), any, other, 0);
    COMPARE(fdimf(a, b), std::fdim(a, b), any, other, 0.5);
    COMPARE(copysignf(a, b), std::copysign(a, b), any, other, 0);
    COMPARE(floorf(a), std::floor(a), any, other, 0);
    COMPARE(ceilf(a), std::ceil(a), any, other, 0);
    COMPARE(truncf(a), std::trunc(a), any, other, 0);
    COMPARE(roundf(a), std::round(a), any, other, 0);
    COMPARE(rintf(a), std::rint(a), any, other, 0);
    COMPARE(nearbyintf(a), std::nearbyint(a), any, other, 0);
    COMPARE(ldexpf(a, static_cast<int>(b)), std::ldexp(a, static_cast<int>(b)), any, other, 0.5);
    COMPARE((isnan(a) ? 1 : 0) + (isinf(a) ? 2 : 0) + (signbit(a) ? 4 : 0),
            (std::isnan(a) ? 1 : 0) + (std::isinf(a) ? 2 : 0) + (std::signbit(a) ? 4 : 0), any, other, 0);
    COMPARE(split_and_join(a), a, any, other, 0);
    COMPARE(fraction_and_whole(a), a, range(-30, 30, n), range(0, 1, n), 0);
    COMPARE(sine_and_cosine(a, b), std::sin(a) * 2 + std::cos(a), range(-30, 30, n), range(0, 1, n), 300);
    return done("math_float");
}
