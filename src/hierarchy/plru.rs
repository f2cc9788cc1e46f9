//! Tree pseudo-LRU over any number of leaves.
//!
//! The tree is the left-complete binary one: inner nodes and leaves in breadth-first order, node `h`
//! (from 1) has the children `2h` and `2h + 1`, leaf `i` of `n` is node `n + i`. Each inner node has
//! one bit that names the side to evict from next; a use points all bits of its path away from it.
//! Six levels are packed into one word, so a path of nine levels touches two words.

/// Levels per word.
const LEVELS: u32 = 6;

/// Bits of a path within a word: which, and their values, by depth (0 to 6) and end.
const PATHS: [[(u64, u64); 64]; 7] = {
    let mut table = [[(0u64, 0u64); 64]; 7];
    let mut depth = 0;
    while depth <= 6 {
        let mut end = 0;
        while end < 1 << depth {
            let node = (1usize << depth) | end;
            let mut mask = 0;
            let mut value = 0;
            let mut level = 0;
            while level < depth {
                let inner = node >> (depth - level);
                let side = node >> (depth - level - 1) & 1;
                mask |= 1 << inner;
                if side == 0 {
                    value |= 1 << inner;
                }
                level += 1;
            }
            table[depth][end] = (mask, value);
            end += 1;
        }
        depth += 1;
    }
    table
};

/// The state of one set.
#[derive(Clone, Debug)]
pub struct TreePlru {
    leaves: u32,
    /// Words of the subtrees whose roots lie at depth 0, 6, 12, …; those of one depth together.
    words: Vec<u64>,
}

/// Index of the first word of subtrees with their root at depth `6 · step`.
#[inline(always)]
fn first_word(step: u32) -> usize {
    // 1 + 64 + 64² + …
    const FIRST: [usize; 8] = {
        let mut table = [0; 8];
        let mut step = 1;
        while step < 8 {
            table[step] = 64 * table[step - 1] + 1;
            step += 1;
        }
        table
    };
    FIRST[(step & 7) as usize]
}

impl TreePlru {
    /// A fresh tree, all bits zero: the first victim is the leftmost leaf. `leaves` is at least 1.
    pub fn new(leaves: u32) -> TreePlru {
        let leaves = leaves.max(1);
        let deepest = (2 * leaves - 1).ilog2();
        let steps = deepest.div_ceil(LEVELS).max(1);
        TreePlru { leaves, words: vec![0; first_word(steps)] }
    }

    /// Marks a leaf as just used.
    #[inline]
    pub fn touch(&mut self, leaf: u32) {
        let node = self.leaves + leaf;
        let depth = node.ilog2();
        let mut step = 0;
        while LEVELS * step < depth {
            let here = (depth - LEVELS * step).min(LEVELS);
            let root = node >> (depth - LEVELS * step);
            let end = (node >> (depth - LEVELS * step - here)) & ((1 << here) - 1);
            let word = &mut self.words[first_word(step) + (root as usize - (1 << (LEVELS * step)))];
            let (mask, value) = PATHS[here as usize][end as usize];
            *word = (*word & !mask) | value;
            step += 1;
        }
    }

    /// The leaf the bits point at.
    #[inline]
    pub fn victim(&self) -> u32 {
        let mut node = 1;
        let mut step = 0;
        while node < self.leaves {
            let index = first_word(step) + (node as usize - (1 << (LEVELS * step)));
            (node, _) = self.descend(node, self.words[index]);
            step += 1;
        }
        node - self.leaves
    }

    /// The leaf the bits point at, marked as just used: its whole path turns round.
    #[inline]
    pub fn take_victim(&mut self) -> u32 {
        let mut node = 1;
        let mut step = 0;
        while node < self.leaves {
            let index = first_word(step) + (node as usize - (1 << (LEVELS * step)));
            let word = self.words[index];
            let within;
            (node, within) = self.descend(node, word);
            let depth = within.ilog2();
            self.words[index] = word ^ PATHS[depth.min(6) as usize][(within - (1 << depth)) as usize & 63].0;
            step += 1;
        }
        node - self.leaves
    }

    /// Follows the bits of one word down from `node`: the node where it ends, and that node's number in the word.
    #[inline(always)]
    fn descend(&self, mut node: u32, word: u64) -> (u32, u32) {
        let mut within = 1u32;
        if node < self.leaves >> (LEVELS - 1) {
            // All six levels are inner nodes.
            for _ in 0..LEVELS {
                within = 2 * within + (word >> within & 1) as u32;
            }
            return ((node << LEVELS) + (within - (1 << LEVELS)), within);
        }
        while within < 64 && node < self.leaves {
            let side = (word >> within & 1) as u32;
            within = 2 * within + side;
            node = 2 * node + side;
        }
        (node, within)
    }

    /// Back to the fresh state.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One flag per node.
    struct Slow {
        leaves: usize,
        right: Vec<bool>,
    }

    impl Slow {
        fn touch(&mut self, leaf: usize) {
            let mut node = self.leaves + leaf;
            while node > 1 {
                self.right[node / 2] = node.is_multiple_of(2);
                node /= 2;
            }
        }

        fn victim(&self) -> usize {
            let mut node = 1;
            while node < self.leaves {
                node = 2 * node + usize::from(self.right[node]);
            }
            node - self.leaves
        }
    }

    proptest! {
        #[test]
        fn words_agree_with_single_bits(leaves in prop_oneof![1u32..20, Just(456u32), 60u32..70, 4000u32..5000],
                                        uses in prop::collection::vec(any::<u32>(), 0..300)) {
            let mut fast = TreePlru::new(leaves);
            let mut slow = Slow { leaves: leaves as usize, right: vec![false; leaves as usize] };
            for number in uses {
                prop_assert_eq!(fast.victim() as usize, slow.victim());
                // Follow the victim half of the time, so that the state is a cache's.
                let leaf = if number % 2 == 0 {
                    fast.take_victim()
                } else {
                    fast.touch(number % leaves);
                    number % leaves
                };
                slow.touch(leaf as usize);
            }
        }
    }

    #[test]
    fn every_leaf_comes_before_one_comes_again() {
        let mut tree = TreePlru::new(456);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..256 {
            let victim = tree.victim();
            tree.touch(victim);
            assert!(seen.insert(victim));
        }
    }
}
