// Blocks that wait for each other: a spin lock, a flag set by another block, a chain, and a barrier
// of the whole grid made by hand. All blocks of each launch fit on the device at once.
#include "test.h"

__device__ int lock_word = 0;
__device__ volatile int flag = 0;

__global__ void under_lock(volatile long long *balance, int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x == 0) {
            while (atomicCAS(&lock_word, 0, 1) != 0) {
            }
            __threadfence();
            long long old = *balance;
            *balance = old + blockIdx.x + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
        }
        __syncthreads();
    }
}

// The first block waits for what the last block writes.
__global__ void wait_for_last(volatile int *message, int *received)
{
    if (blockIdx.x == gridDim.x - 1) {
        if (threadIdx.x == 0) {
            *message = 4711;
            __threadfence();
            flag = 1;
        }
    } else if (blockIdx.x == 0) {
        while (flag == 0) {
        }
        __threadfence();
        received[threadIdx.x] = *message + threadIdx.x;
    }
}

// Block b waits for block b + 1.
__global__ void chain(volatile int *steps)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x) {
            int next;
            do {
                next = steps[blockIdx.x + 1];
            } while (next == 0);
            __threadfence();
            steps[blockIdx.x] = next + 1;
        } else {
            steps[blockIdx.x] = 1;
        }
    }
}

__global__ void grid_barrier(volatile unsigned *arrived, volatile int *cells, int *sums, int rounds)
{
    int sum = 0;
    for (int round = 1; round <= rounds; ++round) {
        if (threadIdx.x == 0) {
            cells[blockIdx.x] = round * (blockIdx.x + 1);
            __threadfence();
            atomicAdd(const_cast<unsigned *>(arrived), 1u);
            while (*arrived < 2 * round * gridDim.x - gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
        for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
            sum += cells[block];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(const_cast<unsigned *>(arrived), 1u);
            while (*arrived < 2 * round * gridDim.x) {
            }
        }
        __syncthreads();
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main()
{
    Device<long long> balance(1);
    under_lock<<<12, 64>>>(balance, 5);
    expect_equal("balance", balance.read()[0], 5ll * 12 * 13 / 2);

    Device<int> message(1), received(48);
    wait_for_last<<<16, 48>>>(message, received);
    std::vector<int> want(48);
    for (int i = 0; i < 48; ++i) {
        want[i] = 4711 + i;
    }
    expect_equal("message", received.read(), want);

    Device<int> steps(20);
    chain<<<20, 32>>>(steps);
    std::vector<int> want_steps(20);
    for (int i = 0; i < 20; ++i) {
        want_steps[i] = 20 - i;
    }
    expect_equal("chain", steps.read(), want_steps);

    const int blocks = 10, threads = 33, rounds = 4;
    Device<unsigned> arrived(1);
    Device<int> cells(blocks), sums(blocks * threads);
    grid_barrier<<<blocks, threads>>>(arrived, cells, sums, rounds);
    std::vector<int> want_sums(blocks * threads, 0);
    for (int i = 0; i < blocks * threads; ++i) {
        int lane = i % threads;
        want_sums[i] = lane < blocks ? (lane + 1) * rounds * (rounds + 1) / 2 : 0;
    }
    expect_equal("grid barrier", sums.read(), want_sums);
    return done("waiting_blocks");
}
