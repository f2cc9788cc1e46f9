//! Adds the items of lowered code to the trace: resolves generic pointers by window, splits accesses whose lanes access
//! several spaces, and compacts raw items.

use crate::memory::registry::Registry;
use crate::memory::windows::{Region, region};
use std::ops::Range;
use warpline_format::abi::windows;
use warpline_format::access::{Access, Addresses, Kind, LANES, Space, even, head, push_access, site_of};

/// The positions of a warp's memory spaces.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    /// The first byte of the block's shared memory.
    pub shared: u64,
    /// The size of the shared memory in bytes, if the block may access the shared memory of other blocks of its
    /// cluster.
    pub clustered: Option<u64>,
    /// The first byte of lane 0's stack.
    pub local: u64,
    /// The number of bytes between the stacks of neighbouring lanes.
    pub local_stride: u64,
    /// The addresses of the kernel's parameters. Reading them is never memory traffic, even through a pointer.
    pub parameters: Range<u64>,
    /// Used to translate registered host memory to its synthetic address; `None` if there is no registered memory.
    pub registered: Option<&'a Registry>,
}

/// A synthetic page for addresses outside all known allocations. Such addresses only occur when the access check is
/// off, and they must not put a host address into the trace.
const UNKNOWN: u64 = 0x1400_0000_0000;

/// Added to positions in other blocks' shared memory, which count from the start of the first block's memory. The value
/// is larger than any block's own memory, and it does not change the banks.
const OTHER_BLOCK: u64 = 1 << 32;

impl Places<'_> {
    /// Returns the space and the trace address of the memory to which `lane` points.
    fn resolve(&self, lane: u32, address: u64) -> (Space, u64) {
        match region(address) {
            Region::Device | Region::Arguments => (Space::Global, address),
            Region::Shared => (Space::Shared, self.shared_offset(address)),
            Region::Local => {
                let own = self.local.wrapping_add(u64::from(lane) * self.local_stride);
                let offset = address.wrapping_sub(own);
                if offset < self.local_stride {
                    (Space::Local, offset)
                } else {
                    // A pointer into another lane's stack, which a GPU cannot dereference.
                    (Space::Local, address.wrapping_sub(self.local) % self.local_stride.max(1))
                }
            }
            Region::Host => {
                let known = self.registered.and_then(|registry| registry.find(address));
                match known {
                    Some(live) => (Space::Global, live.address + (address - live.start())),
                    None => (Space::Global, UNKNOWN | (address & 0xfff)),
                }
            }
        }
    }
}

impl Places<'_> {
    /// Returns the trace address of a position in shared memory.
    fn shared_offset(&self, address: u64) -> u64 {
        let offset = address.wrapping_sub(self.shared);
        match self.clustered {
            Some(own) if offset >= own => OTHER_BLOCK + (address - windows::SHARED),
            _ => offset,
        }
    }
}

/// Reads a word of an item.
///
/// # Safety
/// `item + at` is within the item.
#[inline(always)]
unsafe fn word(item: *const u8, at: usize) -> u64 {
    // SAFETY: by the contract; items are 8-byte aligned and `at` is a multiple of 8.
    unsafe { item.add(at).cast::<u64>().read() }
}

/// Appends the access at `item`, of `length` bytes, to `out`. If the access has to be split, the rest is appended to
/// `rest`, where each item is a separate request.
///
/// # Safety
/// `item` points at a complete access item of `length` bytes, as lowered code writes it.
#[inline]
pub unsafe fn take(item: *const u8, length: usize, places: &Places, out: &mut Vec<u8>, rest: &mut Vec<u8>) {
    // SAFETY: every item has a first word.
    let first = unsafe { word(item, 0) };
    let (item_head, mask) = (first as u32, (first >> 32) as u32);
    if mask == 0 {
        return;
    }
    let kind = Kind::from_head(item_head);
    let space = Space::from_head(item_head).unwrap_or(Space::Generic);
    let foreign = match space {
        Space::Generic => true,
        Space::Global => places.registered.is_some(),
        Space::Shared => places.clustered.is_some(),
        _ => false,
    };
    if foreign {
        // SAFETY: the caller fulfils the contract.
        return unsafe { take_slowly(item, length, places, out, rest) };
    }
    match kind {
        Some(Kind::Affine) => {
            // The base of a half without lanes is undefined, so it may differ between runs. SAFETY: an affine item has
            // 32 bytes.
            let (low, high, stride) = unsafe { (word(item, 8), word(item, 16), word(item, 24)) };
            let low = if mask & 0xffff == 0 { 0 } else { low };
            let high = if mask >> 16 == 0 { 0 } else { high };
            let words = [first, low, high, stride & 0xffff_ffff];
            // SAFETY: four words are 32 bytes.
            out.extend_from_slice(unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 32) });
        }
        Some(Kind::Raw) => {
            // SAFETY: a raw item has 32 addresses after its first word.
            let addresses = unsafe { &*item.add(8).cast::<[u64; LANES]>() };
            compact(space, site_of(item_head), mask, addresses, out);
        }
        _ => {
            // SAFETY: the item is complete.
            out.extend_from_slice(unsafe { std::slice::from_raw_parts(item, length) });
        }
    }
}

/// Appends a raw access in its shortest form.
fn compact(space: Space, site: u32, mask: u32, lanes: &[u64; LANES], out: &mut Vec<u8>) {
    if mask == u32::MAX {
        return push_access(out, space, site, mask, lanes);
    }
    let mut active = [0; LANES];
    let mut count = 0;
    let mut left = mask;
    while left != 0 {
        active[count] = lanes[left.trailing_zeros() as usize];
        count += 1;
        left &= left - 1;
    }
    push_access(out, space, site, mask, &active[..count]);
}

/// The variant of [`take`] for accesses whose addresses must be translated one by one.
///
/// # Safety
/// The requirements of [`take`] apply.
#[cold]
unsafe fn take_slowly(item: *const u8, length: usize, places: &Places, out: &mut Vec<u8>, rest: &mut Vec<u8>) {
    // SAFETY: the item is complete.
    let (first, payload) = unsafe { (word(item, 0), std::slice::from_raw_parts(item.add(8), length - 8)) };
    let (item_head, mask) = (first as u32, (first >> 32) as u32);
    let site = site_of(item_head);
    let at = |index: usize| u64::from_le_bytes(payload[index..index + 8].try_into().unwrap_or_default());
    let mut raw = [0u8; 8 * LANES];
    let addresses = match Kind::from_head(item_head) {
        Some(Kind::Uniform) => Addresses::Uniform(at(0)),
        Some(Kind::Affine) => Addresses::Affine { bases: [at(0), at(8)], stride: at(16) as i32 },
        Some(Kind::Even) => even(at(0)),
        Some(Kind::Delta) => Addresses::Delta(at(0), &payload[8..]),
        Some(Kind::Full) => Addresses::Full(payload),
        Some(Kind::Raw) => {
            let mut left = mask;
            let mut count = 0;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                raw[8 * count..8 * count + 8].copy_from_slice(&payload[8 * lane..8 * lane + 8]);
                count += 1;
                left &= left - 1;
            }
            Addresses::Full(&raw)
        }
        _ => return,
    };
    // Masks and addresses for each space: global, shared, local.
    let mut masks = [0u32; 3];
    let mut lanes = [[0u64; LANES]; 3];
    let mut counts = [0usize; 3];
    // For shared memory, the items contain offsets.
    let start = if Space::from_head(item_head) == Some(Space::Shared) { places.shared } else { 0 };
    Access { site, space: Space::Global, mask, addresses }.for_each_lane(|lane, address| {
        let address = address.wrapping_add(start);
        if places.parameters.contains(&address) || region(address) == Region::Arguments {
            return;
        }
        let (space, address) = places.resolve(lane, address);
        let group = match space {
            Space::Shared => 1,
            Space::Local => 2,
            _ => 0,
        };
        masks[group] |= 1 << lane;
        lanes[group][counts[group]] = address;
        counts[group] += 1;
    });
    let mut target = out;
    for (group, space) in [Space::Global, Space::Shared, Space::Local].into_iter().enumerate() {
        if masks[group] != 0 {
            push_access(target, space, site, masks[group], &lanes[group][..counts[group]]);
            target = rest;
        }
    }
}

/// Appends the head of a turn and returns its position, for [`close_turn`].
#[inline]
pub fn open_turn(out: &mut Vec<u8>, slot: u32) -> usize {
    let at = out.len();
    out.extend_from_slice(&u64::from(head(Kind::Turn, Space::Generic, slot)).to_le_bytes());
    at
}

/// Writes a turn's length into its head, or removes the head if the turn is empty.
#[inline]
pub fn close_turn(out: &mut Vec<u8>, at: usize) {
    let bytes = (out.len() - at - 8) as u32;
    if bytes == 0 {
        out.truncate(at);
    } else {
        out[at + 4..at + 8].copy_from_slice(&bytes.to_le_bytes());
    }
}

/// Appends the marker for a block that becomes resident.
pub fn push_block_start(out: &mut Vec<u8>, slot: u32, warps: u32, block: u64) {
    out.extend_from_slice(&head(Kind::BlockStart, Space::Generic, slot).to_le_bytes());
    out.extend_from_slice(&warps.to_le_bytes());
    out.extend_from_slice(&block.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::access::{Item, Items, item_bytes};

    const PLACES: Places<'static> = Places {
        shared: 0x1200_0000_4000,
        clustered: None,
        local: 0x1300_0000_0000,
        local_stride: 192,
        parameters: 0x7f00_0000_0000..0x7f00_0000_0040,
        registered: None,
    };

    /// Returns the result of [`take`] for an item that is passed as words.
    fn taken(words: &[u64]) -> (Vec<u8>, Vec<u8>) {
        let length = item_bytes(words[0] as u32, (words[0] >> 32) as u32).unwrap();
        assert_eq!(length, words.len() * 8);
        let (mut out, mut rest) = (Vec::new(), Vec::new());
        // SAFETY: the words are a complete item.
        unsafe { take(words.as_ptr().cast(), length, &PLACES, &mut out, &mut rest) };
        (out, rest)
    }

    fn first(kind: Kind, space: Space, mask: u32) -> u64 {
        u64::from(head(kind, space, 9)) | u64::from(mask) << 32
    }

    fn lanes(bytes: &[u8]) -> Vec<(Space, u32, u64)> {
        let mut all = Vec::new();
        for item in Items::new(bytes) {
            let Ok(Item::Access(access)) = item else { panic!("{item:?}") };
            assert_eq!(access.site, 9);
            access.for_each_lane(|lane, address| all.push((access.space, lane, address)));
        }
        all
    }

    #[test]
    fn the_base_of_a_half_without_lanes_is_zero() {
        let garbage = 0x7fff_1234_5678;
        let (out, _) = taken(&[first(Kind::Affine, Space::Global, 0xffff_0000), garbage, 0x1000_0000_0000, 4]);
        let Some(Ok(Item::Access(access))) = Items::new(&out).next() else { panic!("no access") };
        assert_eq!(access.addresses, Addresses::Affine { bases: [0, 0x1000_0000_0000], stride: 4 });
    }

    #[test]
    fn a_raw_item_gets_its_shortest_form() {
        let mut words = vec![first(Kind::Raw, Space::Global, u32::MAX)];
        words.extend((0..32).map(|lane| 0x1000_0000_0000 + 8 * lane));
        let (out, rest) = taken(&words);
        assert_eq!((out.len(), rest.len()), (16, 0));
        words[5] += 4;
        assert_eq!(taken(&words).0.len(), 16 + 4 * 32);
    }

    #[test]
    fn a_generic_access_is_split_by_space() {
        let mut words = vec![first(Kind::Raw, Space::Generic, 0x1f)];
        words.extend([0x1300_0000_0008, 0x1000_0000_0100, 0x1200_0000_4010, 0x1000_0000_0104, 0x1300_0000_0308]);
        words.resize(33, 0x7fff_dead_beef);
        let (out, rest) = taken(&words);
        assert_eq!(lanes(&out), [(Space::Global, 1, 0x1000_0000_0100), (Space::Global, 3, 0x1000_0000_0104)]);
        // Lane 4's stack starts 768 bytes after lane 0's.
        assert_eq!(lanes(&rest), [(Space::Shared, 2, 16), (Space::Local, 0, 8), (Space::Local, 4, 8)]);
    }

    #[test]
    fn lanes_that_read_parameters_are_no_traffic() {
        let mut words = vec![first(Kind::Raw, Space::Generic, 0x3)];
        words.extend([0x7f00_0000_0038, 0x1000_0000_0100]);
        words.resize(33, 0);
        let (out, rest) = taken(&words);
        assert_eq!((lanes(&out), rest.len()), (vec![(Space::Global, 1, 0x1000_0000_0100)], 0));
        let (out, rest) = taken(&[first(Kind::Uniform, Space::Generic, u32::MAX), 0x7f00_0000_0000]);
        assert_eq!((out.len(), rest.len()), (0, 0));
    }

    #[test]
    fn host_addresses_stay_out_of_the_trace() {
        let (out, _) = taken(&[first(Kind::Uniform, Space::Generic, 1), 0x7fff_dead_b123]);
        assert_eq!(lanes(&out), [(Space::Global, 0, UNKNOWN | 0x123)]);
    }

    #[test]
    fn an_empty_turn_leaves_nothing() {
        let mut out = vec![1; 8];
        let at = open_turn(&mut out, 3);
        close_turn(&mut out, at);
        assert_eq!(out, [1; 8]);
        let at = open_turn(&mut out, 3);
        push_block_start(&mut out, 3, 1, 7);
        close_turn(&mut out, at);
        let items: Vec<_> = Items::new(&out[8..]).map(Result::unwrap).collect();
        assert_eq!(items, [Item::Turn { slot: 3, bytes: 16 }, Item::BlockStart { slot: 3, warps: 1, block: 7 }]);
    }
}
