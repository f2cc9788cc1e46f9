//! The description of a memory access.

use crate::llvm::Value;
use crate::llvm::value::IntPredicate;
use crate::matrix::{FragmentAccess, Rows};
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

/// An address: a pointer, or an integer in inline assembly, plus a constant.
#[derive(Clone, Copy)]
pub(in crate::device) struct Address<'c> {
    pub(in crate::device) value: Value<'c>,
    pub(in crate::device) offset: u64,
    pub(in crate::device) lanewise: Lanewise<'c>,
}

/// How the address of each lane results from the address of the instruction.
#[derive(Clone, Copy)]
pub(in crate::device) enum Lanewise<'c> {
    /// The address is that of the lane.
    Own,
    /// An access of a fragment. The distance between its rows is `stride` or, without it, `dense`, in elements with
    /// this number of bits.
    Fragment { access: FragmentAccess, stride: Option<Value<'c>>, dense: u32, bits: u32 },
    /// A part of one of the rows of up to four blocks of a fragment; each block is given by its first row and column.
    Blocks { blocks: [(u32, u32); 4], count: u32, stride: Option<Value<'c>>, dense: u32, bits: u32 },
    /// A part of one of the rows whose addresses are those of all lanes.
    Rows(Rows),
}

impl<'c> Address<'c> {
    /// Creates the address for a value without an offset.
    pub(in crate::device) fn from_value(value: Value<'c>) -> Self {
        Address { value, offset: 0, lanewise: Lanewise::Own }
    }
}

/// One access of an instruction.
#[derive(Clone, Copy)]
pub(in crate::device) struct Access<'c> {
    pub(in crate::device) address: Address<'c>,
    pub(in crate::device) op: Op,
    pub(in crate::device) space: Space,
    pub(in crate::device) bytes: u32,
    pub(in crate::device) align: u32,
    pub(in crate::device) byte_mask: Option<u64>,
    pub(in crate::device) cache: CacheOp,
    pub(in crate::device) guard: Option<Guard<'c>>,
}

/// A comparison that is true in the lanes that make the access.
#[derive(Clone, Copy)]
pub(in crate::device) struct Guard<'c> {
    pub(in crate::device) predicate: IntPredicate,
    pub(in crate::device) left: Value<'c>,
    pub(in crate::device) right: Value<'c>,
}

/// The effect of an instruction on memory.
pub(in crate::device) enum Seen<'c> {
    /// An access with an address that a hook can receive.
    Access(Access<'c>),
    /// A texture fetch or surface access. The address depends on the object, and only the texture unit of the CPU
    /// device can compute it. There is one site for each possible size of the texel.
    Texture { op: Op, cache: CacheOp, sizes: Vec<u32>, what: String },
    /// An access that no hook can record.
    Not(String),
}

impl<'c> Access<'c> {
    /// Creates an access with the natural alignment of its size, as PTX requires.
    pub(in crate::device) fn plain(address: Address<'c>, op: Op, space: Space, bytes: u32, cache: CacheOp) -> Self {
        Access { address, op, space, bytes, align: natural(bytes), byte_mask: None, cache, guard: None }
    }
}

/// Returns the largest power of two that divides a size.
fn natural(bytes: u32) -> u32 {
    if bytes == 0 { 1 } else { 1 << bytes.trailing_zeros().min(5) }
}
