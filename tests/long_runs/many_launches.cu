// Many launches of two kernels that differ from each other: the first does more from launch to launch, the second as much as a
// number in the data requires. The argument is the number of steps, a second one the milliseconds that each step waits.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void sweep(float *values, const int *places, int n, int rounds) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        int from = (at + round * 4099) % n;
        values[at] = values[at] * 0.5f + places[from];
    }
}

__global__ void gather(const float *values, const int *places, float *sums, int n, int count) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < count; ++i)
        sum += values[places[(at * 17 + i * 31) % n]];
    sums[at] = sum;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    int pause = argc > 2 ? atoi(argv[2]) : 0;
    const int n = 1024;
    float *values, *sums;
    int *places;
    cudaMalloc(&values, n * sizeof *values);
    cudaMalloc(&sums, n * sizeof *sums);
    cudaMalloc(&places, n * sizeof *places);
    int *chosen = (int *)malloc(n * sizeof *chosen);
    unsigned state = 1;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        chosen[i] = (state >> 8) % n;
    }
    cudaMemcpy(places, chosen, n * sizeof *places, cudaMemcpyHostToDevice);
    cudaMemset(values, 0, n * sizeof *values);
    for (int step = 0; step < steps; ++step) {
        sweep<<<n / 128, 128>>>(values, places, n, 2 + step / 16);
        state = state * 1664525u + 1013904223u;
        gather<<<n / 256, 256>>>(values, places, sums, n, 1 + (state >> 8) % 24);
        if (pause)
            usleep(pause * 1000);
    }
    float first;
    cudaMemcpy(&first, sums, sizeof first, cudaMemcpyDeviceToHost);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s %g\n", cudaGetErrorString(error), first);
    cudaFree(values);
    cudaFree(sums);
    cudaFree(places);
    free(chosen);
    return error != cudaSuccess;
}
