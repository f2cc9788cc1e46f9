//! Packed records of requests: one item per memory instruction executed by a warp, and markers that identify the warp
//! of the following items.
//!
//! All items are little endian and start at a multiple of [`ALIGN`] bytes. The first word of an item is its *head*:
//! `site : 24 | space : 4 | kind : 4`, starting at the lowest bit.
//!
//! | kind | words after the head | bytes |
//! |---|---|---|
//! | [`Kind::Turn`] | `u32` bytes of items that follow for this slot; the head's site field is the slot | 8 |
//! | [`Kind::BlockStart`] | `u32` number of warps, `u64` linear block; site field = first slot | 16 |
//! | [`Kind::Uniform`] | `u32` mask, `u64` address of every active lane | 16 |
//! | [`Kind::Affine`] | `u32` mask, `u64` address of lane 0, `u64` address of lane 16, `i32` stride, `u32` zero | 32 |
//! | [`Kind::Delta`] | `u32` mask, `u64` base, then one `u32` per active lane, padded to 8 | 16 + 4·n |
//! | [`Kind::Full`] | `u32` mask, then one `u64` per active lane | 8 + 8·n |
//! | [`Kind::Barrier`] | `u32` zero for a block-wide barrier, else [`Rendezvous::word`] | 8 |
//! | [`Kind::Call`] | `u32` mask; site field = call site | 8 |
//! | [`Kind::Return`] | `u32` zero | 8 |
//! | [`Kind::Operation`] | `u32` mask, `u32` types ([`ValueTypes`]), `u16` part, `u16` parts after the first, then the
//! result and each operand: one `u64` per active lane; site field = operation, space field = number of these rows |
//! 16 + 8·n·rows |
//! | [`Kind::Even`] | `u32` mask, `u64`: 48 bits signed address of lane 0, 16 bits signed stride | 16 |
//! | [`Kind::Raw`] | `u32` mask, then 32 × `u64`, inactive lanes undefined. Only between lowered code and the runtime |
//! 264 |
//!
//! In an affine item lane `l < 16` is at `base0 + l·stride` and lane `l ≥ 16` at
//! `base1 + (l − 16)·stride`; the base of a half without active lanes is undefined.
//!
//! The site field of an access may stand for a *bundle*, [`bundle_field`]: several accesses that always happen
//! together, by the same lanes, at constant distances from the address in the item. The site table lists them
//! ([`crate::site_table::Bundle`]); the field itself contains the number of requests.
//!
//! Addresses are synthetic device addresses. In the shared space they count from the start of the
//! block's shared memory, in the local space from the start of the lane's own stack.

use crate::operation::ValueTypes;
use crate::rendezvous::Rendezvous;

pub use crate::pack::{as_even, push_access};

/// Alignment of items in bytes from the start of their batch.
pub const ALIGN: usize = 8;
/// Number of lanes of a warp. Execution is always 32 lanes wide.
pub const LANES: usize = 32;
/// Number of bits of the head that contain the site, slot or call-site number.
pub const SITE_BITS: u32 = 24;
/// Mask of the site field.
pub const SITE_MASK: u32 = (1 << SITE_BITS) - 1;
/// Flag in the site field of an item that represents a bundle.
pub const BUNDLE: u32 = 1 << 23;
/// Maximum number of sites of a module, because the last bit of the field marks bundles.
pub const MOST_SITES: usize = BUNDLE as usize;
/// Number of bits for the number of requests of a bundle, minus one.
const MEMBER_BITS: u32 = 5;
const BUNDLE_BITS: u32 = SITE_BITS - 1 - MEMBER_BITS;
/// Maximum number of accesses of a bundle.
pub const MOST_MEMBERS: usize = 1 << MEMBER_BITS;
/// Maximum number of bundles of a module.
pub const MOST_BUNDLES: usize = 1 << BUNDLE_BITS;
/// Bytes of the largest item, [`Kind::Raw`].
pub const MAX_ITEM_BYTES: usize = Kind::Raw.most_bytes();

/// Maximum number of rows of values in a [`Kind::Operation`] item: a result and three operands.
pub const MOST_ROWS: usize = 4;

/// Number of bits of the address in an [`Kind::Even`] item; the stride is above them.
pub const EVEN_ADDRESS_BITS: u32 = 48;

/// Kind of an item; the top four bits of its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The following items belong to another warp slot.
    Turn = 1,
    /// A block became resident on consecutive warp slots.
    BlockStart = 2,
    /// All active lanes access one address.
    Uniform = 3,
    /// The stride between lanes is constant, with one base address per half warp.
    Affine = 4,
    /// A base address, and one 32-bit offset per active lane.
    Delta = 5,
    /// One address per active lane.
    Full = 6,
    /// The warp reached a barrier of its block.
    Barrier = 7,
    /// The warp enters a device function that was not inlined.
    Call = 8,
    /// The warp leaves it.
    Return = 9,
    /// The warp leaves the device function.
    Raw = 10,
    /// Values of an operation, in a run that records values.
    Operation = 11,
    /// The stride between all lanes is constant, in a short form.
    Even = 12,
}

impl Kind {
    /// Returns the maximum bytes of an item of this kind.
    pub const fn most_bytes(self) -> usize {
        match self {
            Kind::Turn | Kind::Barrier | Kind::Call | Kind::Return => 8,
            Kind::BlockStart | Kind::Uniform | Kind::Even => 16,
            Kind::Affine => 32,
            Kind::Delta => 16 + 4 * LANES,
            Kind::Full | Kind::Raw => 8 + 8 * LANES,
            Kind::Operation => 16 + 8 * LANES * MOST_ROWS,
        }
    }

    /// Returns the kind in a head; `None` if it is invalid.
    #[inline]
    pub fn from_head(head: u32) -> Option<Kind> {
        Some(match head >> 28 {
            1 => Kind::Turn,
            2 => Kind::BlockStart,
            3 => Kind::Uniform,
            4 => Kind::Affine,
            5 => Kind::Delta,
            6 => Kind::Full,
            7 => Kind::Barrier,
            8 => Kind::Call,
            9 => Kind::Return,
            10 => Kind::Raw,
            11 => Kind::Operation,
            12 => Kind::Even,
            _ => return None,
        })
    }
}

/// The memory space of an access. If the code uses generic addresses, it is resolved at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[repr(u8)]
pub enum Space {
    /// Unknown at compile time. Used only between lowered code and runtime, never in the trace.
    Generic = 0,
    /// Global memory.
    Global = 1,
    /// The block's shared memory.
    Shared = 2,
    /// The lane's own stack.
    Local = 3,
    /// Constant memory.
    Constant = 4,
}

impl Space {
    /// Returns the space in a head; `None` if it is invalid.
    #[inline]
    pub fn from_head(head: u32) -> Option<Space> {
        Some(match (head >> SITE_BITS) & 0xf {
            0 => Space::Generic,
            1 => Space::Global,
            2 => Space::Shared,
            3 => Space::Local,
            4 => Space::Constant,
            _ => return None,
        })
    }
}

/// Builds the head of a [`Kind::Operation`] item with 1 to [`MOST_ROWS`] rows of values.
pub const fn operation_head(operation: u32, rows: usize) -> u32 {
    ((Kind::Operation as u32) << 28) | ((rows as u32 & 0xf) << SITE_BITS) | (operation & SITE_MASK)
}

/// Builds the word for the number of a result among those of an execution, `parts` of which there are.
pub const fn part_word(part: u16, parts: u16) -> u32 {
    part as u32 | (parts.saturating_sub(1) as u32) << 16
}

/// Returns the number of rows of the [`Kind::Operation`] item with this head.
const fn rows_of(head: u32) -> usize {
    ((head >> SITE_BITS) & 0xf) as usize
}

/// Builds a head.
pub const fn head(kind: Kind, space: Space, site: u32) -> u32 {
    ((kind as u32) << 28) | ((space as u32) << SITE_BITS) | (site & SITE_MASK)
}

/// Returns the site (or slot, or call-site) field of a head.
#[inline]
pub const fn site_of(head: u32) -> u32 {
    head & SITE_MASK
}

/// Returns the site field of an item that represents bundle `index` with `members` accesses.
pub const fn bundle_field(index: u32, members: u32) -> u32 {
    BUNDLE | (members.wrapping_sub(1) & (MOST_MEMBERS as u32 - 1)) << BUNDLE_BITS | (index & (MOST_BUNDLES as u32 - 1))
}

/// Returns the bundle of a site field; `None` if it is a single site.
#[inline]
pub const fn bundle_of(site: u32) -> Option<u32> {
    if site & BUNDLE == 0 { None } else { Some(site & (MOST_BUNDLES as u32 - 1)) }
}

/// Returns the number of requests that an access item with this head (or site field) represents.
#[inline]
pub const fn requests_of(head: u32) -> u32 {
    if head & BUNDLE == 0 { 1 } else { ((head >> BUNDLE_BITS) & (MOST_MEMBERS as u32 - 1)) + 1 }
}

/// Returns the word after the head and mask of an [`Kind::Even`] item; `None` if the values do not fit.
#[inline]
pub const fn even_word(address: u64, stride: i32) -> Option<u64> {
    let word = address & ((1 << EVEN_ADDRESS_BITS) - 1) | (stride as u16 as u64) << EVEN_ADDRESS_BITS;
    let (back, step) = even_of(word);
    if back == address && step == stride { Some(word) } else { None }
}

/// Returns the address of lane 0 and the stride in an [`Kind::Even`] item's word.
#[inline]
pub const fn even_of(word: u64) -> (u64, i32) {
    // Lane 0 may be inactive and its address negative, for example in shared memory.
    let unused = 64 - EVEN_ADDRESS_BITS;
    ((((word << unused) as i64) >> unused) as u64, ((word >> EVEN_ADDRESS_BITS) as u16 as i16) as i32)
}

/// Returns the length of an item in bytes, given its first two words; `None` if the head is invalid.
#[inline]
pub fn item_bytes(head: u32, second: u32) -> Option<usize> {
    let lanes = second.count_ones() as usize;
    Some(match Kind::from_head(head)? {
        Kind::Delta => 16 + (4 * lanes).next_multiple_of(ALIGN),
        Kind::Full => 8 + 8 * lanes,
        Kind::Operation => 16 + 8 * lanes * rows_of(head),
        other => other.most_bytes(),
    })
}

/// One decoded item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// See [`Kind::Turn`].
    Turn {
        /// Resident warp slot: `sm · slots_per_sm + position`.
        slot: u32,
        /// Bytes of the following items that belong to the slot.
        bytes: u32,
    },
    /// See [`Kind::BlockStart`].
    BlockStart {
        /// Slot of the block's warp 0; the other warps have the following slots.
        slot: u32,
        /// Number of warps of the block.
        warps: u32,
        /// Linear index of the block, with x fastest.
        block: u64,
    },
    /// One request.
    Access(Access<'a>),
    /// A block-wide barrier; see [`Kind::Barrier`].
    Barrier,
    /// Arrival at a barrier with a number or a thread count. Since version 2048.
    Named(Rendezvous),
    /// See [`Kind::Call`].
    Call {
        /// Index into the site table's call sites.
        call_site: u32,
        /// Lanes that enter the call.
        mask: u32,
    },
    /// See [`Kind::Return`].
    Return,
    /// See [`Kind::Operation`]. Since version 32768.
    Operation(OperationValues<'a>),
}

/// Result and operands of one execution of an operation by a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationValues<'a> {
    /// Index into the site table's operations.
    pub operation: u32,
    /// Active lanes, never zero.
    pub mask: u32,
    /// Types of the rows' values.
    pub types: ValueTypes,
    /// Index of the result among those of the execution: an instruction with several results per lane, such as a
    /// matrix product, has a record for each. Since version 131072.
    pub part: u16,
    /// Number of results of the execution per lane.
    pub parts: u16,
    /// One little-endian `u64` per row and active lane; the first row is the result.
    rows: &'a [u8],
}

impl OperationValues<'_> {
    /// Returns the number of operands, at most three.
    pub fn operands(&self) -> usize {
        (self.rows.len() / 8 / self.mask.count_ones().max(1) as usize).saturating_sub(1)
    }

    /// Calls `f` with the number of each active lane and the bits of its result and operands, in lane order. Absent
    /// rows are zero.
    #[inline]
    pub fn for_each_lane(&self, mut f: impl FnMut(u32, [u64; MOST_ROWS])) {
        let lanes = self.mask.count_ones() as usize;
        let mut mask = self.mask;
        for index in 0..lanes {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            let mut values = [0; MOST_ROWS];
            for (row, value) in values.iter_mut().enumerate().take(self.operands() + 1) {
                *value = u64_at(self.rows, 8 * (row * lanes + index));
            }
            f(lane, values);
        }
    }
}

/// One request: a warp's execution of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<'a> {
    /// Number of the site in the launch's module, or the site field of a bundle; see [`bundle_of`].
    pub site: u32,
    /// The resolved space.
    pub space: Space,
    /// Active lanes, never zero.
    pub mask: u32,
    /// Addresses of the active lanes.
    pub addresses: Addresses<'a>,
}

/// The addresses of a request in the form in which the trace stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses<'a> {
    /// The address of every active lane.
    Uniform(u64),
    /// Addresses with a constant stride in each half warp.
    Affine {
        /// Addresses of lanes 0 and 16.
        bases: [u64; 2],
        /// Bytes from one lane to the next.
        stride: i32,
    },
    /// Base address, and one little-endian `u32` offset per active lane.
    Delta(u64, &'a [u8]),
    /// One little-endian `u64` per active lane.
    Full(&'a [u8]),
}

/// Returns the addresses of an [`Kind::Even`] item's word.
#[inline]
pub fn even(word: u64) -> Addresses<'static> {
    let (base, stride) = even_of(word);
    Addresses::Affine { bases: [base, base.wrapping_add((16 * i64::from(stride)) as u64)], stride }
}

impl<'a> Access<'a> {
    /// Returns the access of `site` in a bundle whose first access is this one; its addresses are `offset` bytes
    /// higher. Full addresses are written to `spare`.
    #[inline]
    pub fn member<'b>(&self, site: u32, offset: i32, spare: &'b mut [u8; 8 * LANES]) -> Access<'b>
    where
        'a: 'b,
    {
        let moved = |address: u64| address.wrapping_add(i64::from(offset) as u64);
        let addresses = match self.addresses {
            Addresses::Uniform(address) => Addresses::Uniform(moved(address)),
            Addresses::Affine { bases, stride } => Addresses::Affine { bases: bases.map(moved), stride },
            Addresses::Delta(base, deltas) => Addresses::Delta(moved(base), deltas),
            Addresses::Full(addresses) => {
                let spare = &mut spare[..addresses.len()];
                for (to, from) in spare.as_chunks_mut::<8>().0.iter_mut().zip(addresses.as_chunks::<8>().0) {
                    *to = moved(u64::from_le_bytes(*from)).to_le_bytes();
                }
                Addresses::Full(spare)
            }
        };
        Access { site, addresses, ..*self }
    }

    /// Calls `f` with the number and the address of each active lane, in lane order.
    #[inline]
    pub fn for_each_lane(&self, mut f: impl FnMut(u32, u64)) {
        let mut mask = self.mask;
        let mut index = 0;
        while mask != 0 {
            let lane = mask.trailing_zeros();
            mask &= mask - 1;
            let address = match self.addresses {
                Addresses::Uniform(address) => address,
                Addresses::Affine { bases, stride } => {
                    let step = i64::from(stride) * i64::from(lane & 15);
                    bases[(lane >> 4) as usize].wrapping_add(step as u64)
                }
                Addresses::Delta(base, deltas) => base.wrapping_add(u64::from(u32_at(deltas, 4 * index))),
                Addresses::Full(addresses) => u64_at(addresses, 8 * index),
            };
            f(lane, address);
            index += 1;
        }
    }
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[inline]
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Reasons why a batch of items cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ItemError {
    /// The head is not valid in this version.
    #[error("unknown item head {head:#010x} at byte {at}")]
    Head {
        /// The invalid word.
        head: u32,
        /// Byte offset in the batch.
        at: usize,
    },
    /// The batch ends inside an item.
    #[error("item at byte {at} is cut short")]
    Short {
        /// Byte offset in the batch.
        at: usize,
    },
}

/// Reads the items of a batch in order. Stops after the first error.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Items<'a> {
    /// Creates a reader of `bytes`, which start with an item.
    pub fn new(bytes: &'a [u8]) -> Self {
        Items { bytes, at: 0 }
    }

    /// Returns the byte offset of the next item.
    pub fn position(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Item<'a>, ItemError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let rest = &self.bytes[at.min(self.bytes.len())..];
        if rest.is_empty() {
            return None;
        }
        self.at = self.bytes.len();
        if rest.len() < 8 {
            return Some(Err(ItemError::Short { at }));
        }
        let head = u32_at(rest, 0);
        let second = u32_at(rest, 4);
        let (Some(length), Some(kind), Some(space)) =
            (item_bytes(head, second), Kind::from_head(head), Space::from_head(head))
        else {
            return Some(Err(ItemError::Head { head, at }));
        };
        if rest.len() < length {
            return Some(Err(ItemError::Short { at }));
        }
        self.at = at + length;
        let site = site_of(head);
        if kind == Kind::Operation {
            if second == 0 || !(1..=MOST_ROWS).contains(&rows_of(head)) {
                return Some(Err(ItemError::Head { head, at }));
            }
            let types = ValueTypes(u32_at(rest, 8));
            return Some(Ok(Item::Operation(OperationValues {
                operation: site,
                mask: second,
                types,
                part: u32_at(rest, 12) as u16,
                parts: ((u32_at(rest, 12) >> 16) as u16).saturating_add(1),
                rows: &rest[16..length],
            })));
        }
        let access = |addresses| Item::Access(Access { site, space, mask: second, addresses });
        let is_access = matches!(kind, Kind::Uniform | Kind::Affine | Kind::Even | Kind::Delta | Kind::Full);
        if is_access && (second == 0 || space == Space::Generic) {
            return Some(Err(ItemError::Head { head, at }));
        }
        Some(Ok(match kind {
            Kind::Turn => Item::Turn { slot: site, bytes: second },
            Kind::BlockStart => Item::BlockStart { slot: site, warps: second, block: u64_at(rest, 8) },
            Kind::Uniform => access(Addresses::Uniform(u64_at(rest, 8))),
            Kind::Affine => access(Addresses::Affine {
                bases: [u64_at(rest, 8), u64_at(rest, 16)],
                stride: u32_at(rest, 24) as i32,
            }),
            Kind::Even => access(even(u64_at(rest, 8))),
            Kind::Delta => access(Addresses::Delta(u64_at(rest, 8), &rest[16..length])),
            Kind::Full => access(Addresses::Full(&rest[8..length])),
            Kind::Barrier if second == 0 => Item::Barrier,
            Kind::Barrier => Item::Named(Rendezvous::from_word(second)),
            Kind::Call => Item::Call { call_site: site, mask: second },
            Kind::Return => Item::Return,
            Kind::Raw | Kind::Operation => return Some(Err(ItemError::Head { head, at })),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expected(mask: u32, address: impl Fn(u32) -> u64) -> Vec<(u32, u64)> {
        (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| (lane, address(lane))).collect()
    }

    proptest! {
        #[test]
        fn members_lie_at_their_offsets(mask in 1u32.., lanes in prop::collection::vec(any::<u64>(), 32), near: bool,
                                        offset in any::<i32>()) {
            let address = |lane: u32| if near { lanes[lane as usize] >> 40 } else { lanes[lane as usize] };
            let addresses: Vec<u64> = expected(mask, address).into_iter().map(|(_, address)| address).collect();
            let mut bytes = Vec::new();
            push_access(&mut bytes, Space::Global, bundle_field(3, 2), mask, &addresses);
            let Some(Ok(Item::Access(first))) = Items::new(&bytes).next() else { panic!("no access") };
            let mut seen = Vec::new();
            first.member(9, offset, &mut [0; 256]).for_each_lane(|lane, address| seen.push((lane, address)));
            prop_assert_eq!(seen, expected(mask, |lane| address(lane).wrapping_add(i64::from(offset) as u64)));
        }

        #[test]
        fn a_bundle_says_what_it_is(index in 0..MOST_BUNDLES as u32, members in 1..=MOST_MEMBERS as u32) {
            let field = bundle_field(index, members);
            let item = head(Kind::Uniform, Space::Global, field);
            prop_assert_eq!(site_of(item), field);
            prop_assert_eq!((bundle_of(field), requests_of(item)), (Some(index), members));
            prop_assert_eq!((bundle_of(index), requests_of(head(Kind::Full, Space::Shared, index))), (None, 1));
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            for item in Items::new(&bytes) {
                if let Ok(Item::Access(access)) = item { access.for_each_lane(|_, _| ()); }
            }
        }
    }
}
