// A kernel that fails in the way that the first argument names, between launches that are right. With `none` nothing
// fails; with `reset` the device is reset after the failure, and a second kernel fails, too.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *values, int value)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__device__ __noinline__ int deep(int depth, int seed)
{
    volatile int here[64];
    here[depth & 63] = seed;
    return depth == 0 ? seed : deep(depth - 1, here[depth & 63] + 1) + here[(depth + 1) & 63];
}

enum Failure { NONE, TRAP, ASSERT, RECURSION, STRAY };

__global__ void fails(int *values, int failure, int depth, int far)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] += 1;
    if (blockIdx.x == 1 && threadIdx.x == 3) {
        if (failure == TRAP) {
            __trap();
        }
        assert(failure != ASSERT);
        if (failure == RECURSION) {
            values[i] += deep(depth, i);
        }
        if (failure == STRAY) {
            values[i + far] = 1;
        }
    }
    values[i] += 1;
}

int main(int argc, char **argv)
{
    const char *names[] = {"none", "trap", "assert", "recursion", "stray"};
    const char *wanted = argc > 1 ? argv[1] : "none";
    int failure = NONE, resets = strcmp(wanted, "reset") == 0;
    for (int i = 0; i < 5; i++) {
        if (strcmp(wanted, names[i]) == 0) {
            failure = i;
        }
    }
    if (resets) {
        failure = TRAP;
    }
    int *values;
    for (int round = 0; round <= resets; round++) {
        cudaMalloc(&values, 256 * sizeof(int));
        fill<<<4, 64>>>(values, round);
        fails<<<4, 64>>>(values, failure, failure == NONE ? 1 : 100000, 100000000);
        // A program that does not check errors.
        for (int i = 0; i < 7; i++) {
            fill<<<4, 64>>>(values, i);
        }
        cudaDeviceSynchronize();
        if (resets) {
            cudaDeviceReset();
        }
    }
    printf("done\n");
    return 0;
}
