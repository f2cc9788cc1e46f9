//! `warpline query`: runs the Python package, which uses DuckDB.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::cli::Failure;
use crate::cli::args::QueryArguments;
use crate::exit_code;

/// Environment variable with the user's choice of Python.
const PYTHON_VARIABLE: &str = "WARPLINE_PYTHON";

/// Code that imports the requirements of a query and reports missing ones.
const PROBE: &str = "import warpline._query, duckdb";

pub(in crate::cli) fn execute(arguments: &QueryArguments) -> Result<u8, Failure> {
    let chosen = std::env::var_os(PYTHON_VARIABLE).filter(|name| !name.is_empty());
    let python = match chosen {
        Some(chosen) => PathBuf::from(chosen),
        None => beside().unwrap_or_else(|| PathBuf::from("python3")),
    };
    let probe = Command::new(&python).args(["-c", PROBE]).stdin(Stdio::null()).stdout(Stdio::null()).output();
    let missing = |what: &str| {
        let message = format!(
            "`warpline query` needs the Python package with DuckDB, which {} does not have ({what}): \
             pip install 'warpline[query]', or name a Python that has them in {PYTHON_VARIABLE}",
            python.display()
        );
        Failure::new(exit_code::TOOLCHAIN, message)
    };
    match probe {
        Err(error) => return Err(missing(&error.to_string())),
        Ok(done) if !done.status.success() => {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(missing(said.trim_end().lines().next_back().unwrap_or("it does not start")));
        }
        Ok(_) => {}
    }
    let all: &[OsString] = &arguments.arguments;
    let error = Command::new(&python).args(["-m", "warpline._query"]).args(all).exec();
    Err(missing(&error.to_string()))
}

/// Returns the Python of the environment in which this program is installed.
fn beside() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    // In the package itself: <environment>/lib/python3.x/site-packages/warpline/bin/warpline
    let inside = here.ancestors().nth(6).map(|environment| environment.join("bin/python3"));
    let package = here.parent()?.parent()?.join("__init__.py").is_file();
    inside.filter(|python| package && python.is_file())
}
