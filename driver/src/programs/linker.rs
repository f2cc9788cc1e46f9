//! The commands that link shared objects without clang.

use crate::command::Command;
use std::path::Path;
use warpline_toolchain::ToolchainError;
use warpline_toolchain::linker::linker;
use warpline_toolchain::packages;
use warpline_toolchain::programs::find;

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
