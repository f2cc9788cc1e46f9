// Bit counting, byte shuffling, wide products and the like, against plain C++.
#include "test.h"

constexpr int KINDS = 30;

__device__ void on_device(unsigned a, unsigned b, unsigned long long c, long long *r)
{
    int s = static_cast<int>(a), t = static_cast<int>(b);
    r[0] = __popc(a);
    r[1] = __popcll(c);
    r[2] = __clz(s);
    r[3] = __clzll(static_cast<long long>(c));
    r[4] = __ffs(s);
    r[5] = __ffsll(static_cast<long long>(c));
    r[6] = __brev(a);
    r[7] = static_cast<long long>(__brevll(c));
    r[8] = __mul24(s & 0xffffff, t & 0x7f);
    r[9] = __umul24(a & 0xffffff, b & 0x7f);
    r[10] = __mulhi(s, t);
    r[11] = __umulhi(a, b);
    r[12] = __mul64hi(static_cast<long long>(c), s);
    r[13] = static_cast<long long>(__umul64hi(c, a));
    r[14] = __funnelshift_l(a, b, a >> 7);
    r[15] = __funnelshift_r(a, b, a >> 7);
    r[16] = static_cast<short>(a) * static_cast<signed char>(b >> 3);
    r[17] = __byte_perm(a, b, 0x6 | 0x1 << 4 | 0x3 << 8 | 0x4 << 12);
    r[18] = __sad(s, t, 5u);
    r[19] = __usad(a, b, 5u);
    r[20] = __hadd(s >> 1, t >> 1);
    r[21] = __urhadd(a, b);
    r[22] = __byte_perm(a, b, a);
    r[23] = min(s, t) + static_cast<long long>(max(a, b));
    r[24] = abs(s >> 1) + llabs(static_cast<long long>(c) >> 1);
    r[25] = __rhadd(s >> 1, t >> 1);
    r[26] = __fns(a, b & 31, static_cast<int>(c % 11) - 5);
    // LLVM makes one three-way comparison of each, and a mask of the pointer.
    r[27] = (s > t) - (s < t);
    r[28] = (c > b) - (c < b);
    r[29] = reinterpret_cast<char *>(r) + 512 - __builtin_align_down(reinterpret_cast<char *>(r) + 512 - a % 512, 64) <= 512 + 64;
}

// The bit that is `offset` set bits further than `base`, in either direction.
static unsigned nth_set(unsigned word, unsigned base, int offset)
{
    if (offset == 0) {
        return word >> base & 1 ? base : ~0u;
    }
    int step = offset > 0 ? 1 : -1;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
        if (word >> at & 1 && (offset -= step) == 0) {
            return at;
        }
    }
    return ~0u;
}

// The intrinsic uses three bits of each part of the selector.
static unsigned permuted(unsigned a, unsigned b, unsigned selector)
{
    unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned pick = selector >> (4 * i) & 7;
        result |= (static_cast<unsigned>(bytes >> (8 * pick)) & 0xff) << (8 * i);
    }
    return result;
}

static unsigned reversed(unsigned value)
{
    unsigned result = 0;
    for (int i = 0; i < 32; ++i) {
        result |= (value >> i & 1) << (31 - i);
    }
    return result;
}

static void on_host(unsigned a, unsigned b, unsigned long long c, long long *r)
{
    int s = static_cast<int>(a), t = static_cast<int>(b);
    unsigned shift = a >> 7 & 31;
    unsigned long long ba = static_cast<unsigned long long>(b) << 32 | a;
    r[0] = __builtin_popcount(a);
    r[1] = __builtin_popcountll(c);
    r[2] = a ? __builtin_clz(a) : 32;
    r[3] = c ? __builtin_clzll(c) : 64;
    r[4] = __builtin_ffs(s);
    r[5] = __builtin_ffsll(static_cast<long long>(c));
    r[6] = reversed(a);
    r[7] = static_cast<long long>(static_cast<unsigned long long>(reversed(static_cast<unsigned>(c))) << 32 |
                                  reversed(static_cast<unsigned>(c >> 32)));
    r[8] = (static_cast<int>(a << 8) >> 8) * (t & 0x7f);
    r[9] = static_cast<unsigned>((a & 0xffffff) * (b & 0x7f));
    r[10] = static_cast<int>((static_cast<long long>(s) * t) >> 32);
    r[11] = static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
    r[12] = static_cast<long long>((static_cast<__int128>(static_cast<long long>(c)) * s) >> 64);
    r[13] = static_cast<long long>((static_cast<unsigned __int128>(c) * a) >> 64);
    r[14] = static_cast<unsigned>(ba << shift >> 32);
    r[15] = static_cast<unsigned>(ba >> shift);
    r[16] = static_cast<short>(a) * static_cast<signed char>(b >> 3);
    r[17] = permuted(a, b, 0x4316);
    r[18] = static_cast<unsigned>(static_cast<unsigned>(std::llabs(static_cast<long long>(s) - t)) + 5u);
    r[19] = static_cast<unsigned>((a > b ? a - b : b - a) + 5u);
    r[20] = (static_cast<long long>(s >> 1) + (t >> 1)) >> 1;
    r[21] = static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
    r[22] = permuted(a, b, a);
    r[23] = std::min(s, t) + static_cast<long long>(std::max(a, b));
    r[24] = std::abs(s >> 1) + std::llabs(static_cast<long long>(c) >> 1);
    r[25] = (static_cast<long long>(s >> 1) + (t >> 1) + 1) >> 1;
    r[26] = nth_set(a, b & 31, static_cast<int>(c % 11) - 5);
    r[27] = (s > t) - (s < t);
    r[28] = (c > b) - (c < b);
    r[29] = 1;
}

__global__ void evaluate(const unsigned *a, const unsigned *b, const unsigned long long *c, long long *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    on_device(a[i], b[i], c[i], results + KINDS * i);
}

// Division and remainder in all widths and signs, among them by what only some lanes have as zero.
__global__ void divide(const int *a, const int *b, long long *results, int n)
{
    int i = threadIdx.x;
    int x = a[i], y = b[i];
    if (y != 0) {
        results[i] = x / y;
        results[n + i] = x % y;
        results[2 * n + i] = static_cast<unsigned>(x) / static_cast<unsigned>(y);
        results[3 * n + i] = static_cast<long long>(x) * 1000003 / y;
        results[4 * n + i] = static_cast<long long>(static_cast<unsigned long long>(static_cast<long long>(x)) % static_cast<unsigned>(y));
        results[5 * n + i] = static_cast<short>(x) / static_cast<short>(y | 1);
    }
}

int main()
{
    const int n = 192;
    std::vector<unsigned> a(n), b(n);
    std::vector<unsigned long long> c(n);
    std::vector<long long> want(n * KINDS);
    for (int i = 0; i < n; ++i) {
        a[i] = i < 40 ? (i < 33 ? 1u << (i % 32) : 0u - (i - 33)) : i * 2654435761u;
        b[i] = i < 4 ? 0u - i : (i * 40503u) << (i % 17);
        c[i] = i < 2 ? 0ull - i : static_cast<unsigned long long>(a[i]) * 0x9e3779b97f4a7c15ull << (i % 40);
        on_host(a[i], b[i], c[i], want.data() + KINDS * i);
    }
    Device<unsigned> d_a(a), d_b(b);
    Device<unsigned long long> d_c(c);
    Device<long long> results(n * KINDS);
    evaluate<<<2, 96>>>(d_a, d_b, d_c, results);
    std::vector<long long> got = results.read();
    for (int kind = 0; kind < KINDS; ++kind) {
        for (int i = 0; i < n; ++i) {
            if (got[KINDS * i + kind] != want[KINDS * i + kind]) {
                ++failures;
                std::fprintf(stderr, "%d of %x, %x, %llx is %llx, expected %llx\n", kind, a[i], b[i], c[i],
                             got[KINDS * i + kind], want[KINDS * i + kind]);
                break;
            }
        }
    }

    const int m = 64;
    std::vector<int> x(m), y(m);
    std::vector<long long> quotients(6 * m, 0);
    for (int i = 0; i < m; ++i) {
        x[i] = (i - 32) * 123457;
        y[i] = i % 9 - 4;
        if (y[i] != 0) {
            quotients[i] = x[i] / y[i];
            quotients[m + i] = x[i] % y[i];
            quotients[2 * m + i] = static_cast<unsigned>(x[i]) / static_cast<unsigned>(y[i]);
            quotients[3 * m + i] = static_cast<long long>(x[i]) * 1000003 / y[i];
            quotients[4 * m + i] = static_cast<long long>(static_cast<unsigned long long>(static_cast<long long>(x[i])) % static_cast<unsigned>(y[i]));
            quotients[5 * m + i] = static_cast<short>(x[i]) / static_cast<short>(y[i] | 1);
        }
    }
    Device<int> d_x(x), d_y(y);
    Device<long long> d_quotients(6 * m);
    divide<<<1, m>>>(d_x, d_y, d_quotients, m);
    expect_equal("quotients", d_quotients.read(), quotients);
    return done("integer_intrinsics");
}
