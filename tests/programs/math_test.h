// Comparison of device math with the host's.
#pragma once

#include "test.h"

// Distance in units in the last place; not-a-numbers agree with each other.
inline double ulps(float a, double exact)
{
    float rounded = static_cast<float>(exact);
    if (std::isnan(a) || std::isnan(exact)) {
        return std::isnan(a) && std::isnan(exact) ? 0 : INFINITY;
    }
    if (std::isinf(a) || std::isinf(rounded)) {
        return a == rounded ? 0 : INFINITY;
    }
    int exponent;
    std::frexp(rounded, &exponent);
    double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
    return std::fabs(static_cast<double>(a) - exact) / unit;
}

inline double ulps(double a, long double exact)
{
    double rounded = static_cast<double>(exact);
    if (std::isnan(a) || std::isnan(rounded)) {
        return std::isnan(a) && std::isnan(rounded) ? 0 : INFINITY;
    }
    if (std::isinf(a) || std::isinf(rounded)) {
        return a == rounded ? 0 : INFINITY;
    }
    int exponent;
    std::frexp(rounded, &exponent);
    long double unit = std::ldexp(1.0L, std::max(exponent, -1021) - 53);
    return static_cast<double>(std::fabs(static_cast<long double>(a) - exact) / unit);
}

// `evaluate(x, y)` on the device for all pairs of arguments against `exact(x, y)`.
template <typename T, typename F>
__global__ void evaluate_all(F evaluate, const T *x, const T *y, T *results, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        results[i] = evaluate(x[i], y[i]);
    }
}

template <typename T, typename F, typename Exact>
void compare(const char *name, F evaluate, Exact exact, const std::vector<T> &x, const std::vector<T> &y, double limit)
{
    int n = static_cast<int>(x.size());
    Device<T> d_x(x), d_y(y), d_results(x.size());
    evaluate_all<<<(n + 95) / 96, 96>>>(evaluate, d_x.pointer, d_y.pointer, d_results.pointer, n);
    std::vector<T> results = d_results.read();
    int told = 0;
    for (int i = 0; i < n; ++i) {
        auto want = exact(x[i], y[i]);
        double error = ulps(results[i], want);
        if (!(error <= limit)) {
            ++failures;
            if (++told <= 3) {
                std::fprintf(stderr, "%s(%.9g, %.9g) is %.17g, expected %.17g: %.3g ulp\n", name,
                             static_cast<double>(x[i]), static_cast<double>(y[i]), static_cast<double>(results[i]),
                             static_cast<double>(want), error);
            }
        }
    }
}
