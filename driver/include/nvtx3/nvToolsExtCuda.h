// NVTX's functions that name the driver's objects, if the toolkit's own header is not installed. The names are accepted
// but not shown. The functions have the names of NVTX 3.
#if defined(__has_include_next)
#if __has_include_next(<nvtx3/nvToolsExtCuda.h>)
#define WARPLINE_NVTX_CUDA_IS_THERE
#endif
#endif

#ifdef WARPLINE_NVTX_CUDA_IS_THERE
#include_next <nvtx3/nvToolsExtCuda.h>
#elif !defined(WARPLINE_NVTX_CUDA)
#define WARPLINE_NVTX_CUDA

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#ifdef __cplusplus
#define WARPLINE_NVTX_NAME(function, type)                                                                             \
  static inline void function##A(type, const char *) {}                                                               \
  static inline void function##W(type, const wchar_t *) {}
#else
#define WARPLINE_NVTX_NAME(function, type)                                                                             \
  static inline void function##A(type of, const char *name) { (void)of, (void)name; }                                 \
  static inline void function##W(type of, const wchar_t *name) { (void)of, (void)name; }
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
WARPLINE_NVTX_NAME(nvtxNameCuDevice, CUdevice)
WARPLINE_NVTX_NAME(nvtxNameCuContext, CUcontext)
WARPLINE_NVTX_NAME(nvtxNameCuStream, CUstream)
WARPLINE_NVTX_NAME(nvtxNameCuEvent, CUevent)
#pragma GCC diagnostic pop
#undef WARPLINE_NVTX_NAME

#ifdef UNICODE
#define nvtxNameCuDevice nvtxNameCuDeviceW
#define nvtxNameCuContext nvtxNameCuContextW
#define nvtxNameCuStream nvtxNameCuStreamW
#define nvtxNameCuEvent nvtxNameCuEventW
#else
#define nvtxNameCuDevice nvtxNameCuDeviceA
#define nvtxNameCuContext nvtxNameCuContextA
#define nvtxNameCuStream nvtxNameCuStreamA
#define nvtxNameCuEvent nvtxNameCuEventA
#endif

#endif
