// Vector types: loads, stores and components of 4 to 16 bytes, in global, shared, constant and local
// memory; reductions of a lane's own vector.
#include "test.h"

__constant__ float4 c_offsets[4];

__host__ __device__ inline float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void floats(const float4 *in, float4 *out)
{
    __shared__ float4 tile[64];
    int i = threadIdx.x;
    tile[i] = in[blockIdx.x * 64 + i];
    __syncthreads();
    float4 value = tile[63 - i] + c_offsets[i % 4];
    out[blockIdx.x * 64 + i] = make_float4(value.w, value.z, value.y, value.x);
}

template <typename V>
__global__ void reverse(V *values, int n)
{
    int i = threadIdx.x;
    if (i < n / 2) {
        V left = values[i], right = values[n - 1 - i];
        values[i] = right;
        values[n - 1 - i] = left;
    }
}

template <typename V>
static void test(const char *name)
{
    const int n = 77;
    std::vector<V> values(n);
    unsigned char *bytes = reinterpret_cast<unsigned char *>(values.data());
    for (size_t i = 0; i < n * sizeof(V); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 13 % 251);
    }
    Device<V> d_values(values);
    reverse<V><<<1, 64>>>(d_values, n);
    std::reverse(values.begin(), values.end());
    std::vector<V> got = d_values.read();
    if (std::memcmp(got.data(), values.data(), n * sizeof(V)) != 0) {
        ++failures;
        std::fprintf(stderr, "%s is wrong\n", name);
    }
}

// Parts of vectors, one after another and by run-time index.
__global__ void parts(const int4 *in, const double2 *pairs, const char4 *small, double *out, int *mixed)
{
    int i = threadIdx.x;
    int4 value = in[i];
    value.y += value.x;
    value.w *= 2;
    out[i] = pairs[i].x - pairs[31 - i].y;
    int components[4] = {value.x, value.y, value.z, value.w};
    mixed[i] = components[i % 4] + small[i].z;
    reinterpret_cast<int2 *>(mixed)[32 + i] = make_int2(value.z, value.w);
    reinterpret_cast<short4 *>(mixed + 128)[i] = make_short4(i, -i, 2 * i, 7);
}

// What LLVM makes of sums over neighbouring elements: a lane's own vector, reduced to one number.
typedef short Shorts __attribute__((ext_vector_type(2)));
typedef int Ints __attribute__((ext_vector_type(4)));
typedef float Floats __attribute__((ext_vector_type(4)));

__global__ void reductions(int *results, int uniform)
{
    int i = threadIdx.x;
    int *mine = results + 12 * i;
    Shorts shorts = {static_cast<short>(i * 3000), static_cast<short>(30000 - i)};
    Ints ints = {i, 7 - i, i * i - 50, 3};
    Floats floats = {i * 0.5f, 3.0f - i, i % 3 * 1.0f, -2.0f};
    mine[0] = __builtin_reduce_add(shorts);
    mine[1] = __builtin_reduce_max(shorts);
    mine[2] = __builtin_reduce_add(ints);
    mine[3] = __builtin_reduce_mul(ints);
    mine[4] = __builtin_reduce_min(ints);
    mine[5] = __builtin_reduce_max(ints);
    mine[6] = __builtin_reduce_and(ints);
    mine[7] = __builtin_reduce_or(ints);
    mine[8] = __builtin_reduce_xor(ints);
    mine[9] = static_cast<int>(2 * __builtin_reduce_min(floats));
    mine[10] = static_cast<int>(2 * __builtin_reduce_max(floats));
    Ints same = {uniform, uniform + 1, uniform * 2, 5};
    mine[11] = __builtin_reduce_add(same);
}

static void test_reductions()
{
    std::vector<int> want;
    for (int i = 0; i < 32; ++i) {
        const short low = static_cast<short>(i * 3000), high = static_cast<short>(30000 - i);
        const int a = i, b = 7 - i, c = i * i - 50, d = 3;
        const float e = i * 0.5f, f = 3.0f - i, g = i % 3 * 1.0f, h = -2.0f;
        const int row[] = {static_cast<short>(low + high), std::max(low, high), a + b + c + d, a * b * c * d,
                           std::min({a, b, c, d}), std::max({a, b, c, d}), a & b & c & d, a | b | c | d, a ^ b ^ c ^ d,
                           static_cast<int>(2 * std::min({e, f, g, h})), static_cast<int>(2 * std::max({e, f, g, h})),
                           4 * 9 + 6};
        want.insert(want.end(), std::begin(row), std::end(row));
    }
    Device<int> results(want.size());
    reductions<<<1, 32>>>(results, 9);
    expect_equal("reductions", results.read(), want);
}

int main()
{
    test_reductions();
    std::vector<float4> in(128), want(128), offsets(4);
    for (int i = 0; i < 4; ++i) {
        offsets[i] = {1.0f * i, 2.0f * i, 3.0f * i, 4.0f * i};
    }
    for (int i = 0; i < 128; ++i) {
        in[i] = {1.0f * i, 2.0f * i, 3.0f * i, 0.5f * i};
    }
    CHECK(cudaMemcpyToSymbol(c_offsets, offsets.data(), sizeof(float4) * 4));
    for (int i = 0; i < 128; ++i) {
        float4 value = in[i / 64 * 64 + 63 - i % 64] + offsets[i % 4];
        want[i] = {value.w, value.z, value.y, value.x};
    }
    Device<float4> d_in(in), out(128);
    floats<<<2, 64>>>(d_in, out);
    std::vector<float4> got = out.read();
    expect_equal("float4", &got[0].x, &want[0].x, 512);

    test<float2>("float2");
    test<float3>("float3");
    test<float4>("float4");
    test<int2>("int2");
    test<int3>("int3");
    test<uint4>("uint4");
    test<double2>("double2");
    test<char4>("char4");
    test<uchar2>("uchar2");
    test<short4>("short4");
    test<ushort3>("ushort3");
    test<longlong2>("longlong2");

    std::vector<int4> fours(32);
    std::vector<double2> pairs(32);
    std::vector<char4> small(32);
    std::vector<double> want_out(32);
    std::vector<int> want_mixed(192);
    for (int i = 0; i < 32; ++i) {
        fours[i] = {i, 2 * i, 3 * i, 4 * i};
        pairs[i] = {0.5 * i, 0.25 * i};
        small[i] = {1, 2, static_cast<signed char>(-i), 4};
    }
    for (int i = 0; i < 32; ++i) {
        want_out[i] = pairs[i].x - pairs[31 - i].y;
        const int components[] = {i, 3 * i, 3 * i, 8 * i};
        want_mixed[i] = components[i % 4] - i;
        want_mixed[64 + 2 * i] = 3 * i;
        want_mixed[64 + 2 * i + 1] = 8 * i;
        want_mixed[128 + 2 * i] = static_cast<int>((unsigned(i) & 0xffff) | unsigned(-i) << 16);
        want_mixed[128 + 2 * i + 1] = static_cast<int>((unsigned(2 * i) & 0xffff) | 7u << 16);
    }
    Device<int4> d_fours(fours);
    Device<double2> d_pairs(pairs);
    Device<char4> d_small(small);
    Device<double> d_out(32);
    Device<int> mixed(192);
    parts<<<1, 32>>>(d_fours, d_pairs, d_small, d_out, mixed);
    expect_equal("pairs", d_out.read(), want_out);
    expect_equal("mixed", mixed.read(), want_mixed);
    return done("vectors");
}
