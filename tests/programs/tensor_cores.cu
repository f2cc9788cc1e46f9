// Tensor cores: wmma fragments of all types, mma.sync and ldmatrix of inline assembly.
// flags: -arch=sm_80
#include "test.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// Small numbers, so that every sum is exact in every type.
static int entry(int i, int salt) { return (i * 7 + i / 5 + salt) % 5 - 2; }

template <typename T> struct Make {
    static T of(int value) { return static_cast<T>(value); }
};
template <> struct Make<half> {
    static half of(int value) { return __float2half(static_cast<float>(value)); }
};
template <> struct Make<__nv_bfloat16> {
    static __nv_bfloat16 of(int value) { return __float2bfloat16(static_cast<float>(value)); }
};

template <typename T> double number(T value) { return static_cast<double>(value); }
template <> double number(half value) { return __half2float(value); }

template <typename T> struct Stored { using type = T; };
template <> struct Stored<wmma::precision::tf32> { using type = float; };

// D = 2 (A B + C) of one tile, with rows padded in memory.
template <int M, int N, int K, typename T, typename S, typename LayoutA, typename LayoutB>
__global__ void product(const typename Stored<T>::type *a, const typename Stored<T>::type *b, const S *c, S *d, int lda,
                        int ldb, int ldc, wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> right;
    wmma::fragment<wmma::accumulator, M, N, K, S> sum;
    wmma::load_matrix_sync(left, a, lda);
    wmma::load_matrix_sync(right, b, ldb);
    wmma::load_matrix_sync(sum, c, ldc, layout);
    if constexpr (std::is_same<T, wmma::precision::tf32>::value) {
        for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
    }
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; ++i) {
        sum.x[i] = sum.x[i] + sum.x[i];
    }
    wmma::store_matrix_sync(d, sum, ldc, layout);
}

// The same without the doubling, from shared memory.
template <int M, int N, int K, typename T, typename S, typename LayoutA, typename LayoutB>
__global__ void from_shared(const typename Stored<T>::type *a, const typename Stored<T>::type *b, const S *c, S *d, int lda,
                            int ldb, int ldc, int count_a, int count_b, wmma::layout_t layout)
{
    extern __shared__ __align__(32) unsigned char bytes[];
    auto *held_a = reinterpret_cast<typename Stored<T>::type *>(bytes);
    auto *held_b = held_a + count_a;
    for (int i = threadIdx.x; i < count_a; i += 32) held_a[i] = a[i];
    for (int i = threadIdx.x; i < count_b; i += 32) held_b[i] = b[i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> right;
    wmma::fragment<wmma::accumulator, M, N, K, S> sum;
    wmma::load_matrix_sync(left, held_a, lda);
    wmma::load_matrix_sync(right, held_b, ldb);
    wmma::load_matrix_sync(sum, c, ldc, layout);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, ldc, layout);
}

template <int M, int N, int K, typename T, typename S, typename LayoutA, typename LayoutB>
void check(const char *name, wmma::layout_t layout)
{
    using Element = typename Stored<T>::type;
    constexpr bool row_a = std::is_same<LayoutA, wmma::row_major>::value;
    constexpr bool row_b = std::is_same<LayoutB, wmma::row_major>::value;
    const bool row_c = layout == wmma::mem_row_major;
    const int lda = (row_a ? K : M) + 16, ldb = (row_b ? N : K) + 16, ldc = (row_c ? N : M) + 8;
    std::vector<Element> a((row_a ? M : K) * lda), b((row_b ? K : N) * ldb);
    std::vector<S> c((row_c ? M : N) * ldc), want(c.size());
    const int least = std::is_unsigned<Element>::value ? 2 : 0;
    for (size_t i = 0; i < a.size(); ++i) a[i] = Make<Element>::of(entry(i, 0) + least);
    for (size_t i = 0; i < b.size(); ++i) b[i] = Make<Element>::of(entry(i, 3) + least);
    for (size_t i = 0; i < c.size(); ++i) c[i] = Make<S>::of(entry(i, 1));
    for (size_t i = 0; i < c.size(); ++i) want[i] = Make<S>::of(0);
    for (int m = 0; m < M; ++m) {
        for (int n = 0; n < N; ++n) {
            const int at = row_c ? m * ldc + n : n * ldc + m;
            double sum = number(c[at]);
            for (int k = 0; k < K; ++k) {
                sum += number(a[row_a ? m * lda + k : k * lda + m]) * number(b[row_b ? k * ldb + n : n * ldb + k]);
            }
            want[at] = Make<S>::of(static_cast<int>(2 * sum));
        }
    }
    Device<Element> d_a(a), d_b(b);
    Device<S> d_c(c), d_d(c.size());
    product<M, N, K, T, S, LayoutA, LayoutB><<<1, 32>>>(d_a, d_b, d_c, d_d, lda, ldb, ldc, layout);
    std::vector<S> got = d_d.read();
    std::vector<double> got_numbers, want_numbers;
    for (size_t i = 0; i < got.size(); ++i) {
        got_numbers.push_back(number(got[i]));
        want_numbers.push_back(number(want[i]));
    }
    expect_equal(name, got_numbers, want_numbers);
    if constexpr (M == 16 && !std::is_same<T, __nv_bfloat16>::value) {
        d_d.write(std::vector<S>(c.size(), Make<S>::of(0)));
        from_shared<M, N, K, T, S, LayoutA, LayoutB><<<1, 32, (a.size() + b.size()) * sizeof(Element)>>>(
            d_a, d_b, d_c, d_d, lda, ldb, ldc, a.size(), b.size(), layout);
        got = d_d.read();
        for (size_t i = 0; i < got.size(); ++i) got_numbers[i] = 2 * number(got[i]);
        expect_equal(name, got_numbers, want_numbers);
    }
}

template <int M, int N, int K, typename T, typename S> void both_layouts(const char *name)
{
    using Row = wmma::row_major;
    using Column = wmma::col_major;
    check<M, N, K, T, S, Row, Row>(name, wmma::mem_row_major);
    check<M, N, K, T, S, Column, Column>(name, wmma::mem_col_major);
}

// D = A B of 16 x 16 by 16 x 8, A from shared memory by rows, B by columns that ldmatrix transposes.
__global__ void by_hand(const half *a, const half *b, float *d)
{
    __shared__ __align__(16) half left[16 * 16], right[16 * 8];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) left[i] = a[i];
    for (int i = lane; i < 128; i += 32) right[i] = b[i];
    __syncthreads();
    unsigned ra[4], rb[2];
    float sum[4] = {0, 0, 0, 0};
    // Lanes 0 to 7 give the rows of the first block, and so on: below, right, below right.
    const unsigned row = __cvta_generic_to_shared(left + lane % 16 * 16 + lane / 16 * 8);
    const unsigned column = __cvta_generic_to_shared(right + lane % 16 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1]) : "r"(column));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    const int group = lane / 4, pair = lane % 4 * 2;
    d[group * 8 + pair] = sum[0];
    d[group * 8 + pair + 1] = sum[1];
    d[(group + 8) * 8 + pair] = sum[2];
    d[(group + 8) * 8 + pair + 1] = sum[3];
}

void hand_written()
{
    std::vector<half> a(256), b(128);
    for (int i = 0; i < 256; ++i) a[i] = Make<half>::of(entry(i, 2));
    for (int i = 0; i < 128; ++i) b[i] = Make<half>::of(entry(i, 4));
    std::vector<float> want(128);
    for (int m = 0; m < 16; ++m)
        for (int n = 0; n < 8; ++n)
            for (int k = 0; k < 16; ++k) want[m * 8 + n] += number(a[m * 16 + k]) * number(b[k * 8 + n]);
    Device<half> d_a(a), d_b(b);
    Device<float> d(128);
    by_hand<<<1, 32>>>(d_a, d_b, d);
    expect_equal("mma.sync", d.read(), want);
}

// The 8-bit product of inline assembly, and one 8 x 8 block that is transposed in registers and by a lone ldmatrix.
__global__ void bytes_and_blocks(const unsigned *a, const unsigned *b, int *d, const unsigned *block, unsigned *turned)
{
    __shared__ __align__(16) unsigned rows[32];
    const int lane = threadIdx.x;
    int sum[4] = {1, 2, 3, 4};
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[lane]), "r"(a[32 + lane]), "r"(a[64 + lane]), "r"(a[96 + lane]), "r"(b[lane]), "r"(b[32 + lane]));
    for (int i = 0; i < 4; ++i) d[4 * lane + i] = sum[i];
    rows[lane] = block[lane];
    __syncwarp();
    unsigned moved, loaded;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(block[lane]));
    const unsigned row = __cvta_generic_to_shared(rows + lane % 8 * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(loaded) : "r"(row));
    turned[lane] = moved;
    turned[32 + lane] = loaded;
}

void registers()
{
    std::vector<unsigned> a(128), b(64), block(32), want_turned(64);
    std::vector<int> want(128);
    for (unsigned i = 0; i < 128; ++i) a[i] = (i + 3) * 2654435761u;
    for (unsigned i = 0; i < 64; ++i) b[i] = (i + 7) * 2246822519u;
    for (unsigned i = 0; i < 32; ++i) block[i] = 2 * i | (2 * i + 1) << 16;
    for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const int m = lane / 4 + 8 * (i / 2), n = lane % 4 * 2 + i % 2;
            int sum = i + 1;
            for (int k = 0; k < 32; ++k) {
                const unsigned left = a[32 * (m / 8 + 2 * (k / 16)) + 4 * (m % 8) + k % 16 / 4] >> k % 4 * 8;
                const unsigned right = b[32 * (k / 16) + 4 * n + k % 16 / 4] >> k % 4 * 8;
                sum += static_cast<signed char>(left) * static_cast<unsigned char>(right);
            }
            want[4 * lane + i] = sum;
        }
        const unsigned column = lane / 4, row = lane % 4 * 2;
        want_turned[lane] = want_turned[32 + lane] = (row * 8 + column) | ((row + 1) * 8 + column) << 16;
    }
    Device<unsigned> d_a(a), d_b(b), d_block(block), turned(64);
    Device<int> d(128);
    bytes_and_blocks<<<1, 32>>>(d_a, d_b, d, d_block, turned);
    expect_equal("bytes", d.read(), want);
    expect_equal("transposed", turned.read(), want_turned);
}

// D = A B + C of 16 x 8 by 8 x 8 halves: A, C and D have one layout, so that any of them may take the place of another.
struct Tile {
    unsigned low, high;
};

__device__ Tile multiply(Tile a, unsigned b, Tile c)
{
    Tile d;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                 : "=r"(d.low), "=r"(d.high) : "r"(a.low), "r"(a.high), "r"(b), "r"(c.low), "r"(c.high));
    return d;
}

constexpr int CHAINS = 6, MANY = 100;

// Products whose operands are those of others, or results that others have taken further, or one tile twice.
__global__ void chains(const unsigned *a, const unsigned *b, unsigned *d)
{
    const int lane = threadIdx.x;
    const Tile left = {a[lane], a[32 + lane]}, zero = {0, 0};
    unsigned right[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) right[i] = b[32 * i + lane];
    const Tile first = multiply(left, right[0], left);
    const Tile second = multiply(left, right[1], first);
    const Tile again = multiply(left, right[0], first);
    const Tile both = multiply(again, right[2], again);
    const Tile none = multiply(zero, right[0], zero);
    const Tile last = multiply(second, right[3], zero);
    const Tile all[CHAINS] = {first, second, again, both, none, last};
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
        d[64 * i + lane] = all[i].low;
        d[64 * i + 32 + lane] = all[i].high;
    }
    // More sums than are kept in memory.
    Tile sums[MANY];
#pragma unroll
    for (int i = 0; i < MANY; ++i) sums[i] = multiply(left, right[i], zero);
#pragma unroll
    for (int i = 0; i < MANY; ++i) {
        sums[i] = multiply(left, right[MANY - 1 - i], sums[i]);
        d[64 * (CHAINS + i) + lane] = sums[i].low;
        d[64 * (CHAINS + i) + 32 + lane] = sums[i].high;
    }
}

using Numbers = std::vector<double>;

static Numbers multiplied(const Numbers &a, const Numbers &b, const Numbers &c)
{
    Numbers d = c;
    for (int m = 0; m < 16; ++m) {
        for (int n = 0; n < 8; ++n) {
            for (int k = 0; k < 8; ++k) d[8 * m + n] += a[8 * m + k] * b[8 * k + n];
        }
    }
    return d;
}

void check_chains()
{
    Numbers left(128), zero(128);
    std::vector<Numbers> right(MANY, Numbers(64));
    std::vector<half> a(128), b(64 * MANY);
    for (int i = 0; i < 128; ++i) {
        left[i] = entry(i, 2);
        a[(i / 64 * 32 + i % 64 / 8 * 4 + i % 8 / 2) * 2 + i % 2] = Make<half>::of(left[i]);
    }
    for (int tile = 0; tile < MANY; ++tile) {
        for (int k = 0; k < 8; ++k) {
            for (int n = 0; n < 8; ++n) {
                right[tile][8 * k + n] = entry(8 * k + n, tile);
                b[64 * tile + (n * 4 + k / 2) * 2 + k % 2] = Make<half>::of(entry(8 * k + n, tile));
            }
        }
    }
    const Numbers first = multiplied(left, right[0], left), second = multiplied(left, right[1], first);
    const Numbers again = multiplied(left, right[0], first);
    std::vector<Numbers> want = {first, second, again, multiplied(again, right[2], again), zero, multiplied(second, right[3], zero)};
    for (int i = 0; i < MANY; ++i) {
        want.push_back(multiplied(left, right[MANY - 1 - i], multiplied(left, right[i], zero)));
    }
    Device<half> d_a(a), d_b(b), d_d(128 * (CHAINS + MANY));
    chains<<<1, 32>>>(reinterpret_cast<unsigned *>(static_cast<half *>(d_a)), reinterpret_cast<unsigned *>(static_cast<half *>(d_b)),
                      reinterpret_cast<unsigned *>(static_cast<half *>(d_d)));
    const std::vector<half> got = d_d.read();
    Numbers got_numbers, want_numbers;
    for (int tile = 0; tile < CHAINS + MANY; ++tile) {
        for (int i = 0; i < 128; ++i) {
            got_numbers.push_back(number(got[128 * tile + (i / 64 * 32 + i % 64 / 8 * 4 + i % 8 / 2) * 2 + i % 2]));
            want_numbers.push_back(want[tile][i]);
        }
    }
    expect_equal("chains", got_numbers, want_numbers);
}

int main()
{
    both_layouts<16, 16, 16, half, float>("half, single sums");
    both_layouts<8, 32, 16, half, half>("half, wide");
    both_layouts<32, 8, 16, half, float>("half, tall");
    both_layouts<16, 16, 16, signed char, int>("signed bytes");
    both_layouts<8, 32, 16, unsigned char, int>("unsigned bytes, wide");
    both_layouts<32, 8, 16, signed char, int>("signed bytes, tall");
    both_layouts<16, 16, 16, __nv_bfloat16, float>("brain floats");
    both_layouts<16, 16, 8, wmma::precision::tf32, float>("tf32");
    both_layouts<8, 8, 4, double, double>("double");
    hand_written();
    registers();
    check_chains();
    return done("tensor_cores");
}
