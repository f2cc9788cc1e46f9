// A value that the first round of a loop sets, and votes in inline assembly: what radix sorts of CUB are made of.
#include "test.h"

__global__ void last_odd(const int *in, int *out, int rounds)
{
    int last;
    for (int i = 0; i < rounds; ++i) {
        int value = in[32 * i + threadIdx.x];
        last = value & 1 ? value : last;
    }
    out[threadIdx.x] = last + 1;
}

__global__ void vote(unsigned *out)
{
    unsigned same, any, all;
    asm("{\n"
        "    .reg .pred p;\n"
        "    and.b32 %0, %1, %2;"
        "    setp.ne.u32 p, %0, 0;\n"
        "    vote.ballot.sync.b32 %0, p, 0xffffffff;\n"
        "    @!p not.b32 %0, %0;\n"
        "}\n"
        : "=r"(same)
        : "r"(threadIdx.x), "r"(4));
    asm("{ .reg .pred p, q; setp.gt.u32 p, %1, 30; vote.any.sync.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
        : "=r"(any)
        : "r"(threadIdx.x));
    asm("{ .reg .pred p, q; setp.gt.u32 p, %1, 30; vote.all.sync.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
        : "=r"(all)
        : "r"(threadIdx.x));
    out[threadIdx.x] = same;
    out[32 + threadIdx.x] = any;
    out[64 + threadIdx.x] = all;
}

int main()
{
    std::vector<int> values(32 * 5), want(32);
    for (int i = 0; i < 32 * 5; ++i) {
        values[i] = i < 32 ? 2 * i + 1 : i * 7 / 3;
        want[i % 32] = values[i] & 1 ? values[i] + 1 : want[i % 32];
    }
    Device<int> in(values), out(32);
    last_odd<<<1, 32>>>(in, out, 5);
    expect_equal("last odd", out.read(), want);
    Device<unsigned> votes(96);
    vote<<<1, 32>>>(votes);
    auto found = votes.read();
    for (unsigned i = 0; i < 32; ++i) {
        expect_equal("same bit", found[i], i & 4 ? 0xf0f0f0f0u : 0x0f0f0f0fu);
        expect_equal("any", found[32 + i], 1u);
        expect_equal("all", found[64 + i], 0u);
    }
    return done("undefined_at_first");
}
