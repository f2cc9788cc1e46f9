// Ends the program with the error's name where a CUDA call fails.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

inline void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
    std::exit(1);
  }
}
