// Accesses of every kind at lines that a test names by their marks, so that it can stop at each.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int THREADS = 64;
constexpr int BLOCKS = 3;
constexpr int COUNT = THREADS * BLOCKS;

struct Body {
    float x, y;
};

__device__ int total;
__constant__ float weights[4];

__device__ __noinline__ float fetch(const float *from, int index)
{
    return from[index]; // MARK: fetch
}

__device__ __noinline__ float twice(const float *from, int index)
{
    return fetch(from, index) + fetch(from, index + 1); // MARK: calls
}

__global__ void kinds(const float *input, Body *bodies, float4 *wide, float *output, int count)
{
    __shared__ float tile[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[THREADS - 1 - threadIdx.x] = input[i]; // MARK: shared
    __syncthreads();
    if (i % 2 == 1) {
        bodies[i].y = tile[threadIdx.x]; // MARK: member
    }
    wide[i] = make_float4(1, 2, 3, 4); // MARK: wide
    if (threadIdx.x == 5) {
        atomicAdd(&total, i); // MARK: atomic
    }
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
        sum += input[4 * i + k] * weights[k]; // MARK: unrolled
    }
    output[i] = sum + twice(input, i); // MARK: output
}

__global__ void strays(float *data, int count, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i + by] = 1; // MARK: stray
}

int main(int argc, char **argv)
{
    float *d_input, *d_output;
    Body *d_bodies;
    float4 *d_wide;
    cudaMalloc(&d_input, 4 * COUNT * sizeof(float));
    cudaMalloc(&d_bodies, COUNT * sizeof(Body));
    cudaMalloc(&d_wide, COUNT * sizeof(float4));
    cudaMalloc(&d_output, COUNT * sizeof(float));
    cudaMemset(d_input, 0, 4 * COUNT * sizeof(float));
    float host_weights[4] = {1, 2, 3, 4};
    cudaMemcpyToSymbol(weights, host_weights, sizeof(host_weights));
    for (int pass = 0; pass < 2; ++pass) {
        kinds<<<BLOCKS, THREADS>>>(d_input, d_bodies, d_wide, d_output, COUNT); // MARK: launch
    }
    if (argc > 1) {
        strays<<<1, 32>>>(d_output, COUNT, std::atoi(argv[1]));
    }
    cudaError_t error = cudaDeviceSynchronize();
    float result = -1;
    cudaMemcpy(&result, d_output + 1, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%s %.0f\n", cudaGetErrorName(error), result);
    return 0;
}
