//! Arguments of commands that compile.

use std::ffi::OsString;

use clap::Args;

/// Arguments of `cc`.
#[derive(Debug, Args)]
pub struct CcArguments {
    /// Options and source files, passed to the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMPILER OPTIONS AND FILES")]
    pub arguments: Vec<OsString>,
}

/// Arguments of `profile`.
#[derive(Debug, Args)]
pub struct ProfileArguments {
    /// Sources, compiler options and options of `run`, then `--` and the program's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SOURCES AND OPTIONS")]
    pub arguments: Vec<OsString>,
}
