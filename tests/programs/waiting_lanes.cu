// Lanes that wait for lanes of their own warp, which needs independent thread scheduling: a spin
// lock taken by every thread, and a value handed from lane to lane.
#include "test.h"

__device__ int lock_word = 0;

__global__ void every_thread_locks(volatile int *counter)
{
    while (atomicCAS(&lock_word, 0, 1) != 0) {
    }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(&lock_word, 0);
}

// The lock and the work in one loop, as code for older devices writes it.
__global__ void lock_in_loop(volatile int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            *counter = *counter + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}

__global__ void bucket_brigade(volatile int *cells)
{
    if (threadIdx.x == 31) {
        cells[31] = 1;
    } else {
        while (cells[threadIdx.x + 1] == 0) {
        }
        cells[threadIdx.x] = cells[threadIdx.x + 1] + 1;
    }
}

int main()
{
    Device<int> counter(1);
    lock_in_loop<<<2, 48>>>(counter);
    expect_equal("lock in a loop", counter.read()[0], 96);
    every_thread_locks<<<2, 40>>>(counter);
    expect_equal("spin lock", counter.read()[0], 96 + 80);
    Device<int> cells(32);
    bucket_brigade<<<1, 32>>>(cells);
    std::vector<int> want(32);
    for (int i = 0; i < 32; ++i) {
        want[i] = 32 - i;
    }
    expect_equal("brigade", cells.read(), want);
    return done("waiting_lanes");
}
