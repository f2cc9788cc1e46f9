// The name that NVTX had before version 3.
#if defined(__has_include_next)
#if __has_include_next(<nvToolsExtCuda.h>)
#define WARPLINE_OLD_NVTX_CUDA_IS_THERE
#endif
#endif
#ifdef WARPLINE_OLD_NVTX_CUDA_IS_THERE
#include_next <nvToolsExtCuda.h>
#else
#include <nvtx3/nvToolsExtCuda.h>
#endif
