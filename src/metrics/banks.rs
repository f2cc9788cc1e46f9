//! Bank conflicts of shared memory: 32 banks of 4-byte words, one distinct word per bank and pass
//! (CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later). Accesses of 8
//! bytes are served by half warps, those of 16 bytes by quarters; lanes that read the same word share it.

use super::Width;
use warpline_format::access::{Access, Addresses};

const BANKS: usize = 32;

/// Passes of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    /// Passes needed.
    pub passes: u32,
    /// Passes that the distinct words would need if they lay in different banks.
    pub ideal: u32,
}

/// The last affine request of a site and its passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct WavefrontMemo {
    mask: u32,
    stride: i32,
    start: u64,
    halves: u64,
    wavefronts: Wavefronts,
}

/// Passes of a shared-memory request.
#[inline]
pub fn wavefronts(access: &Access<'_>, width: Width, memo: &mut WavefrontMemo, words: &mut Vec<u64>) -> Wavefronts {
    let Addresses::Affine { bases, stride } = access.addresses else {
        return count(access, width, words);
    };
    // A shift by whole rounds of the banks changes nothing.
    let (start, halves) = (bases[0] % (4 * BANKS as u64), bases[1].wrapping_sub(bases[0]));
    if memo.mask != access.mask || memo.stride != stride || memo.start != start || memo.halves != halves {
        let wavefronts = count(access, width, words);
        *memo = WavefrontMemo { mask: access.mask, stride, start, halves, wavefronts };
    }
    memo.wavefronts
}

/// Lanes that are served together, by bytes per lane.
fn group_lanes(bytes: u32) -> u32 {
    match bytes {
        0..=4 => 32,
        5..=8 => 16,
        9..=16 => 8,
        _ => 1,
    }
}

fn count(access: &Access<'_>, width: Width, words: &mut Vec<u64>) -> Wavefronts {
    if let (Addresses::Uniform(address), 0..=4, None) = (access.addresses, width.bytes, width.holes)
        && address % 4 + u64::from(width.bytes) <= 4
    {
        return Wavefronts { passes: 1, ideal: 1 };
    }
    let lanes = group_lanes(width.bytes);
    let mut sum = Wavefronts::default();
    let mut group = 0;
    words.clear();
    access.for_each_lane(|lane, address| {
        if lane / lanes != group {
            sum = plus(sum, one_group(words));
            words.clear();
            group = lane / lanes;
        }
        let touched = width.holes.unwrap_or(u64::MAX);
        for byte in 0..width.bytes {
            let at = address.wrapping_add(u64::from(byte));
            let first_of_word = byte == 0 || at % 4 == 0 || width.holes.is_some();
            if first_of_word && (byte >= 64 || touched >> byte & 1 == 1) {
                words.push(at / 4);
            }
        }
    });
    plus(sum, one_group(words))
}

fn plus(one: Wavefronts, other: Wavefronts) -> Wavefronts {
    Wavefronts { passes: one.passes + other.passes, ideal: one.ideal + other.ideal }
}

fn one_group(words: &mut Vec<u64>) -> Wavefronts {
    words.sort_unstable();
    words.dedup();
    let mut banks = [0u32; BANKS];
    for word in words.iter() {
        banks[(word % BANKS as u64) as usize] += 1;
    }
    Wavefronts { passes: banks.iter().copied().max().unwrap_or(0), ideal: words.len().div_ceil(BANKS) as u32 }
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::*;
    use proptest::prelude::*;
    use warpline_format::access::{Item, Items, Space, push_access};

    fn passes(mask: u32, addresses: &[u64], bytes: u32) -> Wavefronts {
        let mut items = Vec::new();
        push_access(&mut items, Space::Shared, 0, mask, addresses);
        let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
        let width = Width::solid(bytes);
        let mut memo = WavefrontMemo::default();
        let got = wavefronts(&access, width, &mut memo, &mut Vec::new());
        assert_eq!(wavefronts(&access, width, &mut memo, &mut Vec::new()), got);
        assert_eq!((got.passes, got.ideal), reference::wavefronts(&access, width));
        got
    }

    #[test]
    fn strides_conflict_as_the_guide_says() {
        for (stride, want) in [(1u64, 1), (2, 2), (3, 1), (32, 32), (33, 1), (16, 16)] {
            let addresses: Vec<u64> = (0..32).map(|lane| 4 * stride * lane).collect();
            assert_eq!(passes(u32::MAX, &addresses, 4), Wavefronts { passes: want, ideal: 1 }, "stride {stride}");
        }
        let doubles: Vec<u64> = (0..32).map(|lane| 8 * lane).collect();
        assert_eq!(passes(u32::MAX, &doubles, 8), Wavefronts { passes: 2, ideal: 2 });
        let float4: Vec<u64> = (0..32).map(|lane| 16 * lane).collect();
        assert_eq!(passes(u32::MAX, &float4, 16), Wavefronts { passes: 4, ideal: 4 });
    }

    proptest! {
        #[test]
        fn agrees_with_the_reference(mask in 1u32.., places in prop::collection::vec(0u64..3000, 32), bytes in 1u32..20) {
            let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane: usize| places[lane]).collect();
            passes(mask, &addresses, bytes);
        }
    }
}
