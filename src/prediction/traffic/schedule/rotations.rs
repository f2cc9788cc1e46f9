//! When the rotations of an SM begin.

/// Rotations, in stretches in which each place of the SM gives as many turns in one of them as in the next.
pub(super) struct Rotations {
    places: usize,
    /// By stretch: its first rotation, and the turns given before that.
    stretches: Vec<(u32, u32)>,
    /// By stretch and place: turns that the places before it give in a rotation. Behind those of a stretch, what all places give.
    before: Vec<u32>,
}

impl Rotations {
    /// Of places that give none.
    pub(super) fn new(places: usize) -> Rotations {
        Rotations { places, stretches: vec![(0, 0)], before: vec![0; places + 1] }
    }

    /// A place gives so many turns more, modulo 2^32, from a rotation on, which is not before the last change.
    #[inline(always)]
    pub(super) fn change(&mut self, rotation: u32, place: usize, more: u32) {
        let width = self.places + 1;
        let &(begin, time) = &self.stretches[self.stretches.len() - 1];
        if rotation > begin {
            let all = self.before[self.before.len() - 1];
            self.stretches.push((rotation, time + (rotation - begin) * all));
            self.before.extend_from_within(self.before.len() - width..);
        }
        let from = self.before.len() - (self.places - place);
        self.before[from..].iter_mut().for_each(|before| *before = before.wrapping_add(more));
    }

    /// Number of the last stretch so far.
    pub(super) fn last(&self) -> u32 {
        self.stretches.len() as u32 - 1
    }

    /// Turns given before a place has its own in a rotation. `stretch`: the one in which the rotation lies, or one before.
    #[inline(always)]
    pub(super) fn time(&self, stretch: u32, rotation: u32, place: usize) -> u32 {
        let mut stretch = stretch as usize;
        while self.stretches.get(stretch + 1).is_some_and(|next| next.0 <= rotation) {
            stretch += 1;
        }
        let (begin, time) = self.stretches[stretch];
        let before = &self.before[stretch * (self.places + 1)..][..=self.places];
        time + (rotation - begin) * before[self.places] + before[place]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against adding up the turns of all places, rotation by rotation.
        #[test]
        fn turns_before_are_added_up(changes in prop::collection::vec((0u32..4, 0usize..3, 0u32..5), 0..20)) {
            let mut found = Rotations::new(3);
            let mut live = [0u32; 3];
            // By rotation: what places give.
            let mut given: Vec<[u32; 3]> = Vec::new();
            let mut rotation = 0;
            for (later, place, turns) in changes {
                given.extend((0..later).map(|_| live));
                rotation += later;
                found.change(rotation, place, turns.wrapping_sub(live[place]));
                live[place] = turns;
            }
            given.extend([live; 3]);
            for rotation in 0..given.len() {
                for place in 0..3 {
                    let before: u32 = given[..rotation].iter().flatten().sum();
                    let own: u32 = given[rotation][..place].iter().sum();
                    prop_assert_eq!(found.time(0, rotation as u32, place), before + own);
                }
            }
        }
    }
}
