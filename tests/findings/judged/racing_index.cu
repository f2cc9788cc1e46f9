// A block's scan without a barrier between reading a neighbour's sum and storing its own: places come out wrong, and lead past the end.
#include <cuda_runtime.h>

const int threads = 256;

__global__ void compact(const int *values, int *kept) {
    __shared__ int sums[threads];
    int lane = threadIdx.x, keep = values[lane] > 0;
    sums[lane] = keep;
    __syncthreads();
    for (int step = 1; step < threads; step *= 2) {
        int before = lane >= step ? sums[lane - step] : 0; // READ
        sums[lane] += before;                              // STORED
        __syncthreads();
    }
    // What the scan would give if no warp came before another one is in range.
    int place = sums[lane] - 1;
    if (keep) kept[place >= lane ? place * 2 : place] = values[lane]; // PAST
}

int main() {
    int *values, *kept, some[threads];
    for (int i = 0; i < threads; i++) some[i] = i % 3;
    cudaMalloc(&values, sizeof some);
    cudaMalloc(&kept, sizeof some);
    cudaMemcpy(values, some, sizeof some, cudaMemcpyHostToDevice);
    compact<<<1, threads>>>(values, kept);
    cudaDeviceSynchronize();
    return 0;
}
