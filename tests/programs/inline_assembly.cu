// Inline assembly that headers and programs use: lane registers, funnel shifts, bit fields.
#include "test.h"

__device__ unsigned lane_id()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__global__ void registers(unsigned *out)
{
    unsigned *mine = out + 6 * threadIdx.x;
    unsigned warp;
    mine[0] = lane_id();
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mine[1]));
    asm("mov.u32 %0, %lanemask_le;" : "=r"(mine[2])); // nvcc takes one sign, too
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(mine[3]));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(mine[4]));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    mine[5] = warp < 1024;
}

__global__ void shifts(const unsigned *in, unsigned *out)
{
    int i = threadIdx.x;
    unsigned a = in[i], b = in[63 - i];
    out[i] = __funnelshift_lc(a, b, i);
    out[64 + i] = __funnelshift_rc(a, b, i);
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(out[128 + i]) : "r"(a), "r"(i % 20), "r"(7));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(out[192 + i]) : "r"(b), "r"(a), "r"(i % 20), "r"(9));
}

int main()
{
    Device<unsigned> out(6 * 50);
    registers<<<1, 50>>>(out);
    std::vector<unsigned> want;
    for (unsigned i = 0; i < 50; ++i) {
        unsigned lane = i % 32, bit = 1u << lane;
        for (unsigned value : {lane, bit - 1, bit | (bit - 1), ~(bit | (bit - 1)), ~(bit - 1), 1u}) {
            want.push_back(value);
        }
    }
    expect_equal("registers", out.read(), want);

    std::vector<unsigned> in(64), want_shifts(256);
    for (unsigned i = 0; i < 64; ++i) {
        in[i] = (i + 1) * 2654435761u;
    }
    for (unsigned i = 0; i < 64; ++i) {
        unsigned long long both = static_cast<unsigned long long>(in[63 - i]) << 32 | in[i];
        unsigned shift = std::min(i, 32u), position = i % 20;
        want_shifts[i] = shift == 32 ? in[i] : static_cast<unsigned>(both << shift >> 32);
        want_shifts[64 + i] = static_cast<unsigned>(both >> shift);
        want_shifts[128 + i] = in[i] >> position & 127;
        want_shifts[192 + i] = (in[i] & ~(511u << position)) | (in[63 - i] & 511) << position;
    }
    Device<unsigned> d_in(in), shifted(256);
    shifts<<<1, 64>>>(d_in, shifted);
    expect_equal("shifts", shifted.read(), want_shifts);
    return done("inline_assembly");
}
