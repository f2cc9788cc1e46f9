//! When blocks have their turns far from a launch's begin.
//!
//! Blocks that end early, at an array's edges, let those behind them begin sooner, so that after some waves blocks end at any time, one after the other: as many
//! of them are under way as SMs hold, spread evenly over the time that one takes. An SM that gets a block gets the next one when that is over. Which SM a block has is
//! as good as chance, but where neighbours are alike they have gone to neighbours from the begin on.

use super::sample::golden;
use crate::prediction::form::gcd;

/// Blocks, each a little later than the one before.
pub(super) struct UnderWay {
    /// The first one.
    first: u64,
    /// As many as SMs hold.
    wave: u32,
    /// Blocks that go to neighbouring SMs at a time, of which the SMs' number is a multiple.
    group: u32,
    /// Groups of places.
    groups: u32,
    /// Of these, from one that gets blocks to the one that does so next: it has no divisor in common with their number.
    step: u32,
    /// The same from one wave to the next, where sides change by chance.
    shift: u32,
    /// Groups of SMs.
    groups_of_sms: u32,
    /// Turns that an SM gives in a rotation.
    of_rotation: u32,
    /// The same from one block to the next.
    apart: f64,
}

impl UnderWay {
    /// From a block on, where SMs hold so many blocks each, of so many warps with so many turns.
    pub(super) fn new(first: u64, (sms, resident): (u32, u32), (warps, turns): (u32, u32), group: u32) -> UnderWay {
        let group = if sms.is_multiple_of(group) { group } else { 1 };
        let wave = sms * resident;
        let groups = wave / group;
        let part = |number: u64| (golden(number) * f64::from(groups)) as u32;
        let of_rotation = resident * warps;
        UnderWay {
            first,
            wave,
            group,
            groups,
            step: (part(1).max(1)..).find(|step| gcd((*step).into(), groups.into()) == 1).unwrap_or(1),
            shift: if group == 1 { part(2) | 1 } else { 0 },
            groups_of_sms: sms / group,
            of_rotation,
            apart: f64::from(of_rotation) * f64::from(turns) / f64::from(wave),
        }
    }

    /// When a warp of a block has a turn, and on which SM.
    #[inline(always)]
    pub(super) fn at(&self, block: u64, warp: u32, turn: u32) -> (u32, u16) {
        let number = (block - self.first) as u32;
        let (wave, in_wave) = (number / self.wave, number % self.wave);
        let (group, member) = if self.group == 1 { (in_wave, 0) } else { (in_wave / self.group, in_wave % self.group) };
        let place =
            (u64::from(group) * u64::from(self.step) + u64::from(wave) * u64::from(self.shift)) as u32 % self.groups;
        let sm = place % self.groups_of_sms * self.group + member;
        let begin = (f64::from(number - member) * self.apart) as u32;
        (begin + turn * self.of_rotation + warp, sm as u16)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In the time that a block takes every SM begins as many as it holds, and of pairs of neighbours each has its side.
        #[test]
        fn sms_hold_what_they_hold(sms in 1u32..9, resident in 1u32..5, warps in 1u32..4, turns in 1u32..6, first in 0u64..50, waves in 1u64..5,
                pairs in any::<bool>()) {
            let (first, group) = if pairs { (2 * first, 2) } else { (first, 1) };
            let all = UnderWay::new(first, (sms, resident), (warps, turns), group);
            let wave = u64::from(sms * resident);
            let mut last = 0;
            for from in (first..first + waves * wave).step_by(wave as usize) {
                let mut of_sm = vec![0; sms as usize];
                for block in from..from + wave {
                    let (begin, sm) = all.at(block, 0, 0);
                    of_sm[usize::from(sm)] += 1;
                    prop_assert!(begin >= last);
                    last = begin;
                    // It is over when the one that comes a wave later begins.
                    let after = all.at(block + wave, 0, 0).0;
                    prop_assert!(after.abs_diff(begin + resident * warps * turns) <= 1);
                    prop_assert!(all.at(block, warps - 1, turns - 1).0 < all.at(block + wave, 0, 0).0);
                    if pairs && sms % 2 == 0 {
                        prop_assert_eq!(u64::from(sm) % 2, block % 2);
                    }
                }
                prop_assert!(of_sm.iter().all(|&blocks| blocks == resident), "{:?}", of_sm);
            }
        }
    }
}
