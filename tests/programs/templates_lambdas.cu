// flags: --extended-lambda --expt-relaxed-constexpr -std=c++17
// Templates, lambdas handed to kernels, kernels in namespaces and classes, constexpr functions and
// compile-time branches.
#include "test.h"

constexpr int power(int base, int exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

template <typename F>
__global__ void for_each(int n, F function)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        function(i);
    }
}

template <typename T, int UNROLL, bool SQUARE>
__global__ void accumulate(const T *in, T *out)
{
    T sum = 0;
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        T value = in[threadIdx.x * UNROLL + i];
        if constexpr (SQUARE) {
            value *= value;
        }
        sum += value;
    }
    out[threadIdx.x] = sum;
}

namespace {
__global__ void hidden(int *out)
{
    out[threadIdx.x] = power(2, 5) + static_cast<int>(threadIdx.x);
}
} // namespace

namespace outer::inner {
template <typename T>
struct Functor {
    T scale;
    __device__ T operator()(T value) const { return value * scale + power(3, 2); }
};

template <typename T, template <typename> class Op>
__global__ void apply(T *values, Op<T> op)
{
    values[threadIdx.x] = op(values[threadIdx.x]);
}
} // namespace outer::inner

template <typename T>
struct Sum {
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
struct Largest {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return a > b ? a : b;
    }
};

template <typename T, typename Op>
__device__ T reduce_warp(T value, Op op)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

template <typename T, typename Op>
__global__ void reduce(const T *in, T *out, Op op)
{
    T result = reduce_warp(in[threadIdx.x], op);
    if (threadIdx.x == 0) {
        *out = result;
    }
}

int main()
{
    const int n = 150;
    Device<int> squares(n);
    int *out = squares;
    int offset = 7;
    for_each<<<2, 64>>>(n, [=] __device__(int i) { out[i] = i * i + offset; });
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i) {
        want[i] = i * i + 7;
    }
    expect_equal("lambda", squares.read(), want);
    auto negate = [out] __host__ __device__(int i) { out[i] = -out[i]; };
    for_each<<<1, 33>>>(n, negate);
    for (int &value : want) {
        value = -value;
    }
    expect_equal("host and device lambda", squares.read(), want);

    std::vector<double> numbers(64);
    std::vector<int> integers(64);
    for (int i = 0; i < 64; ++i) {
        numbers[i] = i * 0.5;
        integers[i] = i;
    }
    Device<double> d_numbers(numbers), sums(16);
    Device<int> d_integers(integers), integer_sums(32);
    accumulate<double, 4, false><<<1, 16>>>(d_numbers, sums);
    accumulate<int, 2, true><<<1, 32>>>(d_integers, integer_sums);
    for (int i = 0; i < 16; ++i) {
        expect_equal("sum", sums.read()[i], 8.0 * i + 3);
        expect_equal("sum of squares", integer_sums.read()[i], 4 * i * i + (2 * i + 1) * (2 * i + 1));
    }

    Device<int> values(8);
    hidden<<<1, 8>>>(values);
    outer::inner::apply<<<1, 8>>>(values.pointer, outer::inner::Functor<int>{10});
    for (int i = 0; i < 8; ++i) {
        expect_equal("functor", values.read()[i], (32 + i) * 10 + 9);
    }

    Device<int> total(1);
    Device<double> most(1);
    reduce<<<1, 32>>>(d_integers.pointer, total.pointer, Sum<int>());
    reduce<<<1, 32>>>(d_numbers.pointer, most.pointer, Largest());
    expect_equal("total", total.read()[0], 31 * 16);
    expect_equal("most", most.read()[0], 15.5);
    return done("templates_lambdas");
}
