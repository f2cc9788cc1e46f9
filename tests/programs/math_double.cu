// flags: --extended-lambda
// Double-precision math against the host's long double. libdevice's logarithms are wrong by a little more than one unit
// in the last place at some of these numbers whatever they start from.
#include "math_test.h"

#define COMPARE(expression, host, x, y, limit)                                                          \
    compare<double>(#expression, [] __device__(double a, double b) -> double { return (void)b, expression; }, \
                    [](long double a, long double b) -> long double { return (void)b, host; }, x, y, limit)

static std::vector<double> range(double low, double high, int count)
{
    std::vector<double> values;
    for (int i = 0; i < count; ++i) {
        values.push_back(low + (high - low) * ((i * 7919) % count) / (count - 1));
    }
    return values;
}

static std::vector<double> with_specials(std::vector<double> values)
{
    for (double special : {0.0, -0.0, 1.0, -1.0, double(INFINITY), -double(INFINITY), double(NAN), 1e-310, 1e300, -1e300}) {
        values.push_back(special);
    }
    return values;
}

__device__ double split_and_join(double value)
{
    int exponent;
    double fraction = frexp(value, &exponent);
    return ldexp(fraction, isfinite(value) ? exponent : 0);
}

__device__ double sine_and_cosine(double value)
{
    double sine, cosine;
    sincos(value, &sine, &cosine);
    return 2 * sine + cosine;
}

int main()
{
    const int n = 300;
    std::vector<double> any = with_specials(range(-20, 20, n));
    std::vector<double> positive = with_specials(range(1e-3, 900, n));
    std::vector<double> unit = with_specials(range(-1, 1, n));
    std::vector<double> huge = with_specials(range(-1e12, 3e15, n));
    std::vector<double> other = range(-6, 6, static_cast<int>(any.size()));

    COMPARE(sqrt(a), std::sqrt(a), positive, other, 0.51);
    COMPARE(rsqrt(a), 1 / std::sqrt(a), positive, other, 1.0);
    COMPARE(cbrt(a), std::cbrt(a), any, other, 1.1);
    COMPARE(exp(a), std::exp(a), any, other, 1.1);
    COMPARE(exp2(a), std::exp2(a), any, other, 1.1);
    COMPARE(expm1(a), std::expm1(a), any, other, 1.1);
    COMPARE(log(a), std::log(a), positive, other, 1.5);
    COMPARE(log2(a), std::log2(a), positive, other, 1.5);
    COMPARE(log10(a), std::log10(a), positive, other, 1.5);
    COMPARE(log1p(a), std::log1p(a), positive, other, 1.5);
    COMPARE(pow(a, b), std::pow(a, b), positive, other, 2.1);
    COMPARE(sin(a), std::sin(a), any, other, 2.1);
    COMPARE(cos(a), std::cos(a), any, other, 2.1);
    COMPARE(tan(a), std::tan(a), any, other, 2.1);
    COMPARE(sin(a), std::sin(a), huge, other, 2.1);
    COMPARE(cos(a), std::cos(a), huge, other, 2.1);
    COMPARE(asin(a), std::asin(a), unit, other, 2.1);
    COMPARE(acos(a), std::acos(a), unit, other, 2.1);
    COMPARE(atan(a), std::atan(a), any, other, 2.1);
    COMPARE(atan2(a, b), std::atan2(a, b), any, other, 2.1);
    COMPARE(sinh(a), std::sinh(a), any, other, 2.1);
    COMPARE(cosh(a), std::cosh(a), any, other, 1.1);
    COMPARE(tanh(a), std::tanh(a), any, other, 1.1);
    COMPARE(asinh(a), std::asinh(a), any, other, 3.1);
    COMPARE(acosh(a), std::acosh(a), positive, other, 3.1);
    COMPARE(atanh(a), std::atanh(a), unit, other, 2.1);
    COMPARE(hypot(a, b), std::hypot(a, b), any, other, 2.1);
    COMPARE(erf(a), std::erf(a), any, other, 2.1);
    COMPARE(erfc(a), std::erfc(a), range(-4, 20, n), range(0, 1, n), 5.1);
    COMPARE(tgamma(a), std::tgamma(a), range(0.1, 12, n), range(0, 1, n), 10.1);
    COMPARE(lgamma(a), std::lgamma(a), range(3.1, 40, n), range(0, 1, n), 4.1);
    COMPARE(fmod(a, b), std::fmod(a, b), any, other, 0.01);
    COMPARE(remainder(a, b), std::remainder(a, b), any, other, 0.01);
    COMPARE(a / b, a / b, any, other, 0.51);
    COMPARE(fma(a, b, 0.1), static_cast<long double>(std::fma(static_cast<double>(a), static_cast<double>(b), 0.1)), any, other, 0.01);
    COMPARE(fmin(a, b), std::fmin(a, b), any, other, 0);
    COMPARE(fmax(a, b), std::fmax(a, b), any, other, 0);
    COMPARE(floor(a), std::floor(a), any, other, 0);
    COMPARE(ceil(a), std::ceil(a), any, other, 0);
    COMPARE(trunc(a), std::trunc(a), any, other, 0);
    COMPARE(round(a), std::round(a), any, other, 0);
    COMPARE(rint(a), std::rint(a), any, other, 0);
    COMPARE(copysign(a, b), std::copysign(a, b), any, other, 0);
    COMPARE(split_and_join(a), a, any, other, 0);
    COMPARE(sine_and_cosine(a), 2 * std::sin(a) + std::cos(a), range(-30, 30, n), range(0, 1, n), 60);
    return done("math_double");
}
