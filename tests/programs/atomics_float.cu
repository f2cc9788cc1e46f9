// Floating-point atomics: float and double addition, exchange, and minimum by compare-and-swap.
#include "test.h"

template <typename T>
__global__ void sums(T *global, T *from_shared, T *before)
{
    __shared__ T local;
    if (threadIdx.x == 0) {
        local = 0;
    }
    __syncthreads();
    T value = static_cast<T>(threadIdx.x) * static_cast<T>(0.5);
    before[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(global, value);
    atomicAdd(&local, value);
    __syncthreads();
    if (threadIdx.x == 0) {
        from_shared[blockIdx.x] = local;
    }
}

__device__ double atomic_min(double *address, double value)
{
    unsigned long long *bits = reinterpret_cast<unsigned long long *>(address);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        if (__longlong_as_double(static_cast<long long>(assumed)) <= value) {
            break;
        }
        old = atomicCAS(bits, assumed, static_cast<unsigned long long>(__double_as_longlong(value)));
    } while (assumed != old);
    return __longlong_as_double(static_cast<long long>(old));
}

__device__ float atomic_product(float *address, float factor)
{
    int *bits = reinterpret_cast<int *>(address);
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(factor * __int_as_float(assumed)));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void by_hand(double *least, float *product, float *exchanged)
{
    atomic_min(least, 100.0 - ((threadIdx.x * 29) % 64));
    atomic_product(product, threadIdx.x % 2 ? 2.0f : 0.5f);
    atomicExch(exchanged, threadIdx.x + 0.25f);
}

// One address per lane: nothing collides.
__global__ void spread(float *cells, double *wide)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&cells[i], 1.5f);
    atomicAdd(&wide[i / 2], 0.25);
}

template <typename T>
static void test()
{
    const int threads = 80, blocks = 3;
    Device<T> global(1), shared(blocks), before(threads * blocks);
    sums<T><<<blocks, threads>>>(global, shared, before);
    // All sums are small multiples of one half, thus exact in any order.
    T per_block = static_cast<T>(threads * (threads - 1) / 2) / 2;
    expect_equal("sum", global.read()[0], blocks * per_block);
    expect_equal("shared sums", shared.read(), std::vector<T>(blocks, per_block));
    std::vector<T> values = before.read();
    EXPECT(*std::min_element(values.begin(), values.end()) == 0);
    EXPECT(*std::max_element(values.begin(), values.end()) <= blocks * per_block);
}

int main()
{
    test<float>();
    test<double>();

    Device<double> least(std::vector<double>{1e9});
    Device<float> product(std::vector<float>{3.0f}), exchanged(1);
    by_hand<<<1, 64>>>(least, product, exchanged);
    expect_equal("minimum", least.read()[0], 37.0);
    expect_equal("product", product.read()[0], 3.0f);
    float last = exchanged.read()[0];
    EXPECT(last >= 0.25f && last < 64 && last - std::floor(last) == 0.25f);

    Device<float> cells(130);
    Device<double> wide(65);
    spread<<<2, 65>>>(cells, wide);
    spread<<<2, 65>>>(cells, wide);
    expect_equal("spread", cells.read(), std::vector<float>(130, 3.0f));
    expect_equal("pairs", wide.read(), std::vector<double>(65, 1.0));
    return done("atomics_float");
}
