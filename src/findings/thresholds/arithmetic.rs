//! Thresholds for arithmetic units.

/// Minimum ratio of single-precision to double-precision throughput of a GPU with few double-precision units. Physical:
/// the ratio is 2 or 3 on data-centre GPUs, and 32 or 64 on others.
pub const FEW_DOUBLE_UNITS: f64 = 8.0;
/// Minimum busy time of the double-precision units, as a share of the time of the kernel's slowest limit, on GPUs with
/// few of these units. Policy.
pub const LEAST_BUSY: f64 = 0.3;
/// Minimum busy share on GPUs with many of these units. Policy: only unwanted double precision that limits the kernel
/// is reported.
pub const LEAST_BUSY_OF_MANY: f64 = 0.9;
/// Minimum share of operations in library functions for these functions to be named. Policy.
pub const MOSTLY_FUNCTIONS: f64 = 0.5;
/// Maximum ratio of moved bytes of doubles to those of floats, if constants and functions cause the double precision.
/// Policy.
pub const MOST_DOUBLES_MOVED: f64 = 0.25;
