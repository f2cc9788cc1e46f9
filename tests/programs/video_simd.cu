// The intrinsics that work on the halves or bytes of a word, against the same done part by part.
#include "test.h"

__global__ void compute(const unsigned *x, const unsigned *y, unsigned *out)
{
    unsigned a = x[threadIdx.x], b = y[threadIdx.x], *to = out + 16 * threadIdx.x;
    to[0] = __vadd4(a, b);
    to[1] = __vaddus4(a, b);
    to[2] = __vaddss2(a, b);
    to[3] = __vsub2(a, b);
    to[4] = __vsubus4(a, b);
    to[5] = __vabsdiffu4(a, b);
    to[6] = __vabsdiffs2(a, b);
    to[7] = __vsadu4(a, b);
    to[8] = __vavgu4(a, b);
    to[9] = __vmaxs4(a, b);
    to[10] = __vminu2(a, b);
    to[11] = __vcmpgts4(a, b);
    to[12] = __vsetleu2(a, b);
    to[13] = __vseteq4(a, b);
    to[14] = __vsads2(a, b);
    to[15] = __vabsss4(a);
}

// On whole words: types of the result and of both sources, then how what comes out is fitted and combined.
__global__ void whole_words(const unsigned *x, const unsigned *y, unsigned *out)
{
    unsigned a = x[threadIdx.x], b = y[threadIdx.x], *to = out + 8 * threadIdx.x;
    asm("vshr.u32.u32.u32.clamp %0, %1, %2;" : "=r"(to[0]) : "r"(a), "r"(b >> 26));
    asm("vshr.s32.s32.u32.wrap %0, %1, %2;" : "=r"(to[1]) : "r"(a), "r"(b >> 26));
    asm("vshl.u32.u32.u32.sat.clamp %0, %1, %2;" : "=r"(to[2]) : "r"(a), "r"(b >> 26));
    asm("vshl.u32.u32.u32.wrap.add %0, %1, %2, %3;" : "=r"(to[3]) : "r"(a), "r"(b >> 26), "r"(b));
    asm("vadd.s32.u32.s32.sat %0, %1, %2;" : "=r"(to[4]) : "r"(a), "r"(b));
    asm("vsub.u32.u32.u32.sat %0, %1, %2;" : "=r"(to[5]) : "r"(a), "r"(b));
    asm("vabsdiff.u32.s32.s32.max %0, %1, %2, %3;" : "=r"(to[6]) : "r"(a), "r"(b), "r"(a ^ b));
    asm("vmax.s32.s32.u32 %0, %1, %2;" : "=r"(to[7]) : "r"(a), "r"(b));
}

// Dot products of bytes, and of halves with bytes.
__global__ void dot_products(const unsigned *x, const unsigned *y, unsigned *out)
{
    unsigned a = x[threadIdx.x], b = y[threadIdx.x], *to = out + 8 * threadIdx.x;
    int sa = static_cast<int>(a), sb = static_cast<int>(b);
    to[0] = __dp4a(a, b, 5u);
    to[1] = __dp4a(sa, sb, 5);
    to[2] = __dp2a_lo(a, b, 5u);
    to[3] = __dp2a_hi(a, b, 5u);
    to[4] = __dp2a_lo(sa, sb, 5);
    to[5] = __dp2a_hi(sa, sb, 5);
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(to[6]) : "r"(a), "r"(b), "r"(5));
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(to[7]) : "r"(a), "r"(b), "r"(5));
}

static unsigned dot(unsigned a, unsigned b, int bits, bool first_signed, bool second_signed, int skipped)
{
    auto part = [](unsigned word, int bits, bool is_signed, int index) {
        const long long value = word >> bits * index & ((1u << bits) - 1);
        return is_signed && value >> (bits - 1) ? value - (1ll << bits) : value;
    };
    long long sum = 5;
    for (int index = 0; index < 32 / bits; ++index) {
        sum += part(a, bits, first_signed, index) * part(b, 8, second_signed, skipped + index);
    }
    return static_cast<unsigned>(sum);
}

template <typename F>
static unsigned by_parts(unsigned a, unsigned b, int bits, bool is_signed, F f)
{
    unsigned word = 0;
    for (int at = 0; at < 32; at += bits) {
        auto part = [&](unsigned value) -> int {
            int shifted = static_cast<int>(value << (32 - bits - at));
            return is_signed ? shifted >> (32 - bits) : static_cast<int>(static_cast<unsigned>(shifted) >> (32 - bits));
        };
        word |= (static_cast<unsigned>(f(part(a), part(b))) & ((1u << bits) - 1)) << at;
    }
    return word;
}

static int clamp(int value, int low, int high) { return std::min(std::max(value, low), high); }

int main()
{
    std::vector<unsigned> x(32), y(32);
    for (unsigned i = 0; i < 32; ++i) {
        x[i] = i * 0x9e3779b9u;
        y[i] = i % 4 == 0 ? x[i] ^ 0x00ff0001u : i * 0x85ebca6bu + 0x80007fffu;
    }
    Device<unsigned> dx(x), dy(y), out(16 * 32);
    compute<<<1, 32>>>(dx, dy, out);
    auto found = out.read();
    for (int i = 0; i < 32; ++i) {
        unsigned a = x[i], b = y[i];
        unsigned sum4 = 0, sum2 = 0;
        by_parts(a, b, 8, false, [&](int p, int q) { return sum4 += std::abs(p - q); });
        by_parts(a, b, 16, true, [&](int p, int q) { return sum2 += std::abs(p - q); });
        const unsigned want[16] = {
            by_parts(a, b, 8, false, [](int p, int q) { return p + q; }),
            by_parts(a, b, 8, false, [](int p, int q) { return clamp(p + q, 0, 255); }),
            by_parts(a, b, 16, true, [](int p, int q) { return clamp(p + q, -32768, 32767); }),
            by_parts(a, b, 16, false, [](int p, int q) { return p - q; }),
            by_parts(a, b, 8, false, [](int p, int q) { return clamp(p - q, 0, 255); }),
            by_parts(a, b, 8, false, [](int p, int q) { return std::abs(p - q); }),
            by_parts(a, b, 16, true, [](int p, int q) { return std::abs(p - q); }),
            sum4,
            by_parts(a, b, 8, false, [](int p, int q) { return (p + q + 1) >> 1; }),
            by_parts(a, b, 8, true, [](int p, int q) { return std::max(p, q); }),
            by_parts(a, b, 16, false, [](int p, int q) { return std::min(p, q); }),
            by_parts(a, b, 8, true, [](int p, int q) { return p > q ? -1 : 0; }),
            by_parts(a, b, 16, false, [](int p, int q) { return p <= q; }),
            by_parts(a, b, 8, false, [](int p, int q) { return p == q; }),
            sum2,
            by_parts(a, b, 8, true, [](int p, int) { return std::min(std::abs(p), 127); }),
        };
        for (int j = 0; j < 16; ++j) {
            if (found[16 * i + j] != want[j]) {
                std::fprintf(stderr, "lane %d, %d: %08x %08x gave %08x, expected %08x\n", i, j, a, b,
                             found[16 * i + j], want[j]);
                ++failures;
            }
        }
    }
    Device<unsigned> whole(8 * 32);
    whole_words<<<1, 32>>>(dx, dy, whole);
    std::vector<unsigned> want_whole;
    for (int i = 0; i < 32; ++i) {
        long long a = x[i], b = y[i], amount = y[i] >> 26;
        long long sa = static_cast<int>(x[i]), sb = static_cast<int>(y[i]);
        auto fitted = [](long long value, long long low, long long high) { return std::min(std::max(value, low), high); };
        long long clamped = std::min(amount, 32ll), wrapped = amount & 31;
        long long distance = std::llabs(sa - sb), other = x[i] ^ y[i];
        for (long long value : {a >> clamped, sa >> wrapped, fitted(a << clamped, 0, UINT32_MAX), (a << wrapped) + b,
                                fitted(a + sb, INT32_MIN, INT32_MAX), fitted(a - b, 0, UINT32_MAX),
                                std::max(distance, other), std::max(sa, b)}) {
            want_whole.push_back(static_cast<unsigned>(value));
        }
    }
    expect_equal("whole words", whole.read(), want_whole);
    Device<unsigned> dots(8 * 32);
    dot_products<<<1, 32>>>(dx, dy, dots);
    std::vector<unsigned> want_dots;
    for (int i = 0; i < 32; ++i) {
        unsigned a = x[i], b = y[i];
        for (unsigned value : {dot(a, b, 8, false, false, 0), dot(a, b, 8, true, true, 0), dot(a, b, 16, false, false, 0),
                               dot(a, b, 16, false, false, 2), dot(a, b, 16, true, true, 0), dot(a, b, 16, true, true, 2),
                               dot(a, b, 8, true, false, 0), dot(a, b, 16, false, true, 2)}) {
            want_dots.push_back(value);
        }
    }
    expect_equal("dot products", dots.read(), want_dots);
    return done("video_simd");
}
