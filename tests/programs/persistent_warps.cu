// flags: -arch=sm_80
// Warps and blocks take parts of the input from a counter until none is left. Each loop ends and begins with a test of the lane, over
// which compilers thread a jump; the operations of the whole warp, or block, in between need all lanes in each iteration all the same.
#include <cstdio>
#include <cuda_runtime.h>

__device__ int taken[4];

__device__ int sum_of_warp(int value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
    return value;
}

__global__ void sums(const int *values, int *out, int parts) {
    for (;;) {
        int part = 0;
        if (threadIdx.x == 0) part = atomicAdd(&taken[0], 1);
        part = __shfl_sync(~0u, part, 0);
        if (part >= parts) break;
        int sum = sum_of_warp(values[part * 32 + threadIdx.x]);
        if (threadIdx.x == 0) out[part] = sum;
    }
}

__global__ void largest(const int *values, int *out, int parts, int size) {
    for (;;) {
        int part = 0;
        if (threadIdx.x == 0) part = atomicAdd(&taken[1], 1);
        part = __shfl_sync(~0u, part, 0);
        if (part >= parts) break;
        int most = 0;
        for (int i = threadIdx.x; i < size; i += 32) most = max(most, values[part * size + i]);
        most = __reduce_max_sync(~0u, most);
        if (threadIdx.x == 0) out[part] = most;
    }
}

__global__ void votes(const int *values, int *out, int parts) {
    const int lane = threadIdx.x % 32;
    for (;;) {
        int part = 0;
        if (lane == 31) part = atomicAdd(&taken[2], 1);
        part = __shfl_sync(~0u, part, 31);
        if (part >= parts) break;
        unsigned odd = __ballot_sync(~0u, values[part * 32 + lane] & 1);
        if (lane == 31) out[part] = __popc(odd);
    }
}

__global__ void counted(const int *values, int *out, int parts) {
    __shared__ int part, large;
    for (;;) {
        if (threadIdx.x == 0) {
            part = atomicAdd(&taken[3], 1);
            large = 0;
        }
        __syncthreads();
        if (part >= parts) break;
        if (values[part * 64 + threadIdx.x] > 500) atomicAdd(&large, 1);
        __syncthreads();
        if (threadIdx.x == 0) out[part] = large;
    }
}

int main() {
    const int parts = 1000, size = 64;
    static int values[parts * size], out[4][parts];
    for (int i = 0; i < parts * size; ++i) values[i] = i * 37 % 1009;
    int *in, *results;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&results, sizeof out);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    sums<<<7, 32>>>(in, results, parts);
    largest<<<7, 32>>>(in, results + parts, parts, size);
    votes<<<3, 96>>>(in, results + 2 * parts, parts);
    counted<<<5, 64>>>(in, results + 3 * parts, parts);
    cudaMemcpy(out, results, sizeof out, cudaMemcpyDeviceToHost);
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    for (int part = 0; part < parts; ++part) {
        int sum = 0, most = 0, odd = 0, large = 0;
        for (int i = 0; i < 32; ++i) sum += values[part * 32 + i], odd += values[part * 32 + i] & 1;
        for (int i = 0; i < size; ++i) {
            most = most > values[part * size + i] ? most : values[part * size + i];
            large += values[part * size + i] > 500;
        }
        right &= out[0][part] == sum && out[1][part] == most && out[2][part] == odd && out[3][part] == large;
    }
    std::printf(right ? "PASS persistent_warps\n" : "FAIL\n");
}
