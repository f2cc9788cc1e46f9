// NVTX's functions that name the runtime's objects, if the toolkit's own header is not installed. The names are
// accepted but not shown. The functions have the names of NVTX 3.
#if defined(__has_include_next)
#if __has_include_next(<nvtx3/nvToolsExtCudaRt.h>)
#define WARPLINE_NVTX_CUDART_IS_THERE
#endif
#endif

#ifdef WARPLINE_NVTX_CUDART_IS_THERE
#include_next <nvtx3/nvToolsExtCudaRt.h>
#elif !defined(WARPLINE_NVTX_CUDART)
#define WARPLINE_NVTX_CUDART

#include <cuda_runtime_api.h>
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
WARPLINE_NVTX_NAME(nvtxNameCudaDevice, int)
WARPLINE_NVTX_NAME(nvtxNameCudaStream, cudaStream_t)
WARPLINE_NVTX_NAME(nvtxNameCudaEvent, cudaEvent_t)
#pragma GCC diagnostic pop
#undef WARPLINE_NVTX_NAME

#ifdef UNICODE
#define nvtxNameCudaDevice nvtxNameCudaDeviceW
#define nvtxNameCudaStream nvtxNameCudaStreamW
#define nvtxNameCudaEvent nvtxNameCudaEventW
#else
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
#endif

#endif
