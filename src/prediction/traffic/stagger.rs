//! When blocks that run side by side make their accesses.
//!
//! Once a launch is under way a block begins whenever another one ends, so a wave's blocks are staggered over the code: an access at
//! the share `s` of it is made by the block that began a share `s` of a wave earlier. In a time that is counted in blocks begun, what a
//! stretch touches is a union of runs of blocks, one for each part of the code. Of a stencil's planes, those that the code
//! loads first and those that it loads last are up to a wave apart, which decides what L2 still has of them.

use super::volumes::{Affine, Blocks, boxes};

/// Parts of the code that are told apart. More of them come nearer to the simulation in the mean, but order shapes no better, and take twice as
/// long; see `docs/design/prediction.md`.
const PARTS: u64 = 2;

/// When the parts of the code are run, in blocks begun.
#[derive(Debug)]
pub(super) struct Stagger {
    /// By access: its part.
    pub(super) part_of: Vec<usize>,
    /// By part: the blocks that begin between the first part's accesses and its own.
    delays: Vec<u64>,
    blocks: u64,
    grid: [u32; 3],
}

/// Boxes of blocks, by part of the code.
#[derive(Debug)]
pub(super) struct Stretch(Vec<Vec<Blocks>>);

impl Stagger {
    /// Of a wave of so many blocks. `together`, it makes all its accesses at a time.
    pub(super) fn new(accesses: &[Affine], wave: u64, together: bool, grid: [u32; 3]) -> Stagger {
        // Cases of a site are in the same place.
        let mut sites: Vec<usize> = accesses.iter().map(|access| access.site).collect();
        sites.sort_unstable();
        sites.dedup();
        let parts = if together { 1 } else { PARTS.min(sites.len() as u64).max(1) };
        let part = |access: &Affine| {
            let place = sites.partition_point(|&site| site < access.site) as u64;
            (place * parts / sites.len().max(1) as u64) as usize
        };
        Stagger {
            part_of: accesses.iter().map(part).collect(),
            delays: (0..parts).map(|part| part * wave / parts).collect(),
            blocks: grid.iter().map(|&size| u64::from(size)).product(),
            grid,
        }
    }

    /// The time from which on all parts of the code are run.
    pub(super) fn under_way(&self) -> u64 {
        self.delays.last().copied().unwrap_or(0)
    }

    /// The time after which all is over.
    pub(super) fn end(&self) -> u64 {
        self.blocks + self.under_way()
    }

    /// The blocks that run each part of the code between two times.
    pub(super) fn stretch(&self, first: u64, end: u64) -> Stretch {
        let of = |delay: &u64| {
            let at = |time: u64| time.saturating_sub(*delay).min(self.blocks);
            boxes(at(first), at(end), self.grid)
        };
        Stretch(self.delays.iter().map(of).collect())
    }
}

impl Stretch {
    /// Of a part.
    pub(super) fn of(&self, part: usize) -> &[Blocks] {
        self.0.get(part).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::form::{Form, Truth};

    fn access(site: usize) -> Affine {
        Affine { site, ..Affine::load(Form::number(0), Truth::Known(true), 4) }
    }

    #[test]
    fn later_accesses_are_made_half_a_wave_later() {
        // Cases of the second site are in one place.
        let accesses = [access(0), access(3), access(3), access(5), access(9)];
        let stagger = Stagger::new(&accesses, 4, false, [10, 1, 1]);
        assert_eq!(stagger.part_of, [0, 0, 0, 1, 1]);
        assert_eq!((stagger.under_way(), stagger.end()), (2, 12));
        let x = |boxes: &[Blocks]| boxes.iter().map(|own| own[0]).collect::<Vec<_>>();
        let of = |first, end| [0, 1].map(|part| x(stagger.stretch(first, end).of(part)));
        assert_eq!(of(0, 2), [vec![(0, 1)], vec![]]);
        assert_eq!(of(4, 7), [vec![(4, 6)], vec![(2, 4)]]);
        assert_eq!(of(9, 12), [vec![(9, 9)], vec![(7, 9)]]);
    }

    #[test]
    fn blocks_together_are_not_told_apart() {
        let stagger = Stagger::new(&[access(0), access(1)], 4, true, [10, 1, 1]);
        assert_eq!((&stagger.part_of[..], stagger.end()), (&[0, 0][..], 10));
        assert_eq!(stagger.stretch(4, 8).of(0).len(), 1);
    }
}
