// Another program, which tree.cu starts.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void twice(float *values)
{
    values[threadIdx.x] *= 2;
}

int main()
{
    float *values;
    cudaMalloc(&values, 64 * sizeof(float));
    twice<<<1, 64>>>(values);
    cudaFree(values);
    return cudaGetLastError() != cudaSuccess;
}
