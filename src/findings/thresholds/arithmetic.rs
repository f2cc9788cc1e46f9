//! Arithmetic units.

/// Single-precision results per double-precision one from which on a GPU has few double-precision units. Physical: 2 or 3 on
/// data-centre GPUs, 32 or 64 on others.
pub const FEW_DOUBLE_UNITS: f64 = 8.0;
/// Least share of the time of the kernel's slowest part that these units are busy, where they are few. Policy.
pub const LEAST_BUSY: f64 = 0.3;
/// The same where they are many: only unwanted double precision that limits the kernel is reported. Policy.
pub const LEAST_BUSY_OF_MANY: f64 = 0.9;
/// Least share of the operations that library functions make for these to be named. Policy.
pub const MOSTLY_FUNCTIONS: f64 = 0.5;
/// Bytes of doubles that a kernel moves against those of floats, at most, where doubles come from constants and functions. Policy.
pub const MOST_DOUBLES_MOVED: f64 = 0.25;
