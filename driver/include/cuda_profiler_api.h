/* The profiler's start and stop calls. The pinned toolkit parts lack this header of CUDA's. */
#ifndef WARPLINE_CUDA_PROFILER_API_H
#define WARPLINE_CUDA_PROFILER_API_H
#pragma GCC system_header

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

extern __host__ cudaError_t cudaProfilerStart(void);
extern __host__ cudaError_t cudaProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
