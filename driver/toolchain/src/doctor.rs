//! `warpline doctor`: reports what is installed and what is missing, how to install it, and which device runs kernels.

use crate::{ToolchainError, clang, cuda, fetch, gpu, installation, linker, packages, pins, programs};
use std::fmt;
use std::path::{Path, PathBuf};

/// The purpose of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `warpline cc` does not work without it.
    Compile,
    /// The first `warpline cc` fetches it.
    Fetched,
    /// Building Warpline itself needs it.
    Build,
    /// It is only used if it is installed.
    Optional,
}

/// The result of the search for one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The part exists in a suitable version.
    Found {
        /// The version, or "" if it has none.
        version: String,
        /// The path.
        path: PathBuf,
    },
    /// The part does not exist, or is not suitable.
    Missing {
        /// The reason, in one sentence.
        reason: String,
        /// A command or instruction for installing it.
        cure: String,
    },
}

/// One part of the toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name, such as "clang 22".
    pub part: String,
    /// The purpose of the part.
    pub need: Need,
    /// The result of the search.
    pub state: State,
}

/// Every part of the toolchain, in a fixed order. Its `Display` form is the text of `warpline doctor`.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The parts.
    pub findings: Vec<Finding>,
    /// Whether there is a GPU that NVIDIA's driver can use.
    pub gpu: bool,
}

impl Report {
    /// Returns whether CUDA programs can be compiled here.
    pub fn can_compile(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.need != Need::Compile || matches!(finding.state, State::Found { .. }))
    }
}

/// Searches for all parts.
pub fn examine() -> Report {
    let major = pins::llvm_major();
    let mut findings = Vec::new();
    let mut add = |part: &str, need, state| findings.push(Finding { part: part.to_owned(), need, state });
    let root = installation::root();
    if let Some(root) = &root {
        add("installation", Need::Compile, verified(root));
    }
    add("warpline-cc", Need::Compile, compiler_driver());
    add(&format!("clang {major}"), Need::Compile, from(clang::clang().map(|clang| (clang.version, clang.path))));
    let toolkit = cuda::find(None);
    let (ptxas, fatbinary) = match &toolkit {
        Ok(cuda) => (cuda.ptxas(), cuda.fatbinary()),
        Err(_) => (PathBuf::new(), PathBuf::new()),
    };
    let dropped = toolkit.as_ref().is_ok_and(|cuda| cuda.oldest_architecture() > 70);
    let older = toolkit.as_ref().ok().and_then(cuda::Cuda::older_ptxas).unwrap_or_default();
    let found = toolkit.is_ok();
    for skipped in cuda::skipped() {
        let instead =
            toolkit.as_ref().map(|cuda| format!("; {} is used instead", cuda.root.display())).unwrap_or_default();
        let reason = format!("{skipped}{instead}");
        let cure = format!("install the whole toolkit there, or correct or unset {}", skipped.variable);
        add(skipped.variable, Need::Optional, State::Missing { reason, cure });
    }
    let describe = |cuda: cuda::Cuda| (format!("{}.{}", cuda.version.0, cuda.version.1), cuda.root);
    match toolkit {
        Err(ToolchainError::Missing { .. }) if fetch::possible() => {
            let reason = format!("none found; the first compilation fetches NVIDIA's ({})", fetch::SIZE);
            let cure = "`warpline setup` fetches them now; or set CUDA_PATH to an installed toolkit".into();
            add("CUDA headers and libdevice", Need::Fetched, State::Missing { reason, cure });
        }
        toolkit => add("CUDA headers and libdevice", Need::Compile, from(toolkit.map(describe))),
    }
    // They are installed together with the headers.
    if found {
        let cure = "install the whole CUDA toolkit";
        add("ptxas", Need::Optional, tool(&ptxas, "registers per thread are then assumed, not measured", cure));
        if dropped {
            let without = "for GPUs of sm_70 only PTX is then made, which their driver compiles";
            let cure = "it is among the wheels that `warpline setup` fetches where no toolkit is found";
            add("ptxas for sm_70", Need::Optional, tool(&older, without, cure));
        }
        add("fatbinary", Need::Optional, tool(&fatbinary, "code for real GPUs is then not packed", cure));
    }
    add("g++", Need::Compile, from(host_compiler()));
    if uses_triton() {
        add("linker for Triton", Need::Optional, from(linker::linker().map(|path| (String::new(), path))));
    }
    if root.is_none() {
        add(&format!("LLVM {major} development files"), Need::Build, from(clang::llvm()));
    }
    let gpus = gpu::query();
    add("GPU", Need::Optional, first_gpu(&gpus));
    Report { findings, gpu: gpus.is_ok() }
}

/// Searches for g++, whose headers, libraries and linker clang uses.
pub fn host_compiler() -> Result<(String, PathBuf), ToolchainError> {
    let cxx = programs::find("g++").or_else(|| programs::find("c++"));
    let path = cxx.ok_or_else(|| ToolchainError::Missing {
        what: "g++ (its headers, libraries and linker serve clang)".into(),
        looked_at: "PATH".into(),
        cure: packages::install(&["g++"]),
    })?;
    Ok((programs::output(&path, &["-dumpfullversion"]).unwrap_or_default().trim().to_owned(), path))
}

/// Returns whether Python has Triton, whose kernels are linked to shared objects.
fn uses_triton() -> bool {
    let search = "import importlib.util, sys; sys.exit(importlib.util.find_spec('triton') is None)";
    programs::find("python3").is_some_and(|python| programs::output(&python, &["-c", search]).is_some())
}

/// Checks whether the files of the installation are unchanged since the release.
fn verified(root: &Path) -> State {
    let cure = "unpack the release archive again, or reinstall the Python package".to_owned();
    match installation::verify(root) {
        Ok(result) if result.damaged.is_empty() => {
            State::Found { version: env!("CARGO_PKG_VERSION").into(), path: root.into() }
        }
        Ok(result) => {
            let shown: Vec<&str> = result.damaged.iter().take(3).map(String::as_str).collect();
            let more = if result.damaged.len() > shown.len() { ", …" } else { "" };
            let (damaged, files) = (result.damaged.len(), result.files);
            let reason = format!("{damaged} of {files} files are absent or damaged: {}{more}", shown.join(", "));
            State::Missing { reason, cure }
        }
        Err(error) => State::Missing { reason: format!("cannot read {}: {error}", installation::MANIFEST), cure },
    }
}

fn first_gpu(gpus: &Result<Vec<gpu::Gpu>, String>) -> State {
    match gpus.as_deref() {
        Ok([first, rest @ ..]) => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            let text =
                format!("{} (compute capability {}, driver {}{more})", first.name, first.capability, first.driver);
            State::Found { version: String::new(), path: text.into() }
        }
        Ok([]) => State::Missing { reason: "none".into(), cure: GPU_CURE.into() },
        Err(reason) => State::Missing { reason: reason.clone(), cure: GPU_CURE.into() },
    }
}

/// Instructions for making a GPU available.
const GPU_CURE: &str = "install NVIDIA's driver; in a container, start it with --gpus all";

fn from(found: Result<(String, PathBuf), ToolchainError>) -> State {
    match found {
        Ok((version, path)) => State::Found { version, path },
        Err(ToolchainError::Missing { what, looked_at, cure }) => {
            State::Missing { reason: format!("{what} not found (searched: {looked_at})"), cure }
        }
        Err(ToolchainError::WrongVersion { path, found, wanted, cure, .. }) => {
            State::Missing { reason: format!("{} is version {found}, needed is {wanted}", path.display()), cure }
        }
        Err(error) => State::Missing { reason: error.to_string(), cure: "see above".into() },
    }
}

fn compiler_driver() -> State {
    from(programs::companion("warpline-cc").map(|path| (env!("CARGO_PKG_VERSION").into(), path)).ok_or_else(|| {
        ToolchainError::Missing {
            what: "warpline-cc".into(),
            looked_at: "the folder of this program, PATH".into(),
            cure: "build it with `cargo build --release`, or install both programs with `make install`".into(),
        }
    }))
}

/// Returns the state of a program of the toolkit: `without` is what is not possible without it, and `cure` how to
/// install it.
fn tool(path: &Path, without: &str, cure: &str) -> State {
    match programs::output(path, &["--version"]) {
        Some(text) => State::Found {
            version: programs::version_after(&text, ", V").unwrap_or_default().into(),
            path: path.to_path_buf(),
        },
        None => State::Missing { reason: format!("not found; {without}"), cure: cure.to_owned() },
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|finding| finding.part.len()).max().unwrap_or(0);
        for Finding { part, need, state } in &self.findings {
            match state {
                State::Found { version, path } => {
                    writeln!(formatter, "ok       {part:width$}  {version:8}  {}", path.display())?;
                }
                State::Missing { reason, cure } => {
                    let mark = match need {
                        Need::Compile => "missing ",
                        Need::Fetched => "to fetch",
                        Need::Build => "no build",
                        Need::Optional => "without ",
                    };
                    writeln!(formatter, "{mark} {part:width$}  {reason}")?;
                    writeln!(formatter, "         {:width$}  to get it: {cure}", "")?;
                }
            }
        }
        let verdict = match self.can_compile() {
            true => "CUDA programs can be compiled and profiled here.",
            false => "CUDA programs cannot be compiled here until what is missing is installed. Reports still work.",
        };
        let device = match self.gpu {
            true => "Kernels run on the CPU device unless --device gpu is given; a GPU is available for that.",
            false => "Kernels run on the CPU device, which needs no GPU; --device gpu is not available here.",
        };
        writeln!(formatter, "\n{verdict}\n{device}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_of(need: Need, state: State) -> Report {
        Report { findings: vec![Finding { part: "x".into(), need, state }], gpu: false }
    }

    #[test]
    fn the_device_and_its_reason_are_stated() {
        let gpu = gpu::Gpu { name: "NVIDIA T4".into(), driver: "550.1".into(), capability: "7.5".into() };
        let report = Report { gpu: true, ..report_of(Need::Optional, first_gpu(&Ok(vec![gpu.clone(), gpu]))) };
        let text = report.to_string();
        assert!(text.contains("NVIDIA T4 (compute capability 7.5, driver 550.1, and 1 more)"), "{text}");
        assert!(text.contains("unless --device gpu is given"), "{text}");
        let text = report_of(Need::Optional, first_gpu(&Err("none loaded".into()))).to_string();
        assert!(text.contains("without  x  none loaded") && text.contains("needs no GPU"), "{text}");
    }

    #[test]
    fn a_missing_part_names_its_cure() {
        let missing = State::Missing { reason: "gone".into(), cure: "apt-get install x".into() };
        let report = report_of(Need::Compile, missing.clone());
        assert!(!report.can_compile());
        let text = report.to_string();
        assert!(text.contains("missing  x  gone") && text.contains("apt-get install x"), "{text}");
        assert!(
            report_of(Need::Optional, missing.clone()).can_compile() && report_of(Need::Fetched, missing).can_compile()
        );
    }
}
