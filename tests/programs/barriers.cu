// Block-wide barriers: in loops, in branches the whole block takes, with count, and, or, with partial
// warps and with threads that have left.
#include "test.h"

__global__ void reductions(const int *values, int *counts, int *ands, int *ors, int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        int value = values[(round * 7 + threadIdx.x) % blockDim.x];
        int count = __syncthreads_count(value > round);
        int all = __syncthreads_and(value >= 0 || round == 2);
        int any = __syncthreads_or(value == 3 * round);
        if (threadIdx.x == blockDim.x - 1) {
            counts[round] = count;
            ands[round] = all != 0;
            ors[round] = any != 0;
        }
    }
}

// Tree reduction with a barrier per step.
__global__ void tree_sum(const int *values, int *result)
{
    __shared__ int partial[1024];
    partial[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *result = partial[0];
    }
}

// Each warp hands a token to the next; every step needs the barrier.
__global__ void relay(int *order, int rounds, bool twice)
{
    __shared__ int token;
    if (threadIdx.x == 0) {
        token = 0;
    }
    __syncthreads();
    for (int step = 0; step < rounds; ++step) {
        if (threadIdx.x == (step * 37) % blockDim.x) {
            order[step] = token;
            token += step + 1;
        }
        __syncthreads();
        if (twice) {
            if (threadIdx.x == (step * 11) % blockDim.x) {
                token *= 2;
            }
            __syncthreads();
        }
    }
}

// Threads beyond `n` leave; the others still meet.
__global__ void leave_early(int *values, int n)
{
    __shared__ int shared[128];
    if (static_cast<int>(threadIdx.x) >= n) {
        return;
    }
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    values[threadIdx.x] = shared[n - 1 - threadIdx.x];
}

__device__ __noinline__ void meet_in_function(int *shared, int value)
{
    shared[threadIdx.x] = value;
    __syncthreads();
}

__global__ void barrier_in_function(int *values)
{
    __shared__ int shared[96];
    meet_in_function(shared, 10 * threadIdx.x);
    int other = shared[95 - threadIdx.x];
    __syncthreads();
    meet_in_function(shared, other + 1);
    values[threadIdx.x] = shared[(threadIdx.x + 32) % 96];
}

int main()
{
    for (int threads : {20, 32, 75, 256}) {
        const int rounds = 5;
        std::vector<int> values(threads);
        for (int i = 0; i < threads; ++i) {
            values[i] = (i * 5) % 11 - 1;
        }
        Device<int> d_values(values), counts(rounds), ands(rounds), ors(rounds);
        reductions<<<1, threads>>>(d_values, counts, ands, ors, rounds);
        std::vector<int> want_counts(rounds), want_ands(rounds), want_ors(rounds);
        for (int round = 0; round < rounds; ++round) {
            want_ands[round] = 1;
            for (int i = 0; i < threads; ++i) {
                int value = values[(round * 7 + i) % threads];
                want_counts[round] += value > round;
                want_ands[round] &= value >= 0 || round == 2;
                want_ors[round] |= value == 3 * round;
            }
        }
        expect_equal("count", counts.read(), want_counts);
        expect_equal("and", ands.read(), want_ands);
        expect_equal("or", ors.read(), want_ors);
    }

    std::vector<int> numbers(1024);
    for (int i = 0; i < 1024; ++i) {
        numbers[i] = i;
    }
    Device<int> d_numbers(numbers), sum(1);
    for (int threads : {64, 256, 1024}) {
        tree_sum<<<1, threads>>>(d_numbers, sum);
        expect_equal("tree", sum.read()[0], threads * (threads - 1) / 2);
    }

    for (bool twice : {false, true}) {
        const int rounds = 24;
        Device<int> order(rounds);
        relay<<<1, 160>>>(order, rounds, twice);
        std::vector<int> want(rounds);
        int token = 0;
        for (int step = 0; step < rounds; ++step) {
            want[step] = token;
            token += step + 1;
            token *= twice ? 2 : 1;
        }
        expect_equal("relay", order.read(), want);
    }

    for (int n : {1, 30, 64, 100, 128}) {
        Device<int> values(128);
        leave_early<<<1, 128>>>(values, n);
        std::vector<int> want(128, 0);
        for (int i = 0; i < n; ++i) {
            want[i] = n - 1 - i;
        }
        expect_equal("leave early", values.read(), want);
    }

    Device<int> values(96);
    barrier_in_function<<<1, 96>>>(values);
    std::vector<int> want(96);
    for (int i = 0; i < 96; ++i) {
        want[i] = 10 * (95 - (i + 32) % 96) + 1;
    }
    expect_equal("in a function", values.read(), want);
    return done("barriers");
}
