// Included before CUDA source that a program compiles while it runs. It contains NVRTC's predefined declarations that
// nvcc does not have.
#ifndef WARPLINE_RUN_TIME_COMPILATION_H
#define WARPLINE_RUN_TIME_COMPILATION_H
#pragma GCC system_header

// NVRTC declares `assert` without an include.
#include <assert.h>

#define __CUDACC_RTC__ 1

#endif
