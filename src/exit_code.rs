//! Exit codes of `warpline`. `warpline cc` returns the compiler's own exit code, and `warpline run` the program's own
//! (128 + n for a signal) or one of the `RUN_` codes below.

/// Success. An incomplete profile is reported with a note.
pub const OK: u8 = 0;
/// An unexpected error: a bug, or an error of the system.
pub const UNEXPECTED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// A file is unreadable, damaged or of another version.
pub const UNREADABLE: u8 = 3;
/// Nothing matched the filters; for `profile`, also no allocation matched a name.
pub const NOTHING_MATCHED: u8 = 4;
/// A threshold was breached.
pub const THRESHOLD: u8 = 5;
/// A tool is missing or has the wrong version.
pub const TOOLCHAIN: u8 = 6;
/// The intact part of a damaged file was shown.
pub const PARTIAL: u8 = 7;

/// `run`: the program could not be profiled, or not as requested.
pub const RUN_NOT_PROFILED: u8 = 125;
/// `run`: the program cannot be executed.
pub const RUN_NOT_EXECUTABLE: u8 = 126;
/// `run`: the program does not exist.
pub const RUN_NOT_FOUND: u8 = 127;
/// `run`: added to the number of the signal that ended the program.
pub const RUN_SIGNAL: u8 = 128;
