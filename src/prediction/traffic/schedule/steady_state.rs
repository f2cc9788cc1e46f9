//! When blocks have their turns far from a launch's begin.
//!
//! Blocks that end early, at an array's edges, let those after them begin sooner, so that after some waves blocks end at any time, one after the other: as many
//! of them are under way as SMs hold, spread evenly over the time that one takes. An SM that gets a block gets the next one when that has ended. Which SM a block has is
//! as good as chance.

use super::golden;
use crate::form::gcd;

/// Blocks, each a little later than the one before.
pub(super) struct SteadyState {
    /// The first one.
    first: u64,
    /// As many as SMs hold.
    wave: u32,
    /// Number of SMs.
    sms: u32,
    /// Distance between the block slots of consecutive blocks; coprime to their number.
    step: u32,
    /// Additional distance from one wave to the next.
    shift: u32,
    /// Turns that an SM gives in a rotation.
    of_rotation: u32,
    /// The same from one block to the next.
    apart: f64,
}

impl SteadyState {
    /// Creates a `SteadyState` from a block on, where SMs hold this many blocks each, of so many warps with this many turns.
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

    /// When a warp of a block has a turn, and on which SM.
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
        /// In the time that a block takes every SM begins as many as it holds.
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
                    // It has ended when the one that comes a wave later begins.
                    let after = all.at(block + wave, 0, 0).0;
                    prop_assert!(after.abs_diff(begin + resident * warps * turns) <= 1);
                    prop_assert!(all.at(block, warps - 1, turns - 1).0 < all.at(block + wave, 0, 0).0);
                }
                prop_assert!(of_sm.iter().all(|&blocks| blocks == resident), "{:?}", of_sm);
            }
        }
    }
}
