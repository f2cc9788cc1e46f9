// Inline assembly and atomics at addresses that are known at compile time: of variables, of arrays in shared memory in
// 32 bits, and numbers, which count from the start of the block's shared memory.
#include "test.h"

__device__ int word;
__device__ int table[8];

__device__ unsigned shared_address(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__global__ void global_ones()
{
    int old;
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(&word) : "memory");
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(&table[3]) : "memory");
    asm volatile("st.global.u32 [%0], %1;" ::"l"(&table[5]), "r"(7) : "memory");
    atomicAdd(&table[6], 2);
}

__global__ void shared_ones(int *out)
{
    __shared__ int front[8];
    __shared__ int values[32];
    values[threadIdx.x] = 0;
    front[threadIdx.x % 8] = 1;
    __syncthreads();
    int old, read;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared_address(&values[4])), "r"(7) : "memory");
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(shared_address(&values[5])) : "memory");
    asm volatile("atom.shared.add.u32 %0, [%1+4], 1;" : "=r"(old) : "r"(shared_address(&values[5])) : "memory");
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p st.shared.u32 [%0], 9; }" ::"r"(shared_address(&values[7])),
                 "r"(threadIdx.x)
                 : "memory");
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(read) : "r"(shared_address(&front[2])) : "memory");
    if (threadIdx.x == 0) {
        values[8] = read;
    }
    atomicAdd(&values[9], 1);
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}

extern __shared__ int dynamic[];

__global__ void numbers(int *out)
{
    dynamic[threadIdx.x] = 0;
    __syncthreads();
    int old;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(0), "r"(9) : "memory");
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(8) : "memory");
    asm volatile("atom.shared.add.u32 %0, [%1+4], 1;" : "=r"(old) : "r"(8) : "memory");
    asm volatile("st.shared.u32 [16], %0;" ::"r"(5) : "memory");
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x];
}

int main()
{
    global_ones<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    int got_word = 0;
    std::vector<int> got_table(8);
    CHECK(cudaMemcpyFromSymbol(&got_word, word, sizeof got_word));
    CHECK(cudaMemcpyFromSymbol(got_table.data(), table, 8 * sizeof(int)));
    EXPECT(got_word == 32);
    expect_equal("table", got_table, {0, 0, 0, 32, 0, 7, 64, 0});

    Device<int> out(32);
    std::vector<int> expected(32, 0);
    shared_ones<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    const int ones[] = {7, 32, 32, 9, 1, 32};
    std::copy(std::begin(ones), std::end(ones), expected.begin() + 4);
    expect_equal("shared", out.read(), expected);

    std::fill(expected.begin(), expected.end(), 0);
    numbers<<<1, 32, 32 * sizeof(int)>>>(out);
    CHECK(cudaDeviceSynchronize());
    expected[0] = 9, expected[2] = 32, expected[3] = 32, expected[4] = 5;
    expect_equal("numbers", out.read(), expected);
    return done("constant_addresses");
}
