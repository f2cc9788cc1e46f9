//! Source positions, and the test whether they are in the user's code.

use serde::{Deserialize, Serialize};

/// A source position. Empty strings and zeros are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// Demangled name.
    pub function: String,
    /// Absolute path.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1.
    pub column: u32,
}

/// Returns whether a file does not belong to the user's code.
pub fn is_system(file: &str) -> bool {
    const PARTS: [&str; 17] = [
        "/include/crt/",
        "/nvidia/cu",
        "/lib/clang/",
        "/cuda_runtime",
        "/rustc/",
        "/include/cccl/",
        "/include/thrust/",
        "/include/cub/",
        "/include/cuda/std/",
        // Copies that programs include in their own source tree.
        "/libcudacxx/include/",
        "/thrust/thrust/",
        "/thrust/detail/",
        "/thrust/system/",
        "/cub/cub/",
        "/cub/agent/",
        "/cub/block/",
        "/cub/device/",
    ];
    file.starts_with("/usr/include")
        || file.starts_with("/usr/lib")
        || file.starts_with("/usr/local/cuda")
        || PARTS.iter().any(|part| file.contains(part))
}

/// Returns the innermost frame in the user's code, or the last frame if there is none.
pub fn user_frame(path: &[Frame]) -> Option<&Frame> {
    path.iter().rev().find(|frame| !frame.file.is_empty() && !is_system(&frame.file)).or(path.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_programs_bring_along_are_libraries() {
        for file in [
            "/home/me/app/dependencies/cub/cub/agent/agent_scan.cuh",
            "/home/me/cccl/thrust/thrust/system/cuda/detail/core/triple_chevron_launch.h",
            "/home/me/cccl/libcudacxx/include/cuda/std/span",
        ] {
            assert!(is_system(file), "{file}");
        }
        for file in
            ["/home/me/thrust/examples/sort.cu", "/home/me/cub/examples/block/scan.cu", "/home/me/app/block/load.h"]
        {
            assert!(!is_system(file), "{file}");
        }
    }
}
