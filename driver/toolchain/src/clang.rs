//! The clang that compiles, and LLVM's own files.

use crate::programs::{find, is_executable, output, version_after};
use crate::{ToolchainError, pins};
use std::path::PathBuf;

/// Names the clang to use, before anything on `PATH`.
pub const VARIABLE: &str = "WARPLINE_CLANG";

/// A clang of the right major version.
#[derive(Clone, Debug)]
pub struct Clang {
    /// The program.
    pub path: PathBuf,
    /// Full version, as "22.1.8".
    pub version: String,
}

impl Clang {
    /// The same compiler as C++ driver and linker, where it has a name of its own: `clang++-22` beside `clang-22`.
    pub fn cxx(&self) -> Option<PathBuf> {
        let name = self.path.file_name()?.to_str()?;
        let path = self.path.with_file_name(name.replacen("clang", "clang++", 1));
        (!name.contains("++") && is_executable(&path)).then_some(path)
    }
}

/// How to get LLVM and clang.
pub fn cure() -> String {
    let major = pins::llvm_major();
    format!(
        "apt-get install clang-{major} llvm-{major}-dev (Debian 12: from the security updates, suite \
         bookworm-security), or name a clang {major} in {VARIABLE}"
    )
}

/// Finds clang: `WARPLINE_CLANG`, `clang-<major>`, `clang`. A clang of another major version is passed over, but for
/// one that the user named: that is an error.
pub fn clang() -> Result<Clang, ToolchainError> {
    let major = pins::llvm_major();
    if let Some(named) = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty()) {
        let path = find(&named).ok_or_else(|| ToolchainError::Missing {
            what: format!("{VARIABLE}={named}"),
            looked_at: "the path given and PATH".into(),
            cure: format!("correct {VARIABLE}, or unset it to use clang-{major}"),
        })?;
        return check(path, major);
    }
    let mut other = None;
    for name in [format!("clang-{major}"), "clang".into(), format!("/usr/lib/llvm-{major}/bin/clang")] {
        match find(&name).map(|path| check(path, major)) {
            Some(Ok(clang)) => return Ok(clang),
            Some(Err(error)) => other = other.or(Some(error)),
            None => {}
        }
    }
    Err(other.unwrap_or_else(|| ToolchainError::Missing {
        what: format!("clang {major}"),
        looked_at: format!("{VARIABLE}, and clang-{major} and clang on PATH"),
        cure: cure(),
    }))
}

fn check(path: PathBuf, major: u32) -> Result<Clang, ToolchainError> {
    let text = output(&path, &["--version"]).unwrap_or_default();
    let Some(version) = version_after(&text, "clang version") else {
        return Err(ToolchainError::Broken {
            path,
            cause: "`--version` names no clang version".into(),
            cure: format!("To get a clang: {}", cure()),
        });
    };
    if version.split('.').next() != Some(major.to_string().as_str()) {
        let (found, wanted) = (version.to_string(), format!("version {major}"));
        return Err(ToolchainError::WrongVersion { what: "clang".into(), path, found, wanted, cure: cure() });
    }
    Ok(Clang { version: version.into(), path })
}

/// Version and library folder of the LLVM that building from source needs, by `llvm-config`.
pub fn llvm() -> Result<(String, PathBuf), ToolchainError> {
    let major = pins::llvm_major();
    let missing = || ToolchainError::Missing {
        what: format!("LLVM {major} (llvm-config-{major})"),
        looked_at: "PATH".into(),
        cure: cure(),
    };
    let path = find(&format!("llvm-config-{major}"))
        .or_else(|| find(&format!("/usr/lib/llvm-{major}/bin/llvm-config")))
        .ok_or_else(missing)?;
    let version = output(&path, &["--version"]).ok_or_else(missing)?;
    let folder = output(&path, &["--libdir"]).ok_or_else(missing)?;
    Ok((version.trim().into(), PathBuf::from(folder.trim())))
}
