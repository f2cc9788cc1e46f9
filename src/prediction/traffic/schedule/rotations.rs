//! Start times of the rotations of an SM.

/// Rotations, grouped into stretches. Within a stretch, every rotation has the same number of issue slots per block
/// slot.
pub(super) struct Rotations {
    slots: usize,
    /// Indexed by stretch: its first rotation, and the number of issue slots before it.
    stretches: Vec<(u32, u32)>,
    /// Indexed by stretch and slot: issue slots of the preceding block slots in a rotation. The last entry of a stretch
    /// is the total.
    before: Vec<u32>,
}

impl Rotations {
    /// Creates rotations in which no block slot issues.
    pub(super) fn new(slots: usize) -> Rotations {
        Rotations { slots, stretches: vec![(0, 0)], before: vec![0; slots + 1] }
    }

    /// Adds `more` issue slots (modulo 2^32) to a block slot from a rotation on. Changes must be added in order of
    /// rotations.
    #[inline(always)]
    pub(super) fn change(&mut self, rotation: u32, slot: usize, more: u32) {
        let width = self.slots + 1;
        let &(begin, time) = &self.stretches[self.stretches.len() - 1];
        if rotation > begin {
            let all = self.before[self.before.len() - 1];
            self.stretches.push((rotation, time + (rotation - begin) * all));
            self.before.extend_from_within(self.before.len() - width..);
        }
        let from = self.before.len() - (self.slots - slot);
        self.before[from..].iter_mut().for_each(|before| *before = before.wrapping_add(more));
    }

    /// Returns the number of the last stretch so far.
    pub(super) fn last(&self) -> u32 {
        self.stretches.len() as u32 - 1
    }

    /// Returns the number of issue slots before a block slot issues in a rotation. `stretch` is the stretch of the
    /// rotation, or an earlier one.
    #[inline(always)]
    pub(super) fn time(&self, stretch: u32, rotation: u32, slot: usize) -> u32 {
        let mut stretch = stretch as usize;
        while self.stretches.get(stretch + 1).is_some_and(|next| next.0 <= rotation) {
            stretch += 1;
        }
        let (begin, time) = self.stretches[stretch];
        let before = &self.before[stretch * (self.slots + 1)..][..=self.slots];
        time + (rotation - begin) * before[self.slots] + before[slot]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the times with a sum over all slots, rotation by rotation.
        #[test]
        fn turns_before_are_added_up(changes in prop::collection::vec((0u32..4, 0usize..3, 0u32..5), 0..20)) {
            let mut found = Rotations::new(3);
            let mut live = [0u32; 3];
            // Issue slots of the block slots, by rotation.
            let mut given: Vec<[u32; 3]> = Vec::new();
            let mut rotation = 0;
            for (later, slot, turns) in changes {
                given.extend((0..later).map(|_| live));
                rotation += later;
                found.change(rotation, slot, turns.wrapping_sub(live[slot]));
                live[slot] = turns;
            }
            given.extend([live; 3]);
            for rotation in 0..given.len() {
                for slot in 0..3 {
                    let before: u32 = given[..rotation].iter().flatten().sum();
                    let own: u32 = given[rotation][..slot].iter().sum();
                    prop_assert_eq!(found.time(0, rotation as u32, slot), before + own);
                }
            }
        }
    }
}
