// flags: -arch=sm_80
// Accesses of inline assembly under a guard, as matrix libraries write them: the lanes that the guard holds for are
// counted. Behind each line with accesses stand their requests, lanes and sectors.
#include "test.h"

__device__ int load(const int *from, bool wanted)
{
    int value;
    asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %1, 0;\n mov.b32 %0, 7;\n @p ld.global.L2::128B.u32 %0, [%2];\n }" // sites load 2 40 5
                 : "=r"(value)
                 : "r"(static_cast<int>(wanted)), "l"(from));
    return value;
}

__device__ void copy(int *to, const int *from, bool wanted)
{
    unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %0, 0;\n @p cp.async.ca.shared.global [%1], [%2], %3;\n @!p st.shared.u32 [%1], %4;\n }" // sites load 2 32 8, store 2 32 8, store 2 32 8
                 ::"r"(static_cast<int>(wanted)), "r"(place), "l"(from), "n"(4), "r"(-1));
}

// The last operand sets how much is read; zeros fill the rest.
__device__ void fill(int *to, const int *from, int bytes)
{
    unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" // sites load 1 24 3, store 2 64 8
                 ::"r"(place), "l"(from), "n"(4), "r"(bytes));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place + 256), "l"(from), "n"(0)); // sites store 2 64 8
}

__global__ void guarded(int *out, const int *in, int count)
{
    __shared__ int shared[64], filled[128];
    int i = threadIdx.x;
    int value = load(in + i, i < count);
    copy(shared + i, in + i, i % 2 == 0);
    fill(filled + i, in + i, i < 24 ? 4 : 0);
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;");
    __syncthreads();
    value += shared[63 - i]; // sites load 2 64 8
    value += filled[i]; // sites load 2 64 8
    value += filled[64 + i]; // sites load 2 64 8
    asm volatile("{ .reg .pred p;\n setp.ge.s32 p, %2, %3;\n @p st.global.u32 [%0], %1;\n }" // sites store 1 24 3
                 ::"l"(out + i), "r"(value), "r"(i), "r"(40)
                 : "memory");
    // A guard that is known when the program is compiled.
    asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %2, 0;\n @p st.global.u32 [%0], %1;\n }" // sites store 2 64 8
                 ::"l"(out + 64 + i), "r"(value), "r"(1)
                 : "memory");
}

// Other ways to write the same: pairs of predicates, blanks, negative offsets, and a predicate that reads nothing.
__global__ void forms(int *out, const int *in)
{
    __shared__ int kept[64];
    int i = threadIdx.x, value;
    unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(kept + i));
    asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %2, 0;\n cp.async.ca.shared.global [%0], [%1+-4], 4, p;\n }" // sites load 2 32 8, store 2 64 8
                 ::"r"(place), "l"(in + i + 1), "r"(i % 2));
    asm volatile("cp.async.wait_all;");
    asm volatile("{ .reg .pred p, q;\n setp.ge.s32 p|q, %2, 40;\n mov.b32 %0, 5;\n @ q ld.global.u32 %0, [%1+-8];\n }" // sites load 2 40 5
                 : "=r"(value)
                 : "l"(in + i + 2), "r"(i));
    value += kept[i]; // sites load 2 64 8
    out[i] = value; // sites store 2 64 8
}

int main()
{
    std::vector<int> numbers(64), want(128);
    for (int i = 0; i < 64; ++i) {
        numbers[i] = 100 + i;
        int j = 63 - i;
        want[64 + i] = (i < 40 ? 100 + i : 7) + (j % 2 == 0 ? 100 + j : -1) + (i < 24 ? 100 + i : 0);
        want[i] = i < 40 ? 0 : want[64 + i];
    }
    Device<int> in(numbers), out(128);
    CHECK(cudaMemset(out, 0, 128 * sizeof(int)));
    guarded<<<1, 64>>>(out, in, 40);
    expect_equal("out", out.read(), want);
    forms<<<1, 64>>>(out, in);
    for (int i = 0; i < 64; ++i) {
        want[i] = (i % 2 == 0 ? 100 + i : 0) + (i < 40 ? 100 + i : 5);
    }
    expect_equal("forms", out.read(), want);
    return done("guarded_assembly");
}
