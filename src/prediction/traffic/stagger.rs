//! When blocks that run side by side make their accesses.
//!
//! Blocks of one length keep step: a wave of them makes its first requests, then the next ones, and the next wave follows. Where some end early, as at the edges
//! of an array, the others come out of step by and by, until a block begins whenever another one ends: then a wave's blocks are staggered over the code,
//! and an access at the share `s` of it is made by the block that began a share `s` of a wave earlier. In a time that is counted in blocks begun, what a
//! stretch touches is a union of runs of blocks in both cases, one for each part of the code. Of a stencil's planes, those that the code
//! loads first and those that it loads last are up to a wave apart, which decides what L2 still has of them. What a warp does in one
//! turn is done at a time.

use super::replay::turns_of;
use super::volumes::{Affine, Blocks, boxes};

/// Turns up to which each is a part of the code, and parts of longer codes. More of them come nearer to the simulation in the mean, but take as much longer;
/// see `docs/design/prediction.md`.
const MOST_TURNS: usize = 6;
const PARTS: usize = 2;
/// A share that does not matter.
const LITTLE: f64 = 1e-3;

/// How a launch's blocks come to their accesses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Blocks that run side by side.
    pub(super) wave: u64,
    /// Requests of a warp's turn; `None` where a wave makes all its accesses at a time.
    pub(super) turn: Option<u32>,
    /// The share of the blocks that come out of step with each wave.
    pub(super) ends_early: f64,
}

/// When the parts of the code are run, in blocks begun.
#[derive(Debug)]
pub(super) struct Stagger {
    /// By access: its part.
    pub(super) part_of: Vec<usize>,
    /// By part: the blocks that begin between the first part's accesses and its own.
    delays: Vec<u64>,
    progress: Progress,
    blocks: u64,
    grid: [u32; 3],
}

/// Boxes of blocks, by part of the code.
#[derive(Debug)]
pub(super) struct Stretch(Vec<Vec<Blocks>>);

impl Stagger {
    /// Of accesses in the order of the code.
    pub(super) fn new(accesses: &[Affine], progress: Progress, grid: [u32; 3]) -> Stagger {
        let turns = progress.turn.map_or_else(|| vec![0; accesses.len()], |turn| turns_of(accesses, turn));
        let all = turns.last().map_or(1, |last| last + 1);
        let parts = if all <= MOST_TURNS { all } else { PARTS };
        let progress = Progress { wave: progress.wave.max(1), ..progress };
        Stagger {
            part_of: turns.into_iter().map(|turn| turn * parts / all).collect(),
            delays: (0..parts as u64).map(|part| part * progress.wave / parts as u64).collect(),
            progress,
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
        let is_in_step = self.delays.len() > 1 && self.progress.ends_early < 1.0;
        let begun = if is_in_step { self.blocks.next_multiple_of(self.progress.wave) } else { self.blocks };
        begun + self.under_way()
    }

    /// Whether blocks in the midst of the launch still keep step.
    pub(super) fn is_in_step(&self) -> bool {
        self.delays.len() > 1 && self.in_step(self.blocks / self.progress.wave / 2) >= LITTLE
    }

    /// The share of blocks that keep step after so many waves.
    fn in_step(&self, waves: u64) -> f64 {
        (1.0 - self.progress.ends_early).powf(waves as f64)
    }

    /// Blocks that have run a part of the code by a time, which begins so much later than the first one.
    fn done(&self, time: u64, delay: u64) -> u64 {
        let waves = time / self.progress.wave;
        let now = self.done_after(waves, time, delay);
        // Blocks that come out of step with a wave are not taken back what they have done.
        match (waves * self.progress.wave).checked_sub(1) {
            Some(before) => now.max(self.done_after(waves - 1, before, delay)),
            None => now,
        }
    }

    /// The same as far as blocks are in step after so many waves.
    fn done_after(&self, waves: u64, time: u64, delay: u64) -> u64 {
        let wave = self.progress.wave;
        let staggered = time.saturating_sub(delay).min(self.blocks);
        let in_step = self.in_step(waves);
        if in_step < LITTLE {
            return staggered;
        }
        // Each part is run by a whole wave before the next one.
        let parts = self.delays.len() as u64;
        let of_wave = (time - waves * wave).saturating_sub(delay).saturating_mul(parts).min(wave);
        let together = (waves * wave + of_wave).min(self.blocks);
        (together as f64 * in_step + staggered as f64 * (1.0 - in_step)).round() as u64
    }

    /// The blocks that run each part of the code between two times.
    pub(super) fn stretch(&self, first: u64, end: u64) -> Stretch {
        let of = |&delay: &u64| boxes(self.done(first, delay), self.done(end, delay), self.grid);
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
    use crate::form::{Form, Truth};

    fn access(site: usize) -> Affine {
        Affine { site, item: site, ..Affine::load(Form::number(0), Truth::Known(true), 4) }
    }

    fn stagger(accesses: &[Affine], turn: Option<u32>, ends_early: f64) -> Stagger {
        Stagger::new(accesses, Progress { wave: 4, turn, ends_early }, [10, 1, 1])
    }

    fn x(stagger: &Stagger, first: u64, end: u64) -> [Vec<(i64, i64)>; 2] {
        let stretch = stagger.stretch(first, end);
        [0, 1].map(|part| stretch.of(part).iter().map(|own| own[0]).collect())
    }

    #[test]
    fn later_accesses_are_made_half_a_wave_later() {
        // Cases of the second site are in one place.
        let accesses = [access(0), access(3), access(3), access(5), access(9)];
        let stagger = stagger(&accesses, Some(2), 1.0);
        assert_eq!(stagger.part_of, [0, 0, 0, 1, 1]);
        assert_eq!((stagger.under_way(), stagger.end()), (2, 12));
        assert_eq!(x(&stagger, 4, 7), [vec![(4, 6)], vec![(2, 4)]]);
        assert_eq!(x(&stagger, 9, 12), [vec![(9, 9)], vec![(7, 9)]]);
    }

    #[test]
    fn blocks_in_step_run_one_part_after_the_other() {
        let accesses = [access(0), access(1), access(2), access(3)];
        let stagger = stagger(&accesses, Some(2), 0.0);
        assert_eq!(x(&stagger, 0, 2), [vec![(0, 3)], vec![]]);
        assert_eq!(x(&stagger, 2, 4), [vec![], vec![(0, 3)]]);
        assert_eq!(x(&stagger, 1, 5), [vec![(2, 5)], vec![(0, 3)]]);
        // The last wave is not whole.
        assert_eq!(x(&stagger, 8, stagger.end()), [vec![(8, 9)], vec![(8, 9)]]);
        // They come out of it with the waves that have gone by.
        let later = self::stagger(&accesses, Some(2), 0.5);
        assert_eq!(x(&later, 0, 2), x(&stagger, 0, 2));
        assert_eq!(x(&later, 4, 6), [vec![(4, 6)], vec![(3, 3)]]);
    }

    #[test]
    fn blocks_together_are_not_told_apart() {
        for turn in [None, Some(2)] {
            let stagger = stagger(&[access(0), access(1)], turn, 0.0);
            assert_eq!((&stagger.part_of[..], stagger.end()), (&[0, 0][..], 10));
            assert_eq!(stagger.stretch(4, 8).of(0).len(), 1);
        }
    }
}
