// The energy of bonds. Planted: each thread adds to both sums of the whole program, which are as hot as each other. Fixed: each block adds up
// first.
#include <cstdio>
#include <cuda_runtime.h>

struct Sums {
    float stretch, bend;
};

__device__ float of_block(float value) {
    __shared__ float parts[8];
    for (int step = 16; step; step /= 2) value += __shfl_down_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    for (float part : parts) sum += part;
    __syncthreads();
    return sum;
}

__global__ void energy(const float *lengths, Sums *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float off = lengths[i] - 1, stretch = off * off, bend = off * stretch;
#ifdef CURED
    stretch = of_block(stretch);
    bend = of_block(bend);
    if (threadIdx.x == 0) {
        atomicAdd(&sums->stretch, stretch);
        atomicAdd(&sums->bend, bend);
    }
#else
    atomicAdd(&sums->stretch, stretch); // PLANTED
    atomicAdd(&sums->bend, bend);       // PLANTED
#endif
}

int main() {
    const int bonds = 1 << 18;
    float *lengths;
    Sums *sums, host;
    cudaMalloc(&lengths, bonds * sizeof(float));
    cudaMalloc(&sums, sizeof(Sums));
    cudaMemset(lengths, 0, bonds * sizeof(float));
    cudaMemset(sums, 0, sizeof(Sums));
    energy<<<bonds / 256, 256>>>(lengths, sums);
    cudaMemcpy(&host, sums, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g %g\n", host.stretch, host.bend);
}
