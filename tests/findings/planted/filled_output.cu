// Squares of a table, whose memory is cleared before each launch that overwrites all of it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void square(int *squares, int first, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) squares[i] = (first + i) * (first + i);
}

int main() {
    const int n = 1 << 18, rounds = 4;
    int *squares, last = 0;
    cudaMalloc(&squares, n * sizeof(int));
    for (int round = 0; round < rounds; ++round) {
#ifndef CURED
        cudaMemset(squares, 0, n * sizeof(int)); // PLANTED
#endif
        square<<<n / 256, 256>>>(squares, round, n);
        int here;
        cudaMemcpy(&here, squares + 1, sizeof(int), cudaMemcpyDeviceToHost);
        last += here;
    }
    std::printf("%d\n", last);
    cudaFree(squares);
}
