//! Source positions, and which are the user's own.

use serde::{Deserialize, Serialize};

/// A source position; empty strings and zeroes are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// Demangled name.
    pub function: String,
    /// Absolute path.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Whether a file is not the user's own.
pub fn is_system(file: &str) -> bool {
    const PARTS: [&str; 9] = [
        "/include/crt/",
        "/nvidia/cu",
        "/lib/clang/",
        "/cuda_runtime",
        "/rustc/",
        "/include/cccl/",
        "/include/thrust/",
        "/include/cub/",
        "/include/cuda/std/",
    ];
    file.starts_with("/usr/include")
        || file.starts_with("/usr/lib")
        || file.starts_with("/usr/local/cuda")
        || PARTS.iter().any(|part| file.contains(part))
}

/// The innermost frame of the user's own code; the last one where there is none.
pub fn user_frame(path: &[Frame]) -> Option<&Frame> {
    path.iter().rev().find(|frame| !frame.file.is_empty() && !is_system(&frame.file)).or(path.last())
}
