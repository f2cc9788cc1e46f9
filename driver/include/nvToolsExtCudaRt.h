// The name that NVTX had before version 3.
#if defined(__has_include_next)
#if __has_include_next(<nvToolsExtCudaRt.h>)
#define WARPLINE_OLD_NVTX_CUDART_IS_THERE
#endif
#endif
#ifdef WARPLINE_OLD_NVTX_CUDART_IS_THERE
#include_next <nvToolsExtCudaRt.h>
#else
#include <nvtx3/nvToolsExtCudaRt.h>
#endif
