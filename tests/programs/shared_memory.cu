// Static and dynamic shared memory, alone and together, of several types, and of template instances.
#include "test.h"

__global__ void reverse_static(int *values)
{
    __shared__ int buffer[64];
    buffer[threadIdx.x] = values[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    values[blockIdx.x * 64 + threadIdx.x] = buffer[63 - threadIdx.x];
}

extern __shared__ unsigned char dynamic_bytes[];

// An array of doubles, then one of shorts, in the dynamic part; a static part in addition.
__global__ void carve(double *doubles, short *shorts, int *sums, int n)
{
    __shared__ int sum;
    double *d = reinterpret_cast<double *>(dynamic_bytes);
    short *s = reinterpret_cast<short *>(d + n);
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        d[i] = 0.5 * i + blockIdx.x;
        s[i] = static_cast<short>(-i);
        atomicAdd(&sum, i);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        doubles[blockIdx.x * n + i] = d[n - 1 - i];
        shorts[blockIdx.x * n + i] = s[n - 1 - i];
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

template <typename T, int N>
__global__ void rotate(T *values, int by)
{
    __shared__ T buffer[N];
    __shared__ struct {
        T first;
        int shift;
    } head;
    if (threadIdx.x == 0) {
        head.first = values[0];
        head.shift = by;
    }
    buffer[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = buffer[(threadIdx.x + head.shift) % N] + head.first;
}

template <typename T, int N>
static void test_rotate(const char *name)
{
    std::vector<T> values(N), want(N);
    for (int i = 0; i < N; ++i) {
        values[i] = static_cast<T>(3 * i + 1);
    }
    for (int i = 0; i < N; ++i) {
        want[i] = static_cast<T>(values[(i + 5) % N] + values[0]);
    }
    Device<T> d_values(values);
    rotate<T, N><<<1, N>>>(d_values, 5);
    expect_equal(name, d_values.read(), want);
}

// A shared pointer handed to a function loses its space there.
__device__ __noinline__ int sum_of(const int *values, int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += values[i];
    }
    return sum;
}

__global__ void through_generic(const int *global, int *result)
{
    __shared__ int copy[32];
    copy[threadIdx.x] = 2 * global[threadIdx.x];
    __syncthreads();
    result[threadIdx.x] = sum_of(threadIdx.x % 2 ? copy : global, threadIdx.x + 1);
}

int main()
{
    std::vector<int> values(256), want(256);
    for (int i = 0; i < 256; ++i) {
        values[i] = i * i;
    }
    for (int i = 0; i < 256; ++i) {
        want[i] = values[i / 64 * 64 + 63 - i % 64];
    }
    Device<int> d_values(values);
    reverse_static<<<4, 64>>>(d_values);
    expect_equal("static", d_values.read(), want);

    for (int n : {1, 33, 1000, 4096}) {
        const int blocks = 3;
        Device<double> doubles(blocks * n);
        Device<short> shorts(blocks * n);
        Device<int> sums(blocks);
        carve<<<blocks, 96, n * (sizeof(double) + sizeof(short))>>>(doubles, shorts, sums, n);
        std::vector<double> want_doubles;
        std::vector<short> want_shorts;
        for (int block = 0; block < blocks; ++block) {
            for (int i = n - 1; i >= 0; --i) {
                want_doubles.push_back(0.5 * i + block);
                want_shorts.push_back(static_cast<short>(-i));
            }
        }
        expect_equal("doubles", doubles.read(), want_doubles);
        expect_equal("shorts", shorts.read(), want_shorts);
        expect_equal("sums", sums.read(), std::vector<int>(blocks, n * (n - 1) / 2));
    }

    test_rotate<unsigned char, 40>("bytes");
    test_rotate<float, 64>("floats");
    test_rotate<long long, 96>("64-bit");

    std::vector<int> ones(32, 1), sums(32);
    for (int i = 0; i < 32; ++i) {
        sums[i] = (i % 2 ? 2 : 1) * (i + 1);
    }
    Device<int> d_ones(ones), d_sums(32);
    through_generic<<<1, 32>>>(d_ones, d_sums);
    expect_equal("generic", d_sums.read(), sums);
    return done("shared_memory");
}
