//! The linker of shared objects that need neither clang nor system libraries: a linker in the folder of `warpline-cc`,
//! or the system's.

use crate::command::Command;
use std::path::{Path, PathBuf};
use warpline_toolchain::ToolchainError;
use warpline_toolchain::packages;
use warpline_toolchain::programs::{companion, find};

/// Names the linker to use instead of a search: a program with `ld`'s options.
const VARIABLE: &str = "WARPLINE_LD";

/// Programs with `ld`'s options, in the order of preference.
const LINKERS: [&str; 4] = ["ld.lld", "ld", "ld.bfd", "ld.gold"];

/// Returns the command that links `objects` to the shared object `output`. Undefined symbols are resolved in the
/// process that loads it.
pub fn shared_object(objects: &[&Path], output: &Path) -> Result<Command, ToolchainError> {
    let link = Command::new(linker()?)
        .args([
            "-shared",
            "--build-id=none",
            "--no-undefined-version",
            "-Bsymbolic",
            "--eh-frame-hdr",
            "-z",
            "noexecstack",
        ])
        .args(["-o"])
        .path(output);
    Ok(objects.iter().fold(link, |link, object| link.path(object)))
}

/// Returns the command that links the runtime's archive to a shared library. It needs the system's own libraries, which
/// a C compiler adds. The library is made once, when Warpline is packaged.
pub fn runtime(archive: &Path, output: &Path) -> Result<Command, ToolchainError> {
    let compiler = find("cc").or_else(|| find("gcc")).ok_or_else(|| ToolchainError::Missing {
        what: "a C compiler, to link the runtime with the system's libraries".into(),
        looked_at: "cc and gcc on PATH".into(),
        cure: packages::install(&["g++"]),
    })?;
    // The complete archive is linked, because nothing refers to its functions in this link.
    Ok(Command::new(compiler)
        .args(["-shared", "-Wl,-soname,libwarpline_rt.so", "-Wl,-Bsymbolic", "-o"])
        .path(output)
        .args(["-Wl,--whole-archive"])
        .path(archive)
        .args(["-Wl,--no-whole-archive", "-lgcc_s", "-lm", "-ldl", "-lpthread"]))
}

fn linker() -> Result<PathBuf, ToolchainError> {
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let found = match &named {
        Some(name) => find(name),
        None => LINKERS.iter().find_map(|name| companion(name)),
    };
    found.ok_or_else(|| ToolchainError::Missing {
        what: "a linker".into(),
        looked_at: named.unwrap_or_else(|| format!("{} in the folder of warpline-cc and on PATH", LINKERS.join(", "))),
        cure: format!("{}, or set {VARIABLE}", packages::install(&["binutils"])),
    })
}
