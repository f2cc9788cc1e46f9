//! Counts the passes of a request through the banks of shared memory, of the data stage of L1, and of constant memory.
//!
//! A pass accesses one row of each bank, and lanes that touch the same row share it (CUDA C++ Programming Guide,
//! "Shared Memory" of compute capabilities 3.x and 5.x). The lanes that one pass serves access at most as many bytes as
//! one row of all banks. With 32 banks of 4 bytes, a pass therefore serves a half warp for 8 bytes per lane, and a
//! quarter for 16 bytes. Constant memory serves one address per pass.
//!
//! Shared loads of 8 and 16 bytes are served in groups of twice as many lanes if the lanes share addresses in pairs.
//! This requires that each active lane n has the address of lane n ^ 1, or each has the address of lane n ^ 2, if those
//! lanes are active. Sources: Greg Smith, NVIDIA developer forum, thread 77228, for compute capabilities 7.0 to 7.5 (2
//! passes instead of 4 for 16 bytes); Nsight Compute on compute capabilities 8.6 and 9.0 (thread 373160). Two lanes with
//! equal addresses whose numbers differ by 16 are not such pairs. Fermi's guide excludes the merging; models state it as
//! [`Banks::merges_pairs`].

use super::Scattered;
use crate::geometry::{BankRules, Banks, Width, period};
use warpline_format::access::{Access, Addresses, LANES, Space};
use warpline_format::site_table::Op;

/// Passes of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    /// Passes needed.
    pub passes: u32,
    /// Passes that the distinct words would need if they were in different banks; 1 for constant memory.
    pub ideal: u32,
}

/// The last affine request of a site and its passes, as a cache.
#[derive(Clone, Copy, Debug)]
pub struct WavefrontMemo {
    space: Space,
    mask: u32,
    stride: i32,
    start: u64,
    halves: u64,
    wavefronts: Wavefronts,
}

impl Default for WavefrontMemo {
    fn default() -> Self {
        let wavefronts = Wavefronts::default();
        WavefrontMemo { space: Space::Generic, mask: 0, stride: 0, start: 0, halves: 0, wavefronts }
    }
}

/// Counts the passes of a request; `None` if no rule exists for its space.
#[inline]
pub fn wavefronts(
    access: &Access<'_>,
    width: Width,
    op: Op,
    rules: &BankRules,
    memo: &mut WavefrontMemo,
    words: &mut Vec<u64>,
    scattered: Option<&Scattered>,
) -> Wavefronts {
    let banks = match access.space {
        Space::Shared => Banks { merges_pairs: rules.shared.merges_pairs && op == Op::Load, ..rules.shared },
        Space::Constant => {
            let passes = scattered.map_or_else(|| distinct_addresses(access, words), Scattered::elements);
            return Wavefronts { passes, ideal: 1 };
        }
        Space::Global => match rules.data {
            Some(banks) => Banks { merges_pairs: false, ..banks },
            None => return Wavefronts::default(),
        },
        Space::Local if rules.data.is_some() => return stacks(width),
        Space::Local | Space::Generic => return Wavefronts::default(),
    };
    if banks.are_usual()
        && let Some([passes, ideal]) = scattered.and_then(|scattered| scattered.passes_in_groups(banks.merges_pairs))
    {
        return Wavefronts { passes, ideal };
    }
    if let Some(scattered) = scattered
        && width.bytes <= 4
        && group_lanes(width.bytes, banks.pass_bytes()) == 32
    {
        if banks.bank_bytes == 4 && banks.word_bytes == 4 {
            let [all, passes] = scattered.words_by_bank(banks.banks);
            return Wavefronts { passes, ideal: all.div_ceil(banks.pass_bytes() / 4) };
        }
        return group_of(scattered.words(), banks);
    }
    let Addresses::Affine { bases, stride } = access.addresses else {
        return count(access, width, banks, words);
    };
    let (start, halves) = (bases[0] & u64::from(period(banks) - 1), bases[1].wrapping_sub(bases[0]));
    let same = memo.mask == access.mask && memo.stride == stride && memo.start == start && memo.halves == halves;
    if !same || memo.space != access.space {
        let wavefronts = count(access, width, banks, words);
        *memo = WavefrontMemo { space: access.space, mask: access.mask, stride, start, halves, wavefronts };
    }
    memo.wavefronts
}

/// Counts the passes of a request to local memory. The lanes' stacks are interleaved word by word, so each lane has its
/// own bank.
fn stacks(width: Width) -> Wavefronts {
    let passes = width.bytes.div_ceil(4);
    Wavefronts { passes, ideal: passes }
}

fn distinct_addresses(access: &Access<'_>, addresses: &mut Vec<u64>) -> u32 {
    if matches!(access.addresses, Addresses::Uniform(_)) {
        return 1;
    }
    addresses.clear();
    access.for_each_lane(|_, address| addresses.push(address));
    sort_distinct(addresses);
    addresses.len() as u32
}

/// Returns the number of lanes that are served together, by bytes per lane.
fn group_lanes(bytes: u32, pass_bytes: u32) -> u32 {
    match bytes {
        0..=16 => (pass_bytes / bytes.next_power_of_two().max(4)).clamp(1, 32),
        _ => 1,
    }
}

/// Returns whether each active lane has the address of lane n ^ 1, or each has the address of lane n ^ 2, considering
/// only active lanes.
fn shares_in_pairs(access: &Access<'_>) -> bool {
    let mut addresses = [None; LANES];
    access.for_each_lane(|lane, address| addresses[lane as usize] = Some(address));
    [1, 2].into_iter().any(|distance| {
        (0..LANES).all(|lane| match (addresses[lane], addresses[lane ^ distance]) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        })
    })
}

fn count(access: &Access<'_>, width: Width, banks: Banks, words: &mut Vec<u64>) -> Wavefronts {
    let merged =
        banks.merges_pairs && matches!(width.bytes, 8 | 16) && width.holes.is_none() && shares_in_pairs(access);
    let lanes = group_lanes(width.bytes, banks.pass_bytes());
    let lanes = if merged { (2 * lanes).min(LANES as u32) } else { lanes };
    if let (Addresses::Uniform(address), 0..=4, None, 32) = (access.addresses, width.bytes, width.holes, lanes)
        && address % 4 + u64::from(width.bytes) <= 4
    {
        return Wavefronts { passes: 1, ideal: 1 };
    }
    let mut sum = Wavefronts::default();
    let mut group = 0;
    words.clear();
    access.for_each_lane(|lane, address| {
        if lane / lanes != group {
            sum = sum.plus(one_group(words, banks));
            words.clear();
            group = lane / lanes;
        }
        match width.holes {
            None => {
                let count = (address % 4 + u64::from(width.bytes)).div_ceil(4);
                words.extend((0..count).map(|word| address.wrapping_add(4 * word) / 4));
            }
            Some(touched) => {
                for byte in (0..width.bytes).filter(|byte| *byte >= 64 || touched >> byte & 1 == 1) {
                    words.push(address.wrapping_add(u64::from(byte)) / 4);
                }
            }
        }
    });
    sum.plus(one_group(words, banks))
}

impl Wavefronts {
    /// Returns the sum for requests that are served one after the other.
    pub fn plus(self, other: Wavefronts) -> Wavefronts {
        Wavefronts { passes: self.passes + other.passes, ideal: self.ideal + other.ideal }
    }
}

fn sort_distinct(numbers: &mut Vec<u64>) {
    if !numbers.is_sorted() {
        numbers.sort_unstable();
    }
    numbers.dedup();
}

fn one_group(words: &mut Vec<u64>, banks: Banks) -> Wavefronts {
    sort_distinct(words);
    group_of(words.iter().copied(), banks)
}

/// Counts the passes of lanes that are served together. `words` are distinct and in ascending order, so the rows of
/// each bank are ascending, too.
fn group_of(words: impl Iterator<Item = u64>, banks: Banks) -> Wavefronts {
    if banks.bank_bytes == 4 && banks.word_bytes == 4 {
        // A word is a row of its bank.
        let mut rows = [0u16; 64];
        let (mut passes, mut all) = (0, 0);
        for word in words {
            all += 1;
            let count = &mut rows[word as usize & (banks.banks as usize - 1) & 63];
            *count += 1;
            passes = passes.max(*count);
        }
        return Wavefronts { passes: u32::from(passes), ideal: u32::div_ceil(all, banks.pass_bytes() / 4) };
    }
    let (word_log, pass_log) = (banks.word_bytes.trailing_zeros(), banks.pass_bytes().trailing_zeros());
    let mut rows = [(0u32, 0u64); 64];
    let (mut passes, mut all) = (0, 0);
    for word in words {
        all += 1;
        let bank = (word >> (word_log - 2)) as usize & (banks.banks as usize - 1);
        let row = word >> (pass_log - 2);
        let (count, last) = &mut rows[bank & 63];
        if *count == 0 || *last != row {
            *count += 1;
            *last = row;
            passes = passes.max(*count);
        }
    }
    Wavefronts { passes, ideal: u32::div_ceil(all, banks.pass_bytes() / 4) }
}

#[cfg(test)]
#[path = "banks_tests.rs"]
mod tests;
