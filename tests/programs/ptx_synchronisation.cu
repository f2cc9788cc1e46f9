// flags: -arch=sm_90
// Synchronisation in inline PTX: numbered barriers, mbarrier objects, labels and branches; and tiles of several warps, which use
// the shared memory that CUDA reserves.
#include "test.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

// Warp 0 produces, warps 1 to 3 consume; who has arrived goes on.
__global__ void produce(const int *in, int *out, int rounds)
{
    __shared__ int stage[32];
    int thread = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        if (thread < 32) {
            stage[thread] = in[thread + round * 32];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
        } else {
            asm volatile("barrier.sync %0, %1;" ::"r"(1), "r"(128) : "memory");
            out[thread - 32 + round * 96] = stage[thread & 31];
            asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}

// Each half of the block has a barrier of its own, and counts its odd threads.
__global__ void halves(unsigned *out)
{
    unsigned thread = threadIdx.x, half = thread / 64, odd = thread & 1, count, all, any;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.cta.red.popc.aligned.u32 %0, %2, 64, p; }"
                 : "=r"(count) : "r"(odd), "r"(half + 3));
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.and.pred q, 0, !p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(all) : "r"(odd));
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, %2, 64, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(any) : "r"(half), "r"(half + 5));
    out[thread] = count * 4 + all * 2 + any;
}

// Only warps with work come to the barrier.
__global__ void guarded(int *out)
{
    __shared__ int stage[64];
    int thread = threadIdx.x, works = thread < 64;
    if (works) {
        stage[thread] = thread;
    }
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p bar.sync 7, 64; }" ::"r"(works) : "memory");
    out[thread] = works ? stage[63 - thread] : -1;
}

// Each thread arrives; a loop of the assembly waits for the phase.
__global__ void phases(int *out, int rounds)
{
    __shared__ unsigned long long barrier;
    __shared__ int values[128];
    unsigned place = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place), "r"(128) : "memory");
    }
    __syncthreads();
    int value = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        values[threadIdx.x] = value;
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(place) : "memory");
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "WAIT_%=:\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                     "@done bra DONE_%=;\n"
                     "bra WAIT_%=;\n"
                     "DONE_%=:\n"
                     "}" ::"r"(place), "r"(round & 1) : "memory");
        value += values[(threadIdx.x + 33) % 128];
        __syncthreads();
    }
    out[threadIdx.x] = value;
}

// With a token, and bytes that come later than the arrivals.
__global__ void tokens(unsigned *out)
{
    __shared__ unsigned long long barrier;
    unsigned place = (unsigned)__cvta_generic_to_shared(&barrier), before = 9, after = 9, pending = 0;
    unsigned long long token;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.b64 [%0], 2;" ::"l"(&barrier) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 16;" : "=l"(token) : "r"(place) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
        asm volatile("mbarrier.arrive.shared.b64 _, [%0], 1;" ::"r"(place) : "memory");
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(before) : "r"(place), "l"(token) : "memory");
        asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(place) : "memory");
        asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(after) : "r"(place), "l"(token) : "memory");
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(place) : "memory");
        out[0] = pending * 100 + before * 10 + after;
    }
}

// A loop and a diamond in assembly: Collatz steps.
__global__ void steps(unsigned *out)
{
    unsigned value = threadIdx.x + 1, count;
    asm("{ .reg .pred p; .reg .b32 bit;\n"
        "mov.u32 %0, 0;\n"
        "AGAIN_%=: setp.eq.u32 p, %1, 1;\n"
        "@p bra END_%=;\n"
        "and.b32 bit, %1, 1;\n"
        "setp.ne.u32 p, bit, 0;\n"
        "@!p bra EVEN_%=;\n"
        "mad.lo.u32 %1, %1, 3, 1;\n"
        "bra.uni NEXT_%=;\n"
        "EVEN_%=: shr.u32 %1, %1, 1;\n"
        "NEXT_%=: add.u32 %0, %0, 1;\n"
        "bra AGAIN_%=;\n"
        "END_%=: }"
        : "=&r"(count), "+r"(value));
    out[threadIdx.x] = count * 2 + value;
}

// What a guard leaves out is not done.
__global__ void leavers(int *out)
{
    out[threadIdx.x] = 1;
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, 20; @p exit; }" ::"r"(threadIdx.x) : "memory");
    asm volatile("{ .reg .pred p; setp.gt.u32 p, %0, 40; @p trap; }" ::"r"(threadIdx.x) : "memory");
    out[threadIdx.x] = 2;
}

__global__ void tiles(const int *in, int *out)
{
    namespace cg = cooperative_groups;
    __shared__ int stage[128];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    stage[threadIdx.x] = in[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = stage[threadIdx.x ^ 32] + 1000 * cg::reduce(tile, 1, cg::plus<int>()) + tile.shfl(in[threadIdx.x], 63);
}

__global__ void sizes(unsigned *out)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[16];
    fixed[threadIdx.x] = dynamic[threadIdx.x] = 0;
    unsigned begin, end, first, second;
    asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(begin));
    asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(end));
    asm("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(out[0]));
    asm("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(first));
    asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(second));
    asm("mov.u32 %0, %%total_smem_size;" : "=r"(out[1]));
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[2]));
    out[3] = end - begin;
    out[4] = first >= begin && second + 288 <= end && second > first;
    out[5] = fixed[0] + dynamic[0];
}

int main()
{
    std::vector<int> in(128), want(288);
    for (int i = 0; i < 128; ++i) {
        in[i] = 3 * i + 1;
    }
    for (int i = 0; i < 288; ++i) {
        want[i] = in[i / 96 * 32 + i % 32];
    }
    Device<int> d_in(in), produced(288);
    produce<<<1, 128>>>(d_in, produced, 3);
    expect_equal("producers", produced.read(), want);

    Device<unsigned> counted(128);
    halves<<<1, 128>>>(counted);
    std::vector<unsigned> votes(128);
    for (unsigned i = 0; i < 128; ++i) {
        votes[i] = 32 * 4 + i / 64;
    }
    expect_equal("halves", counted.read(), votes);

    Device<int> under(96);
    guarded<<<1, 96>>>(under);
    std::vector<int> reversed(96, -1);
    for (int i = 0; i < 64; ++i) {
        reversed[i] = 63 - i;
    }
    expect_equal("guarded", under.read(), reversed);

    Device<int> phased(128);
    phases<<<2, 128>>>(phased, 5);
    std::vector<int> values(128);
    for (int i = 0; i < 128; ++i) {
        values[i] = i;
    }
    for (int round = 0; round < 5; ++round) {
        std::vector<int> before = values;
        for (int i = 0; i < 128; ++i) {
            values[i] += before[(i + 33) % 128];
        }
    }
    expect_equal("phases", phased.read(), values);

    Device<unsigned> token(1);
    tokens<<<1, 32>>>(token);
    expect_equal("tokens", token.read(), std::vector<unsigned>{201});

    Device<unsigned> stepped(64);
    steps<<<1, 64>>>(stepped);
    std::vector<unsigned> collatz(64);
    for (unsigned i = 0; i < 64; ++i) {
        unsigned count = 0;
        for (unsigned value = i + 1; value != 1; ++count) {
            value = value % 2 ? 3 * value + 1 : value / 2;
        }
        collatz[i] = count * 2 + 1;
    }
    expect_equal("steps", stepped.read(), collatz);

    Device<int> left(32);
    leavers<<<1, 32>>>(left);
    std::vector<int> stayed(32, 1);
    std::fill(stayed.begin(), stayed.begin() + 21, 2);
    expect_equal("leavers", left.read(), stayed);

    Device<int> tiled(128);
    tiles<<<2, 128>>>(d_in, tiled);
    std::vector<int> exchanged(128);
    for (int i = 0; i < 128; ++i) {
        exchanged[i] = in[i ^ 32] + 64000 + in[i / 64 * 64 + 63];
    }
    expect_equal("tiles", tiled.read(), exchanged);

    Device<unsigned> measured(6);
    sizes<<<1, 16, 96>>>(measured);
    expect_equal("sizes", measured.read(), std::vector<unsigned>{1024, 160, 96, 1024, 1, 0});
    return done("ptx_synchronisation");
}
