// flags: -arch=sm_90
// Atomic additions to vectors of floats, and to half-precision and bfloat16 numbers, one and two at a time, in global and shared memory. All sums
// are small integers, so they are exact in any order.
#include "test.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename Pair, typename Number>
__device__ Pair pair(float low, float high)
{
    Pair made;
    made.x = Number(low);
    made.y = Number(high);
    return made;
}

template <typename Number, typename Pair>
__global__ void sums(Number *number, Pair *both, float *out, float *before)
{
    __shared__ Pair shared[2];
    __shared__ Number single;
    int i = threadIdx.x;
    if (i < 2) {
        shared[i] = pair<Pair, Number>(0, 0);
        single = Number(1.0f);
    }
    __syncthreads();
    before[i] = float(atomicAdd(number, Number(1.0f)));
    Pair old = atomicAdd(both, pair<Pair, Number>(1, 2));
    before[64 + i] = float(old.y) - 2 * float(old.x);
    atomicAdd(&shared[i & 1], pair<Pair, Number>(3, -1));
    atomicAdd(&single, Number(2.0f));
    __syncthreads();
    if (i < 2) {
        out[2 * i] = float(shared[i].x);
        out[2 * i + 1] = float(shared[i].y);
        out[4] = float(single);
    }
}

template <typename Number, typename Pair>
void check(const char *name)
{
    Device<Number> number(1);
    Device<Pair> both(1);
    Device<float> out(5), before(128);
    sums<<<1, 64>>>(number.pointer, both.pointer, out.pointer, before.pointer);
    std::vector<float> old = before.read();
    std::sort(old.begin(), old.begin() + 64);
    std::vector<float> want(128, 0.0f);
    for (int i = 0; i < 64; ++i) {
        want[i] = i;
    }
    expect_equal(name, old, want);
    expect_equal(name, out.read(), std::vector<float>{96, -32, 96, -32, 129});
    Number got = number.read()[0];
    Pair pair_got = both.read()[0];
    expect_equal(name, float(got), 64.0f);
    expect_equal(name, float(pair_got.x), 64.0f);
    expect_equal(name, float(pair_got.y), 128.0f);
}

// Vectors of floats, each element of which is an atomic of its own.
__global__ void vectors(float4 *four, float2 *two, float *before)
{
    int i = threadIdx.x;
    float4 old = atomicAdd(four, make_float4(1, i, 2, -1));
    before[i] = old.z - 2 * old.x;
    if (i % 2) {
        atomicAdd(two + i % 4 / 2, make_float2(i, 3));
    }
}

static void check_vectors()
{
    Device<float4> four(1);
    Device<float2> two(2);
    Device<float> before(64);
    vectors<<<1, 64>>>(four, two, before);
    float4 sum = four.read()[0];
    expect_equal("float4", std::vector<float>{sum.x, sum.y, sum.z, sum.w}, std::vector<float>{64, 2016, 128, -64});
    std::vector<float2> pairs = two.read();
    expect_equal("float2, 1 5 9", std::vector<float>{pairs[0].x, pairs[0].y}, std::vector<float>{496, 48});
    expect_equal("float2, 3 7 11", std::vector<float>{pairs[1].x, pairs[1].y}, std::vector<float>{528, 48});
    expect_equal("old values", before.read(), std::vector<float>(64, 0.0f));
}

int main()
{
    check_vectors();
    check<__half, __half2>("half");
    check<__nv_bfloat16, __nv_bfloat162>("bfloat16");
    return done("atomics_half");
}
