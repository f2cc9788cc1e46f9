//! What an access to memory is.

use crate::llvm::Value;
use crate::llvm::value::IntPredicate;
use crate::matrix::{FragmentAccess, Rows};
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

/// An address: a pointer, or an integer in inline assembly, and a constant added to it.
#[derive(Clone, Copy)]
pub(in crate::device) struct Address<'c> {
    pub(in crate::device) value: Value<'c>,
    pub(in crate::device) offset: u64,
    pub(in crate::device) lanewise: Lanewise<'c>,
}

/// What a lane makes of the address that the instruction has.
#[derive(Clone, Copy)]
pub(in crate::device) enum Lanewise<'c> {
    /// It is the lane's.
    Own,
    /// An access of a fragment. The distance of its rows is `stride` or else `dense`, in elements of so many bits.
    Fragment { access: FragmentAccess, stride: Option<Value<'c>>, dense: u32, bits: u32 },
    /// A part of one of the rows of up to four blocks of a fragment, each block from a row and column on.
    Blocks { blocks: [(u32, u32); 4], count: u32, stride: Option<Value<'c>>, dense: u32, bits: u32 },
    /// A part of one of the rows that all lanes' addresses are.
    Rows(Rows),
}

impl<'c> Address<'c> {
    /// Returns the address that is a value without an offset.
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

/// A comparison that holds for the lanes that make the access.
#[derive(Clone, Copy)]
pub(in crate::device) struct Guard<'c> {
    pub(in crate::device) predicate: IntPredicate,
    pub(in crate::device) left: Value<'c>,
    pub(in crate::device) right: Value<'c>,
}

/// What an instruction does to memory.
pub(in crate::device) enum Seen<'c> {
    /// An access with an address that a hook can be given.
    Access(Access<'c>),
    /// A texture fetch or surface access. The address follows from the object, which only the texture unit of the CPU
    /// device can compute; one site for each of the sizes that the texel may have.
    Texture { op: Op, cache: CacheOp, sizes: Vec<u32>, what: String },
    /// Memory is touched in a way that no hook can record.
    Not(String),
}

impl<'c> Access<'c> {
    /// Returns an access that requires the alignment of its size, as PTX does.
    pub(in crate::device) fn plain(address: Address<'c>, op: Op, space: Space, bytes: u32, cache: CacheOp) -> Self {
        Access { address, op, space, bytes, align: natural(bytes), byte_mask: None, cache, guard: None }
    }
}

/// Largest power of two that divides a size.
fn natural(bytes: u32) -> u32 {
    if bytes == 0 { 1 } else { 1 << bytes.trailing_zeros().min(5) }
}
