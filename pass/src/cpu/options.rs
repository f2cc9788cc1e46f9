//! How to lower.

use std::collections::BTreeMap;
use warpline_format::occupancy::Resources;

/// Instructions of a device function from which on LLVM takes longer for what is written out at each use than a call
/// costs where it runs. Triton's kernels for large tiles have thousands of accesses and functions of one lane in
/// straight lines.
pub const LARGE: usize = 1_500;

/// How to lower.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Host processor as clang's `-march`; `native` is the one that this runs on.
    pub processor: &'a str,
    /// Symbol of the `ModuleDescriptor`.
    pub descriptor: &'a str,
    /// Whether other objects may refer to the descriptor.
    pub visible: bool,
    /// The fat binary for GPUs, empty where there is none.
    pub fat_binary: &'a [u8],
    /// Symbol of a descriptor that is in the fat binary's place: that of the emulated GPU's code.
    pub emulated: Option<&'a str>,
    /// ptxas's figures of kernels, by mangled name; may be empty.
    pub registers: &'a BTreeMap<String, Vec<Resources>>,
    /// Lower everything in the cautious way: slow, for comparison.
    pub cautious: bool,
    /// Have one function for blocks of every shape, without those that are faster where threads lie in rows.
    pub any_shape: bool,
    /// Device functions of more instructions call what smaller ones write out at each use; [`LARGE`] but for tests.
    pub large: usize,
    /// Make kernels with hooks only, where there are hooks: half the code, for launches that always run with them.
    pub hooked_only: bool,
    /// Follow the values of operations that have numbers ([`crate::device::number_operations`]).
    pub values: bool,
    /// Code that the module carries, from which it can be lowered again with `values`; may be empty.
    pub carried: &'a [u8],
    /// Whether to run LLVM's optimiser on the result; off for reading the IR.
    pub optimize: bool,
}
