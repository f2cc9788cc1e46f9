//! The options of lowering.

use super::generated::Generated;
use std::collections::BTreeMap;
use warpline_format::occupancy::Resources;

/// The number of instructions of a device function from which on inlined sequences cost more compile time in LLVM than
/// a call costs at run time. Triton's kernels for large tiles contain thousands of accesses and functions of one lane
/// in straight-line code.
pub const LARGE: usize = 1_500;

/// The number of instructions of a part of a lowered module before LLVM's optimiser. Optimising and generating them
/// takes about half a second, a hundred times the fixed cost of a part. A smaller module is generated as a whole.
pub(crate) const PART: usize = 5_000;

/// The number of other instructions in a loop, per gather, up to which threads run one after the other. With AVX2, loops
/// with 3 to 9 are two to four times as fast then, and loops with 14 and more are slower, because a warp function
/// computes 8 lanes at a time (`docs/benchmarks/2026-11-30-native.md`).
pub const SERIAL: usize = 10;

/// The options of lowering.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The host processor in the form of clang's `-march`; `native` is the processor on which this program runs.
    pub processor: &'a str,
    /// The symbol of the `ModuleDescriptor`.
    pub descriptor: &'a str,
    /// Whether other objects may refer to the descriptor.
    pub visible: bool,
    /// The fat binary for GPUs; empty if there is none.
    pub fat_binary: &'a [u8],
    /// The symbol of the descriptor that replaces the fat binary, which is that of the emulated GPU's code.
    pub emulated: Option<&'a str>,
    /// ptxas's figures for kernels, by mangled name; may be empty.
    pub registers: &'a BTreeMap<String, Vec<Resources>>,
    /// Whether everything is lowered in the cautious way, which is slow and is used for comparisons.
    pub cautious: bool,
    /// Whether there is only one function for blocks of every shape, without the faster versions for threads in rows.
    pub any_shape: bool,
    /// The number of instructions from which on device functions call sequences that smaller functions inline;
    /// [`LARGE`] except in tests.
    pub large: usize,
    /// The number of other instructions per gather up to which threads run one after the other; [`SERIAL`] except in tests.
    /// With `usize::MAX`, all threads do that can.
    pub serial: usize,
    /// The warp functions that are generated.
    pub generated: Generated<'a>,
    /// Whether the values of operations that have numbers are tracked ([`crate::device::number_operations`]).
    pub values: bool,
    /// The code that the module contains for lowering it again; may be empty.
    pub carried: &'a [u8],
    /// Whether LLVM's optimiser runs on the result; it is off for reading the IR.
    pub optimize: bool,
}
