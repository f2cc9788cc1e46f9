//! Passes of a request through the stages of L1: tags, then data.
//!
//! The rule for the data stage is that of banks (see [`Banks`](crate::geometry::Banks)); the one for the tag stage was fitted to
//! hardware counters of an A100 and checked on an H200: a pass looks up one line per tag bank, and the
//! bank of a line is the exclusive or of all groups of bits of its number.

use super::piece::Piece;

/// Passes of a set of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCounts {
    /// Through the data stage.
    pub data: u64,
    /// Through the data stage if the same words lay in different banks.
    pub ideal_data: u64,
    /// Through the tag stage.
    pub tag: u64,
    /// Words of 4 bytes per lane that the load/store units move: 1 for a request of 4 bytes a lane.
    pub words: u64,
}

impl StageCounts {
    /// Adds another sum.
    pub fn add(&mut self, other: &StageCounts) {
        self.data += other.data;
        self.ideal_data += other.ideal_data;
        self.tag += other.tag;
        self.words += other.words;
    }
}

/// Passes through a tag stage of `banks` banks (a power of two): the most lines that one bank has.
#[inline]
pub fn tag_passes(pieces: &[Piece], banks: u32) -> u32 {
    if pieces.len() <= 1 || banks <= 1 {
        return pieces.len() as u32;
    }
    let mut lines = [0u32; 64];
    let mut most = 0;
    for piece in pieces {
        let count = &mut lines[bank_of(piece.line, banks) as usize];
        *count += 1;
        most = most.max(*count);
    }
    most
}

/// Bank of a line: the exclusive or of the groups of bits of its number, each as wide as a bank's.
#[inline]
fn bank_of(line: u64, banks: u32) -> u32 {
    let bits = banks.trailing_zeros().clamp(1, 6);
    let mut folded = line;
    if bits.is_power_of_two() {
        let mut shift = 32;
        while shift >= bits {
            folded ^= folded >> shift;
            shift /= 2;
        }
    } else {
        let mut rest = line >> bits;
        while rest != 0 {
            folded ^= rest;
            rest >>= bits;
        }
    }
    folded as u32 & (banks - 1)
}

#[cfg(test)]
#[path = "stages_tests.rs"]
mod tests;
