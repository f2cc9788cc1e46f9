// Included before CUDA source that a program compiles while it runs: what NVRTC predefines in addition to nvcc's
// macros.
#ifndef WARPLINE_RUN_TIME_COMPILATION_H
#define WARPLINE_RUN_TIME_COMPILATION_H
#pragma GCC system_header

// NVRTC declares `assert` without an include.
#include <assert.h>

#define __CUDACC_RTC__ 1

#endif
