// Basic blocks by warp. A thread block of 72 threads has two whole warps and one of 8 lanes; there are two. Behind each
// line stands what its block must count: warps that ran it, those whose lanes add up to no multiple of 32 over all
// executions, and those that ran it with fewer lanes than they have.
#include "test.h"

__global__ void blocks(volatile int *out, int rounds)
{
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    if (lane < 8) {
        out[0] = 1; // warps 6 6 4
    }
    if (lane < 16) {
        // 16 lanes twice, or 8 lanes twice.
#pragma unroll 1
        for (int round = 0; round < rounds; round++) {
            out[1] = round; // warps 6 2 4
        }
    }
    if (warp == 1) {
        out[2] = 1; // warps 2 0 0
    }
    // Each lane of a whole warp once, one after the other.
    if (warp == 0) {
#pragma unroll 1
        for (int turn = 0; turn < 32; turn++) {
            if (lane == turn) {
                out[3] = turn; // warps 2 0 2
            }
        }
    }
}

int main()
{
    int *out;
    CHECK(cudaMalloc(&out, 4 * sizeof(int)));
    CHECK(cudaMemset(out, 0, 4 * sizeof(int)));
    blocks<<<2, 72>>>(out, 2);
    CHECK(cudaGetLastError());
    int got[4];
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got[0] == 1 && got[1] == 1 && got[2] == 1 && got[3] == 31);
    return done("warp_blocks");
}
