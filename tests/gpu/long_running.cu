// A kernel that runs until the host stops it, and sends far more records than the rings hold: it can only end if they
// are drained while it runs.
#include <chrono>
#include <cstdio>
#include <thread>

__global__ void spin(const volatile int* stop, const float* values, float* out, unsigned long long* turns) {
    float sum = 0;
    unsigned long long count = 0;
    while (*stop == 0) {
        for (int i = 0; i < 64; i++) sum += values[(threadIdx.x + 32 * i + count) & 0xffff];
        count++;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (threadIdx.x == 0) turns[blockIdx.x] = count;
}

int main() {
    const int blocks = 64, threads = 128;
    int* stop;
    float *values, *out;
    unsigned long long *turns, host[blocks];
    cudaHostAlloc(&stop, sizeof(int), cudaHostAllocMapped);
    *stop = 0;
    cudaMalloc(&values, 65536 * sizeof(float));
    cudaMemset(values, 0, 65536 * sizeof(float));
    cudaMalloc(&out, blocks * threads * sizeof(float));
    cudaMalloc(&turns, sizeof host);
    spin<<<blocks, threads>>>(stop, values, out, turns);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    *(volatile int*)stop = 1;
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    cudaMemcpy(host, turns, sizeof host, cudaMemcpyDeviceToHost);
    unsigned long long least = host[0];
    for (unsigned long long count : host) least = count < least ? count : least;
    printf("long_running: ok, every block had at least %llu turns\n", least);
    return least == 0;
}
