//! Compilation while a program runs: the runtime's options for `warpline-cc`, and the files next to the shared
//! object. The names end in these in the place of `so`.

/// The option of `warpline-cc` that compiles a CUDA source for a program that loads the result.
pub const OPTION: &str = "--warpline-source";

/// Option with the number of name expressions, whose mangled names are requested.
pub const NAMES_OPTION: &str = "--warpline-names";

/// Beginning of the device variables in the source, numbered from 0, that hold the addresses of what the name
/// expressions mean.
pub const NAME_VARIABLE: &str = "warpline_name_expression_";

/// Environment variable that names `warpline-cc` to the runtime.
pub const COMPILER_VARIABLE: &str = "WARPLINE_CC";

/// PTX.
pub const PTX: &str = "ptx";

/// The mangled names of the name expressions, a line each.
pub const NAMES: &str = "names";

/// What the source includes, as make reads it.
pub const DEPENDENCIES: &str = "d";

/// Exit code of `warpline-cc` for a command line that it cannot serve.
pub const EXIT_USAGE: u8 = 2;
