#pragma once

#include <cuda_runtime.h>

extern __device__ int external_counter;
extern __device__ int external_table[4];
extern __constant__ int c_external;
extern __managed__ int managed_elsewhere;
extern __managed__ int managed_row[64];

__device__ int external_function(int value);
__device__ int called_back(int value);
using Function = int (*)(int);
__device__ Function pointer_from_other();

int read_counter_there();
int *managed_there();
void launch_there(int *out);
