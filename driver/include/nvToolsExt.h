// The name that NVTX had before version 3.
#if defined(__has_include_next)
#if __has_include_next(<nvToolsExt.h>)
#define WARPLINE_OLD_NVTX_IS_THERE
#endif
#endif
#ifdef WARPLINE_OLD_NVTX_IS_THERE
#include_next <nvToolsExt.h>
#else
#include <nvtx3/nvToolsExt.h>
#endif
