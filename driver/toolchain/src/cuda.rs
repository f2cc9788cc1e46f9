//! The parts of the CUDA toolkit: headers, libdevice, ptxas, fatbinary. An installed toolkit takes precedence over the
//! pinned wheels in the cache.

use crate::programs::is_executable;
use crate::{ToolchainError, cache, fetch, pins};
use std::fmt;
use std::path::{Path, PathBuf};

/// A file in the substitute toolkit that `warpline-cc` creates; it contains the path of the real toolkit.
pub const SHIM_MARKER: &str = "warpline-toolkit";

/// The source of the parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `CUDA_PATH` or `CUDA_HOME`.
    Variable(&'static str),
    /// A folder in which toolkits are usually installed.
    Installed,
    /// The pinned wheels in the cache.
    Wheels,
}

/// A folder with all parts that a compilation needs.
#[derive(Clone, Debug)]
pub struct Cuda {
    /// The value of clang's `--cuda-path`.
    pub root: PathBuf,
    /// The source of the folder.
    pub origin: Origin,
    /// The major and minor version from `cuda.h`.
    pub version: (u32, u32),
    /// The folders that variables name and that are not used.
    pub skipped: Vec<Skipped>,
}

/// A folder that is named by a variable and lacks a part, so that another one is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// `CUDA_PATH` or `CUDA_HOME`.
    pub variable: &'static str,
    /// The folder.
    pub root: PathBuf,
    /// The first missing file, relative to the folder.
    pub file: &'static str,
}

impl fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} names {}, which ", self.variable, self.root.display())?;
        match self.root.is_dir() {
            true => write!(formatter, "has no {}", self.file),
            false => write!(formatter, "is not a folder"),
        }
    }
}

impl Cuda {
    /// Returns the folder of the headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// Returns the folder of the CCCL headers, if they have a separate folder (since CUDA 13.0).
    pub fn cccl_include(&self) -> Option<PathBuf> {
        Some(self.include().join("cccl")).filter(|path| path.is_dir())
    }

    /// Returns NVIDIA's assembler.
    pub fn ptxas(&self) -> PathBuf {
        self.root.join("bin/ptxas")
    }

    /// Returns the assembler of CUDA 12 among the wheels, for architectures that CUDA 13 dropped (`sm_70`, `sm_72`).
    pub fn older_ptxas(&self) -> Option<PathBuf> {
        let path = cache::folder().ok()?.join(pins::CUDA_WHEEL_FOLDER).join("nvidia/cuda_nvcc/bin/ptxas");
        Some(path).filter(|path| is_executable(path))
    }

    /// Returns NVIDIA's program that packs GPU binaries.
    pub fn fatbinary(&self) -> PathBuf {
        self.root.join("bin/fatbinary")
    }

    /// Returns the bitcode of the device's math library.
    pub fn libdevice(&self) -> PathBuf {
        self.root.join("nvvm/libdevice/libdevice.10.bc")
    }

    /// Returns the oldest architecture that the headers accept: CUDA 13 removed everything before `sm_75`, CUDA 12
    /// everything before `sm_50` (release notes, "Deprecated and dropped features").
    pub fn oldest_architecture(&self) -> u32 {
        match self.version.0 {
            13.. => 75,
            12 => 50,
            11 => 35,
            _ => 30,
        }
    }
}

/// The files that a toolkit folder must contain, relative to it.
const NEEDED: [&str; 3] =
    ["include/cuda_runtime.h", "include/curand_mtgp32_kernel.h", "nvvm/libdevice/libdevice.10.bc"];

/// Returns the first required file that a folder does not contain.
pub fn lacks(root: &Path) -> Option<&'static str> {
    let file = NEEDED.into_iter().find(|file| !root.join(file).is_file());
    file.or_else(|| (!is_executable(&root.join("bin/ptxas"))).then_some("bin/ptxas"))
}

/// Returns the folder of the unpacked wheels.
pub fn wheel_root() -> Result<PathBuf, ToolchainError> {
    Ok(cache::folder()?.join(pins::CUDA_WHEEL_FOLDER).join("nvidia/cu13"))
}

/// The variables that name a toolkit, in their order.
const VARIABLES: [&str; 2] = ["CUDA_PATH", "CUDA_HOME"];

/// Finds the parts: the folder given by the user (`--cuda-path`), `CUDA_PATH`, `CUDA_HOME`, `/usr/local/cuda*`, the
/// wheels. If the folder of `--cuda-path` does not contain a part, this is an error; other folders are skipped.
pub fn find(named: Option<&Path>) -> Result<Cuda, ToolchainError> {
    if let Some(cuda) = search(named)? {
        return Ok(cuda);
    }
    Err(ToolchainError::Missing {
        what: "the CUDA toolkit parts (headers, libdevice, ptxas)".into(),
        looked_at: searched()?,
        cure: fetch::cure(),
    })
}

/// The variant of [`find`] that returns `None` if no folder contains the parts.
pub(crate) fn search(named: Option<&Path>) -> Result<Option<Cuda>, ToolchainError> {
    if let Some(root) = named {
        return match lacks(root) {
            Some(file) => Err(incomplete(root, file)),
            None => Ok(Some(describe(root.into(), Origin::Installed))),
        };
    }
    let complete = |root: &PathBuf| lacks(root).is_none();
    let named = set_variables().find(|(_, root)| complete(root));
    let found = named.map(|(variable, root)| describe(root, Origin::Variable(variable)));
    let found = found.or_else(|| installed().into_iter().find(complete).map(|root| describe(root, Origin::Installed)));
    let found = match found {
        Some(cuda) => Some(cuda),
        None => Some(wheel_root()?).filter(complete).map(|root| describe(root, Origin::Wheels)),
    };
    Ok(found.map(|cuda| Cuda { skipped: skipped(), ..cuda }))
}

/// Returns the folders that variables name, up to the first complete one.
pub(crate) fn skipped() -> Vec<Skipped> {
    let incomplete = |(variable, root): (_, PathBuf)| lacks(&root).map(|file| Skipped { variable, root, file });
    set_variables().map_while(incomplete).collect()
}

/// Returns the variables that name a folder, with the folders.
fn set_variables() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let value = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    VARIABLES.into_iter().filter_map(move |variable| Some((variable, value(variable)?)))
}

/// Returns the searched folders for messages; existing folders with the first file that each one lacks.
pub(crate) fn searched() -> Result<String, ToolchainError> {
    let lacking = |root: &Path| lacks(root).map(|file| format!("{} has no {file}", root.display()));
    let variables = VARIABLES.map(|variable| match set_variables().find(|(name, _)| *name == variable) {
        Some((_, root)) => format!("{variable}: {}", lacking(&root).unwrap_or_default()),
        None => format!("{variable}: not set"),
    });
    let existing: Vec<String> =
        installed().iter().filter(|root| root.is_dir()).filter_map(|root| lacking(root)).collect();
    let installed = match existing.is_empty() {
        true => "/usr/local/cuda*".to_owned(),
        false => existing.join(", "),
    };
    Ok(format!("{}; {installed}; {}", variables.join("; "), wheel_root()?.display()))
}

fn incomplete(root: &Path, file: &str) -> ToolchainError {
    ToolchainError::Broken {
        path: root.into(),
        cause: format!("--cuda-path names it, and it has no {file}"),
        cure: format!("To get the CUDA toolkit parts: {}", fetch::cure()),
    }
}

/// Returns `/usr/local/cuda`, then `/usr/local/cuda-X.Y` from the newest to the oldest.
fn installed() -> Vec<PathBuf> {
    let version = |path: &PathBuf| -> Vec<u32> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.trim_start_matches("cuda-").split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let entries = std::fs::read_dir("/usr/local").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("cuda-")))
        .collect();
    folders.sort_by_key(|path| std::cmp::Reverse(version(path)));
    folders.insert(0, "/usr/local/cuda".into());
    folders
}

fn describe(root: PathBuf, origin: Origin) -> Cuda {
    // If the user named the substitute toolkit, the real toolkit is used.
    let behind = std::fs::read_to_string(root.join(SHIM_MARKER)).map(|path| PathBuf::from(path.trim_end()));
    let root = behind.ok().filter(|path| lacks(path).is_none()).unwrap_or(root);
    let header = std::fs::read_to_string(root.join("include/cuda.h")).unwrap_or_default();
    let version = parse_version(&header).unwrap_or((0, 0));
    Cuda { root, origin, version, skipped: Vec::new() }
}

/// Reads the version: `#define CUDA_VERSION 13000` means 13.0.
fn parse_version(header: &str) -> Option<(u32, u32)> {
    let line = header.lines().find_map(|line| line.trim().strip_prefix("#define CUDA_VERSION"))?;
    let number: u32 = line.trim().parse().ok()?;
    Some((number / 1000, number % 1000 / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_comes_from_the_header() {
        assert_eq!(parse_version("x\n#define CUDA_VERSION 12040\n"), Some((12, 4)));
        assert_eq!(parse_version("nothing"), None);
    }

    #[test]
    fn an_empty_folder_is_no_toolkit() {
        assert_eq!(lacks(Path::new("/")), Some("include/cuda_runtime.h"));
        let error = find(Some(Path::new("/"))).unwrap_err().to_string();
        assert!(error.contains("include/cuda_runtime.h") && error.contains("warpline setup"), "{error}");
    }
}
