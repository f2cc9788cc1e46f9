#include "shared.h"

__device__ int external_counter = 7;
__device__ int external_table[4] = {10, 20, 30, 40};
__constant__ int c_external = 42;
__managed__ int managed_elsewhere = 8;
__managed__ int managed_row[64];

__device__ int external_function(int value)
{
    return called_back(value * value);
}

__device__ int add_thousand(int value)
{
    return value + 1000;
}

__device__ Function pointer_from_other()
{
    return add_thousand;
}

__global__ void there(int *out)
{
    out[threadIdx.x] = called_back(threadIdx.x) + external_counter;
}

int read_counter_there()
{
    int counter = -1;
    cudaMemcpyFromSymbol(&counter, external_counter, sizeof counter);
    return counter;
}

int *managed_there()
{
    return &managed_elsewhere;
}

void launch_there(int *out)
{
    there<<<1, 64>>>(out);
}
