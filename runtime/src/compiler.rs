//! Runs `warpline-cc` to compile code that arrives while the program runs, and defines where its results are stored.

use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub use warpline_format::run_time::COMPILER_VARIABLE as VARIABLE;

/// The reason why no results can be stored.
pub const NO_FOLDER: &str = "neither XDG_CACHE_HOME nor HOME is set, so there is no folder for its result";

/// The path or name of the compiler's executable.
pub struct Compiler(OsString);

impl Compiler {
    /// Returns the compiler that [`VARIABLE`] names, or the one on the search path.
    pub fn find() -> Compiler {
        Compiler(std::env::var_os(VARIABLE).unwrap_or_else(|| "warpline-cc".into()))
    }

    /// Returns a command without arguments and without standard input.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.stdin(Stdio::null());
        command
    }

    /// Returns the message for a compiler that cannot be started.
    pub fn not_started(&self, cause: &std::io::Error) -> String {
        let program = self.0.to_string_lossy();
        format!("{program} cannot be started ({cause}); set {VARIABLE} to its path")
    }
}

impl Hash for Compiler {
    /// The hash includes the build, because another build of the same release may produce different results.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (env!("CARGO_PKG_VERSION"), warpline_format::abi::ABI_VERSION, &self.0).hash(state);
        if let Ok(data) = PathBuf::from(&self.0).metadata() {
            (data.len(), data.modified().ok()).hash(state);
        }
    }
}

/// Returns a folder next to the folders in which `warpline-cc` keeps its files.
pub fn folder(name: &str) -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(".cache")));
    base.map(|base| base.join("warpline").join(name))
}
