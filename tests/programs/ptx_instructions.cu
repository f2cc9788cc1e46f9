// flags: -arch=sm_80
// Instructions of PTX that CUDA C++ has no word for, against the definitions of the PTX manual.
#include "test.h"

#include <cmath>
#include <cstring>

#define PTX2(name, text)                                                    \
    __device__ unsigned name(unsigned a, unsigned b)                        \
    {                                                                       \
        unsigned d;                                                         \
        asm volatile(text : "=r"(d) : "r"(a), "r"(b));                      \
        return d;                                                           \
    }
#define PTX3(name, text)                                                    \
    __device__ unsigned name(unsigned a, unsigned b, unsigned c)            \
    {                                                                       \
        unsigned d;                                                         \
        asm volatile(text : "=r"(d) : "r"(a), "r"(b), "r"(c));              \
        return d;                                                           \
    }

PTX2(szext_clamp_s, "szext.clamp.s32 %0, %1, %2;")
PTX2(szext_wrap_u, "szext.wrap.u32 %0, %1, %2;")
PTX2(div_s, "div.s32 %0, %1, %2;")
PTX2(rem_u, "rem.u32 %0, %1, %2;")
PTX2(add_sat, "add.sat.s32 %0, %1, %2;")
PTX2(sub_sat, "sub.sat.s32 %0, %1, %2;")
PTX2(mul24_hi, "mul24.hi.s32 %0, %1, %2;")
PTX2(cvt_pack, "cvt.pack.sat.s16.s32 %0, %1, %2;")
PTX3(fns, "fns.b32 %0, %1, %2, %3;")
PTX3(sad_s, "sad.s32 %0, %1, %2, %3;")
PTX3(sad_u, "sad.u32 %0, %1, %2, %3;")
PTX3(mad24_lo, "mad24.lo.u32 %0, %1, %2, %3;")
PTX3(prmt_f4e, "prmt.b32.f4e %0, %1, %2, %3;")
PTX3(prmt_b4e, "prmt.b32.b4e %0, %1, %2, %3;")
PTX3(prmt_rc16, "prmt.b32.rc16 %0, %1, %2, %3;")
PTX3(slct_s, "slct.u32.s32 %0, %1, %2, %3;")
PTX3(pack_byte, "cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;")
PTX3(cnot_and, "{ .reg .u32 t; cnot.b32 t, %1; and.b32 t, t, %2; add.u32 %0, t, %3; }")
PTX3(setp_and, "{ .reg .pred p, q, c; setp.gt.u32 c, %3, 100; setp.lt.xor.s32 p|q, %1, %2, !c; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }")
PTX3(set_or, "{ .reg .pred c; setp.gt.u32 c, %3, 100; set.eq.or.u32.s32 %0, %1, %2, c; }")
PTX3(lop3_or, "{ .reg .pred p, q; setp.ne.u32 q, %3, %3; lop3.or.b32 %0|p, %1, %2, %3, 0x96, q; @!p mov.u32 %0, 77; }")

constexpr int FORMS = 21;

__global__ void integers(const unsigned *in, unsigned *out)
{
    unsigned i = threadIdx.x, a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], *to = out + FORMS * i;
    to[0] = szext_clamp_s(a, c % 40);
    to[1] = szext_wrap_u(a, c % 40);
    to[2] = div_s(a, b | 1);
    to[3] = rem_u(a, b | 1);
    to[4] = add_sat(a, b);
    to[5] = sub_sat(a, b);
    to[6] = mul24_hi(a, b);
    to[7] = cvt_pack((int)a >> 14, (int)b >> 14);
    to[8] = fns(a, c % 32, (int)(b % 9) - 4);
    to[9] = sad_s(a, b, c);
    to[10] = sad_u(a, b, c);
    to[11] = mad24_lo(a, b, c);
    to[12] = prmt_f4e(a, b, c);
    to[13] = prmt_b4e(a, b, c);
    to[14] = prmt_rc16(a, b, c);
    to[15] = slct_s(a, b, c);
    to[16] = pack_byte((int)a >> 22, (int)b >> 22, c);
    to[17] = cnot_and(i % 4 ? a : 0, b, c);
    to[18] = setp_and(a, b, c % 200);
    to[19] = set_or(i % 3 ? a : b, b, c % 200);
    to[20] = lop3_or(a, i % 5 ? b : a ^ c, c);
}

unsigned extended(unsigned a, unsigned length, bool is_signed)
{
    if (length == 0) {
        return 0;
    }
    unsigned up = a << (32 - length);
    return is_signed ? (int)up >> (32 - length) : up >> (32 - length);
}

unsigned nth(unsigned mask, unsigned base, int offset)
{
    if (offset == 0) {
        return mask >> base & 1 ? base : ~0u;
    }
    int count = std::abs(offset) - 1, step = offset > 0 ? 1 : -1;
    for (int at = base; at >= 0 && at < 32; at += step) {
        if (mask >> at & 1) {
            if (count-- == 0) {
                return at;
            }
        }
    }
    return ~0u;
}

long long saturated(long long value, long long low, long long high)
{
    return std::max(low, std::min(high, value));
}

unsigned permuted(unsigned a, unsigned b, unsigned selector)
{
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned d = 0;
    for (int i = 0; i < 4; ++i) {
        d |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    }
    return d;
}

std::vector<unsigned> expected(unsigned i, unsigned a, unsigned b, unsigned c)
{
    const unsigned f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
    const unsigned rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
    int x = a, y = b;
    unsigned length = c % 40;
    auto cut = [](unsigned value) { return (long long)((int)(value << 8) >> 8); };
    auto half = [](int value) { return (unsigned)saturated(value, -32768, 32767) & 0xffff; };
    auto byte = [](int value) { return (unsigned)saturated(value, 0, 255); };
    bool over = c % 200 > 100, less = x < y;
    unsigned same = (i % 3 ? a : b) == b || over ? ~0u : 0, odd = a ^ (i % 5 ? b : a ^ c) ^ c;
    return {extended(a, std::min(length, 32u), true),
            extended(a, length % 32, false),
            (unsigned)(x / (int)(b | 1)),
            a % (b | 1),
            (unsigned)saturated((long long)x + y, INT32_MIN, INT32_MAX),
            (unsigned)saturated((long long)x - y, INT32_MIN, INT32_MAX),
            (unsigned)(cut(a) * cut(b) >> 16),
            half(x >> 14) << 16 | half(y >> 14),
            nth(a, c % 32, (int)(b % 9) - 4),
            c + (unsigned)(x > y ? a - b : b - a),
            c + (a > b ? a - b : b - a),
            (a & 0xffffff) * (b & 0xffffff) + c,
            permuted(a, b, f4e[c & 3]),
            permuted(a, b, b4e[c & 3]),
            permuted(a, b, rc16[c & 3]),
            (int)c >= 0 ? a : b,
            c << 16 | byte(x >> 22) << 8 | byte(y >> 22),
            (i % 4 ? (a == 0) & b : 1 & b) + c,
            (unsigned)(less != !over) + 2 * (unsigned)(!less != !over),
            same,
            odd ? odd : 77};
}

__global__ void tests(const float *in, unsigned *out)
{
    unsigned bits = 0;
    float x = in[threadIdx.x];
    double wide = x;
#define TESTP(index, property)                                                                                        \
    {                                                                                                                 \
        unsigned one, two;                                                                                            \
        asm("{ .reg .pred p; testp." property ".f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(one) : "f"(x));            \
        asm("{ .reg .pred p; testp." property ".f64 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(two) : "d"(wide));         \
        bits |= one << index | two << (index + 8);                                                                    \
    }
    TESTP(0, "finite") TESTP(1, "infinite") TESTP(2, "number") TESTP(3, "notanumber") TESTP(4, "normal")
    TESTP(5, "subnormal")
    out[threadIdx.x] = bits;
}

__global__ void exchanges(unsigned *out)
{
    unsigned lane = threadIdx.x, *to = out + 8 * lane;
    if (lane >= 4) {
        asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; selp.u32 %1, 1, 0, p; }" : "=r"(to[0]), "=r"(to[1]));
        asm volatile("match.any.sync.b32 %0, %1, 0xfffffff0;" : "=r"(to[2]) : "r"(lane / 6));
        asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %1, 0xfffffff0; @p add.u32 %0, %0, 1; }"
                     : "=r"(to[3]) : "l"(7ull));
        asm volatile("redux.sync.add.u32 %0, %1, 0xfffffff0;" : "=r"(to[4]) : "r"(lane));
        asm volatile("redux.sync.min.s32 %0, %1, 0xfffffff0;" : "=r"(to[5]) : "r"(4 - (int)lane));
        asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 9; vote.sync.ballot.b32 %0, !p, 0xfffffff0; }"
                     : "=r"(to[6]) : "r"(lane));
        asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %1, 9; vote.sync.uni.pred q, p, 0xfffffff0; selp.u32 %0, 5, 6, q; }"
                     : "=r"(to[7]) : "r"(lane));
    }
}

int main()
{
    std::vector<unsigned> in(3 * 64), want;
    for (unsigned i = 0; i < in.size(); ++i) {
        in[i] = (i + 1) * 2654435761u ^ (i << 7);
    }
    for (unsigned i = 0; i < 64; ++i) {
        auto forms = expected(i, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
        want.insert(want.end(), forms.begin(), forms.end());
    }
    Device<unsigned> d_in(in), out(FORMS * 64);
    integers<<<1, 64>>>(d_in, out);
    expect_equal("integers", out.read(), want);

    std::vector<float> numbers = {0.0f, -0.0f, 1.0f, -3.5f, INFINITY, -INFINITY, NAN, 1e-40f, 1.17549435e-38f, 3.4e38f};
    std::vector<unsigned> properties;
    for (float x : numbers) {
        auto of = [](auto x) {
            int kind = std::fpclassify(x);
            return (unsigned)(std::isfinite(x) | (kind == FP_INFINITE) << 1 | (kind != FP_NAN) << 2 | (kind == FP_NAN) << 3 |
                              (kind == FP_NORMAL) << 4 | (kind == FP_SUBNORMAL) << 5);
        };
        properties.push_back(of(x) | of((double)x) << 8);
    }
    Device<float> d_numbers(numbers);
    Device<unsigned> tested(numbers.size());
    tests<<<1, numbers.size()>>>(d_numbers, tested);
    expect_equal("tests", tested.read(), properties);

    Device<unsigned> exchanged(8 * 32);
    exchanges<<<1, 32>>>(exchanged);
    std::vector<unsigned> lanes(8 * 32);
    for (unsigned lane = 4; lane < 32; ++lane) {
        unsigned *to = &lanes[8 * lane], alike = 0;
        for (unsigned other = 4; other < 32; ++other) {
            alike |= unsigned(other / 6 == lane / 6) << other;
        }
        unsigned row[] = {4, lane == 4, alike, 0xfffffff1, 490, (unsigned)-27, 0x3f0, 6};
        std::copy(row, row + 8, to);
    }
    expect_equal("exchanges", exchanged.read(), lanes);
    return done("ptx_instructions");
}
