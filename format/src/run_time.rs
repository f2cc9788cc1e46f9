//! Compilation at run time: the runtime's options for `warpline-cc`, and the files next to the shared object. Their
//! names have these extensions instead of `so`.

/// Option of `warpline-cc` that compiles a CUDA source for a program that loads the result.
pub const OPTION: &str = "--warpline-source";

/// Option with the number of name expressions whose mangled names are requested.
pub const NAMES_OPTION: &str = "--warpline-names";

/// Prefix of device variables in the source, numbered from 0, that contain the addresses of the name expressions'
/// targets.
pub const NAME_VARIABLE: &str = "warpline_name_expression_";

/// Environment variable with the path of `warpline-cc` for the runtime.
pub const COMPILER_VARIABLE: &str = "WARPLINE_CC";

/// Extension of PTX.
pub const PTX: &str = "ptx";

/// Extension of the file with the mangled names of the name expressions, one per line.
pub const NAMES: &str = "names";

/// Extension of the file with the included files, in make's format.
pub const DEPENDENCIES: &str = "d";

/// Exit code of `warpline-cc` for an unsupported command line.
pub const EXIT_USAGE: u8 = 2;
