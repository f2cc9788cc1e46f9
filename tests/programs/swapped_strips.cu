// Each thread walks a strip several times. Without SWAP the lanes of a warp read one sector of 512 lines; with SWAP they read the
// whole of 128. In either case the 32 warps of a block together read 512 KiB, which no L1 of that time holds.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void strips(const float *in, float *out, int rounds)
{
#ifdef SWAP
    int row = threadIdx.y, column = threadIdx.x;
#else
    int row = threadIdx.x, column = threadIdx.y;
#endif
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int step = 0; step < 16; ++step) {
            sum += in[((row * 16 + step) * 32 + column) * 8];
        }
    }
    out[(blockIdx.x * 32 + threadIdx.y) * 32 + threadIdx.x] = sum;
}

int main()
{
    const int blocks = 4;
    float *in, *out;
    cudaMalloc(&in, 32 * 16 * 32 * 8 * sizeof(float));
    cudaMalloc(&out, blocks * 1024 * sizeof(float));
    cudaMemset(in, 0, 32 * 16 * 32 * 8 * sizeof(float));
    strips<<<blocks, dim3(32, 32)>>>(in, out, 8);
    std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
