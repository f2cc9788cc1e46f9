//! Computes the issue times of blocks far from the start of a launch.
//!
//! Blocks at the edges of an array end early, so the blocks after them start sooner. After some waves, blocks end at
//! any time, one after the other. The resident blocks are then spread evenly over the duration of a block. An SM gets
//! its next block when one of its blocks ends, and the assignment of blocks to SMs is effectively random.

use super::golden;
use crate::form::gcd;

/// Blocks that each start a little later than the previous one.
pub(super) struct SteadyState {
    /// The first block.
    first: u64,
    /// Number of resident blocks on all SMs.
    wave: u32,
    /// Number of SMs.
    sms: u32,
    /// Distance between the block slots of consecutive blocks; coprime to their number.
    step: u32,
    /// Additional distance from one wave to the next.
    shift: u32,
    /// Issue slots of an SM in a rotation.
    of_rotation: u32,
    /// Issue slots from the start of one block to the start of the next.
    apart: f64,
}

impl SteadyState {
    /// Creates a `SteadyState` that starts at a block. SMs have this many resident blocks, each with this many warps
    /// and issue slots per warp.
    pub(super) fn new(first: u64, (sms, resident): (u32, u32), (warps, turns): (u32, u32)) -> SteadyState {
        let wave = sms * resident;
        let part = |number: u64| (golden(number) * f64::from(wave)) as u32;
        let of_rotation = resident * warps;
        SteadyState {
            first,
            wave,
            sms,
            step: (part(1).max(1)..).find(|step| gcd((*step).into(), wave.into()) == 1).unwrap_or(1),
            shift: part(2) | 1,
            of_rotation,
            apart: f64::from(of_rotation) * f64::from(turns) / f64::from(wave),
        }
    }

    /// Returns the time and the SM of an issue slot of a warp.
    #[inline(always)]
    pub(super) fn at(&self, block: u64, warp: u32, turn: u32) -> (u32, u16) {
        let number = (block - self.first) as u32;
        let (wave, in_wave) = (number / self.wave, number % self.wave);
        let slot = u64::from(in_wave) * u64::from(self.step) + u64::from(wave) * u64::from(self.shift);
        let sm = (slot % u64::from(self.wave)) as u32 % self.sms;
        let begin = (f64::from(number) * self.apart) as u32;
        (begin + turn * self.of_rotation + warp, sm as u16)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// During the duration of one block, every SM starts as many blocks as it holds.
        #[test]
        fn sms_hold_what_they_hold(sms in 1u32..9, resident in 1u32..5, warps in 1u32..4, turns in 1u32..6, first in 0u64..50, waves in 1u64..5) {
            let all = SteadyState::new(first, (sms, resident), (warps, turns));
            let wave = u64::from(sms * resident);
            let mut last = 0;
            for from in (first..first + waves * wave).step_by(wave as usize) {
                let mut of_sm = vec![0; sms as usize];
                for block in from..from + wave {
                    let (begin, sm) = all.at(block, 0, 0);
                    of_sm[usize::from(sm)] += 1;
                    prop_assert!(begin >= last);
                    last = begin;
                    // A block has ended when the block one wave later starts.
                    let after = all.at(block + wave, 0, 0).0;
                    prop_assert!(after.abs_diff(begin + resident * warps * turns) <= 1);
                    prop_assert!(all.at(block, warps - 1, turns - 1).0 < all.at(block + wave, 0, 0).0);
                }
                prop_assert!(of_sm.iter().all(|&blocks| blocks == resident), "{:?}", of_sm);
            }
        }
    }
}
