//! `warpline doctor`: what is installed, what is missing, how to get it.

use crate::{ToolchainError, clang, cuda, pins, programs};
use std::fmt;
use std::path::{Path, PathBuf};

/// What a part is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// `warpline cc` does not work without it.
    Compile,
    /// Building Warpline itself needs it.
    Build,
    /// Only used when it is there.
    Optional,
}

/// What was found of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There, in a version that fits.
    Found {
        /// Version, or "" where there is none to tell.
        version: String,
        /// Place.
        path: PathBuf,
    },
    /// Not there or not fit.
    Missing {
        /// Why, in one sentence.
        reason: String,
        /// Command or instruction that gets it.
        cure: String,
    },
}

/// One part of the toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name, as "clang 22".
    pub part: String,
    /// What it is needed for.
    pub need: Need,
    /// What was found.
    pub state: State,
}

/// Everything that was looked for, in a fixed order. Its `Display` form is the text of `warpline doctor`.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The parts.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether CUDA programs can be compiled here.
    pub fn can_compile(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.need != Need::Compile || matches!(finding.state, State::Found { .. }))
    }
}

/// Looks for everything.
pub fn examine() -> Report {
    let major = pins::llvm_major();
    let mut findings = Vec::new();
    let mut add = |part: String, need, state| findings.push(Finding { part, need, state });
    add("warpline-cc".into(), Need::Compile, compiler_driver());
    add(format!("clang {major}"), Need::Compile, from(clang::clang().map(|clang| (clang.version, clang.path))));
    let toolkit = cuda::find(None);
    let (ptxas, fatbinary) = match &toolkit {
        Ok(cuda) => (cuda.ptxas(), cuda.fatbinary()),
        Err(_) => (PathBuf::new(), PathBuf::new()),
    };
    let dropped = toolkit.as_ref().is_ok_and(|cuda| cuda.oldest_architecture() > 70);
    let older = toolkit.as_ref().ok().and_then(cuda::Cuda::older_ptxas).unwrap_or_default();
    let describe = |cuda: cuda::Cuda| (format!("{}.{}", cuda.version.0, cuda.version.1), cuda.root);
    add("CUDA headers and libdevice".into(), Need::Compile, from(toolkit.map(describe)));
    add("ptxas".into(), Need::Optional, tool(&ptxas, ", V", "registers per thread are then assumed, not measured"));
    if dropped {
        let without = "for GPUs of sm_70 only PTX is then made, which their driver compiles";
        add("ptxas for sm_70".into(), Need::Optional, tool(&older, ", V", without));
    }
    add("fatbinary".into(), Need::Optional, tool(&fatbinary, ", V", "code for real GPUs is then not packed"));
    let cxx = programs::find("g++").or_else(|| programs::find("c++"));
    let cxx = cxx.ok_or_else(|| ToolchainError::Missing {
        what: "g++ (its headers, libraries and linker serve clang)".into(),
        looked_at: "PATH".into(),
        cure: "apt-get install g++".into(),
    });
    let version = |path: &PathBuf| programs::output(path, &["-dumpfullversion"]).unwrap_or_default().trim().to_string();
    add("g++".into(), Need::Compile, from(cxx.map(|path| (version(&path), path))));
    add(format!("LLVM {major} development files"), Need::Build, from(clang::llvm()));
    Report { findings }
}

fn from(found: Result<(String, PathBuf), ToolchainError>) -> State {
    match found {
        Ok((version, path)) => State::Found { version, path },
        Err(ToolchainError::Missing { what, looked_at, cure }) => {
            State::Missing { reason: format!("{what} not found (looked at {looked_at})"), cure }
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

fn tool(path: &Path, marker: &str, without: &str) -> State {
    match programs::output(path, &["--version"]) {
        Some(text) => State::Found {
            version: programs::version_after(&text, marker).unwrap_or_default().into(),
            path: path.to_path_buf(),
        },
        None => State::Missing { reason: format!("not found; {without}"), cure: cuda::cure() },
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
                        Need::Build => "no build",
                        Need::Optional => "without ",
                    };
                    writeln!(formatter, "{mark} {part:width$}  {reason}")?;
                    writeln!(formatter, "         {:width$}  to get it: {cure}", "")?;
                }
            }
        }
        let verdict = match self.can_compile() {
            true => "CUDA programs can be compiled and profiled here, on the CPU device.",
            false => "CUDA programs cannot be compiled here until what is missing is installed. Reports still work.",
        };
        writeln!(formatter, "\n{verdict}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_names_its_cure() {
        let missing = State::Missing { reason: "gone".into(), cure: "apt-get install x".into() };
        let report =
            Report { findings: vec![Finding { part: "x".into(), need: Need::Compile, state: missing.clone() }] };
        assert!(!report.can_compile());
        let text = report.to_string();
        assert!(text.contains("missing  x  gone") && text.contains("apt-get install x"), "{text}");
        let optional = Report { findings: vec![Finding { part: "x".into(), need: Need::Optional, state: missing }] };
        assert!(optional.can_compile());
    }
}
