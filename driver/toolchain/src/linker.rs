//! The linker of shared objects that programs load while they run: a linker in the folder of the programs, or the
//! system's.

use crate::programs::{companion, find};
use crate::{ToolchainError, packages};
use std::path::PathBuf;

/// Names the linker to use instead of a search: a program with `ld`'s options.
const VARIABLE: &str = "WARPLINE_LD";

/// Programs with `ld`'s options, in the order of preference.
const LINKERS: [&str; 4] = ["ld.lld", "ld", "ld.bfd", "ld.gold"];

/// Finds the linker.
pub fn linker() -> Result<PathBuf, ToolchainError> {
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let found = match &named {
        Some(name) => find(name),
        None => LINKERS.iter().find_map(|name| companion(name)),
    };
    found.ok_or_else(|| ToolchainError::Missing {
        what: "a linker".into(),
        looked_at: match named {
            Some(name) => format!("{VARIABLE}={name}"),
            None => format!("{} in the folder of warpline-cc and on PATH", LINKERS.join(", ")),
        },
        cure: format!("{}, or set {VARIABLE}", packages::install(&["binutils"])),
    })
}
