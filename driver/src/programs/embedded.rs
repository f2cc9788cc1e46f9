//! Files that `warpline-cc` contains; they are unpacked to the user's cache when they are first needed.

use std::path::PathBuf;
use warpline_toolchain::{ToolchainError, cache};

/// The runtime: CUDA's API on the CPU device, linked into every program.
const RUNTIME: &[u8] = include_bytes!(env!("WARPLINE_RUNTIME_LIBRARY"));

/// The name and the text of a header that reads the toolkit's header of the same name without `__CUDACC_RTC__`, see
/// [`RUN_TIME_FOLDER`].
macro_rules! as_compiled_ahead {
    ($name:literal) => {
        (
            concat!("warpline/run_time/", $name),
            concat!(
                "#pragma GCC system_header\n#pragma push_macro(\"__CUDACC_RTC__\")\n#undef __CUDACC_RTC__\n#include_next <",
                $name,
                ">\n#pragma pop_macro(\"__CUDACC_RTC__\")\n"
            ),
        )
    };
}

/// The folder of headers for source that a program compiles while it runs. With `__CUDACC_RTC__`, the toolkit's headers
/// omit code that NVRTC's own library contains, such as the arithmetic of `__half`; clang needs the text of this code.
pub const RUN_TIME_FOLDER: &str = "warpline/run_time";

/// The headers, by their names in the include folder.
const HEADERS: [(&str, &str); 34] = [
    ("warpline.h", include_str!("../../include/warpline.h")),
    ("cuda_profiler_api.h", include_str!("../../include/cuda_profiler_api.h")),
    ("cublas_v2.h", include_str!("../../include/cublas_v2.h")),
    ("cublasLt.h", include_str!("../../include/cublasLt.h")),
    ("nvToolsExt.h", include_str!("../../include/nvToolsExt.h")),
    ("nvtx3/nvToolsExt.h", include_str!("../../include/nvtx3/nvToolsExt.h")),
    ("nvToolsExtCuda.h", include_str!("../../include/nvToolsExtCuda.h")),
    ("nvToolsExtCudaRt.h", include_str!("../../include/nvToolsExtCudaRt.h")),
    ("nvtx3/nvToolsExtCuda.h", include_str!("../../include/nvtx3/nvToolsExtCuda.h")),
    ("nvtx3/nvToolsExtCudaRt.h", include_str!("../../include/nvtx3/nvToolsExtCudaRt.h")),
    ("nvtx3/nvToolsExtMem.h", include_str!("../../include/nvtx3/nvToolsExtMem.h")),
    ("nvml.h", include_str!("../../include/nvml.h")),
    ("warpline/atomics.h", include_str!("../../include/warpline/atomics.h")),
    ("warpline/cached_accesses.h", include_str!("../../include/warpline/cached_accesses.h")),
    ("nvrtc.h", include_str!("../../include/nvrtc.h")),
    ("warpline/run_time_compilation.h", include_str!("../../include/warpline/run_time_compilation.h")),
    ("warpline/device_by_default.h", include_str!("../../include/warpline/device_by_default.h")),
    ("warpline/compatibility.h", include_str!("../../include/warpline/compatibility.h")),
    ("warpline/command_line_macros.h", include_str!("../../include/warpline/command_line_macros.h")),
    ("warpline/texture_references.h", include_str!("../../include/warpline/texture_references.h")),
    as_compiled_ahead!("cooperative_groups.h"),
    as_compiled_ahead!("cuComplex.h"),
    as_compiled_ahead!("cuda_awbarrier.h"),
    as_compiled_ahead!("cuda_awbarrier_primitives.h"),
    as_compiled_ahead!("cuda_bf16.h"),
    as_compiled_ahead!("cuda_fp16.h"),
    as_compiled_ahead!("cuda_fp4.h"),
    as_compiled_ahead!("cuda_fp6.h"),
    as_compiled_ahead!("cuda_fp8.h"),
    as_compiled_ahead!("cuda_pipeline.h"),
    as_compiled_ahead!("cuda_pipeline_primitives.h"),
    as_compiled_ahead!("curand_kernel.h"),
    as_compiled_ahead!("mma.h"),
    // The source of the precompiled headers, and the headers that are included before any source.
    ("warpline/precompiled.cu", ""),
];

/// Returns the runtime's static library.
pub fn runtime_library() -> Result<PathBuf, ToolchainError> {
    cache::keep("libwarpline_runtime", "a", RUNTIME)
}

/// Returns the folder of the headers, named after their content.
pub fn include_folder() -> Result<PathBuf, ToolchainError> {
    let whole: Vec<u8> = HEADERS.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()].concat()).collect();
    let folder = cache::folder()?.join(format!("include-{:016x}", cache::content_hash(&whole)));
    for (name, text) in HEADERS {
        let path = folder.join(name);
        let (Some(parent), Some(file)) = (path.parent(), path.file_name()) else { continue };
        cache::keep_in(parent, &file.to_string_lossy(), text.as_bytes())?;
    }
    Ok(folder)
}
