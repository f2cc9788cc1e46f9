// Two loads take both halves of a record: no sector is brought without use, and wide elements could not gain anything.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add_halves(const uint4 *__restrict__ records, unsigned *__restrict__ sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 low = records[2 * i]; // BOTH HALVES
    uint4 high = records[2 * i + 1]; // BOTH HALVES
    sums[i] = low.x + low.y + low.z + low.w + high.x + high.y + high.z + high.w;
}

int main() {
    const int count = 1 << 16;
    uint4 *records;
    unsigned *sums;
    cudaMalloc(&records, 2 * count * sizeof(uint4));
    cudaMalloc(&sums, count * sizeof(unsigned));
    cudaMemset(records, 1, 2 * count * sizeof(uint4));
    add_halves<<<count / 128, 128>>>(records, sums);
    unsigned first;
    cudaMemcpy(&first, sums, sizeof first, cudaMemcpyDeviceToHost);
    printf("%x\n", first);
    cudaFree(records);
    cudaFree(sums);
}
