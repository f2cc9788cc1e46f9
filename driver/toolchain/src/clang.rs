//! The clang that compiles, and LLVM's own files.

use crate::programs::{find, is_executable, output, version_after};
use crate::{ToolchainError, installation, packages, pins};
use std::path::PathBuf;

/// Names the clang to use; it takes precedence over `PATH`.
pub const VARIABLE: &str = "WARPLINE_CLANG";

/// A clang of the required major version.
#[derive(Clone, Debug)]
pub struct Clang {
    /// The path of the program.
    pub path: PathBuf,
    /// The full version, such as "22.1.8".
    pub version: String,
}

impl Clang {
    /// Returns the same compiler as C++ driver and linker, if it has a separate name: `clang++-22` for `clang-22`.
    pub fn cxx(&self) -> Option<PathBuf> {
        let name = self.path.file_name()?.to_str()?;
        let path = self.path.with_file_name(name.replacen("clang", "clang++", 1));
        (!name.contains("++") && is_executable(&path)).then_some(path)
    }
}

/// Names the `llvm-config` of the LLVM to use, if LLVM is in an unusual folder.
pub const CONFIG_VARIABLE: &str = "LLVM_CONFIG";

/// Folders with a `bin` of LLVM that distributions use; `@` is the major version.
const FOLDERS: [&str; 4] = ["/usr/lib/llvm-@", "/usr/lib64/llvm@", "/usr/lib/llvm@", "/opt/llvm-@"];

/// Returns instructions for installing LLVM and clang.
pub fn cure() -> String {
    let major = pins::llvm_major();
    format!("{}, or name a clang {major} in {VARIABLE}", packages::install(&["clang", "llvm"]))
}

/// Returns the possible paths of an LLVM program: on `PATH` with and without the version, next to `LLVM_CONFIG`, in the
/// folders of distributions.
fn candidates(name: &str) -> Vec<String> {
    let major = pins::llvm_major().to_string();
    let beside = std::env::var_os(CONFIG_VARIABLE).map(PathBuf::from);
    let beside = beside.and_then(|config| Some(config.parent()?.join(name).display().to_string()));
    let folders = FOLDERS.iter().map(|folder| format!("{}/bin/{name}", folder.replace('@', &major)));
    let on_path = [format!("{name}-{major}"), name.to_owned()];
    beside.into_iter().chain(on_path).chain(folders).collect()
}

/// Finds clang: `WARPLINE_CLANG`, the clang of this installation, one next to `LLVM_CONFIG`, `clang-<major>`, `clang`,
/// the folders of distributions. A clang of another major version is skipped, unless the user named it, which is an
/// error.
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
    if let Some(path) = installation::program(&format!("clang-{major}")) {
        return check(path, major);
    }
    let mut other = None;
    for name in candidates("clang") {
        match find(&name).map(|path| check(path, major)) {
            Some(Ok(clang)) => return Ok(clang),
            Some(Err(error)) => other = other.or(Some(error)),
            None => {}
        }
    }
    Err(other.unwrap_or_else(|| ToolchainError::Missing {
        what: format!("clang {major}"),
        looked_at: format!(
            "{VARIABLE}, {CONFIG_VARIABLE}, clang-{major} and clang on PATH, {}",
            FOLDERS[0].replace('@', &major.to_string())
        ),
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

/// Returns the version and the library folder of the LLVM that building from source needs, from `llvm-config`.
pub fn llvm() -> Result<(String, PathBuf), ToolchainError> {
    let major = pins::llvm_major();
    let missing = || ToolchainError::Missing {
        what: format!("LLVM {major} (llvm-config-{major})"),
        looked_at: format!("{CONFIG_VARIABLE}, PATH, {}", FOLDERS[0].replace('@', &major.to_string())),
        cure: cure(),
    };
    let version_of = |path: &PathBuf| output(path, &["--version"]).map(|text| text.trim().to_owned());
    let fits = |version: &String| version.split('.').next() == Some(major.to_string().as_str());
    let (path, version) = candidates("llvm-config")
        .iter()
        .filter_map(|name| find(name))
        .find_map(|path| Some((version_of(&path).filter(fits)?, path)).map(|(version, path)| (path, version)))
        .ok_or_else(missing)?;
    let folder = output(&path, &["--libdir"]).ok_or_else(missing)?;
    Ok((version, PathBuf::from(folder.trim())))
}
