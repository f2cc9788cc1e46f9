// Each key is given to one of the threads that have it. Between the check and the store another thread can claim it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void claim(const int *keys, int *owners, int *winners) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int key = keys[i];
#ifdef CURED
    winners[i] = atomicCAS(&owners[key], 0, i + 1) == 0;
#else
    winners[i] = 0;
    if (owners[key] == 0) {
        owners[key] = i + 1; // PLANTED
        winners[i] = 1;
    }
#endif
}

__global__ void fill(int *keys) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    keys[i] = i % 2048 ^ 77;
}

int main() {
    const int n = 1 << 14;
    int *keys, *owners, *winners, last;
    cudaMalloc(&keys, n * sizeof(int));
    cudaMalloc(&owners, 2048 * sizeof(int));
    cudaMalloc(&winners, n * sizeof(int));
    cudaMemset(owners, 0, 2048 * sizeof(int));
    fill<<<n / 256, 256>>>(keys);
    claim<<<n / 256, 256>>>(keys, owners, winners);
    cudaMemcpy(&last, winners + 7, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%d\n", last);
    cudaFree(keys);
    cudaFree(owners);
    cudaFree(winners);
}
