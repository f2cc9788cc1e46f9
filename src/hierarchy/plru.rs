//! Tree pseudo-LRU over any number of leaves.
//!
//! The tree is the left-complete binary one: inner nodes and leaves in breadth-first order, node `h`
//! (from 1) has the children `2h` and `2h + 1`, leaf `i` of `n` is node `n + i`. Each inner node has
//! one bit that names the side to evict from next; a use points all bits of its path away from it.
//! Six levels are packed into one word, so a path of nine levels touches two words.

/// Levels per word.
const LEVELS: u32 = 6;

/// Bits of the path to a node of a word (numbered as in the tree, from 1): which, and their values after a use.
const PATHS: [(u64, u64); 128] = {
    let mut table = [(0u64, 0u64); 128];
    let mut node = 2;
    while node < 128 {
        let inner = node / 2;
        let (mask, value) = table[inner];
        table[node] = (mask | 1 << inner, value | ((node as u64 & 1 ^ 1) << inner));
        node += 1;
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

impl TreePlru {
    /// A fresh tree, all bits zero: the first victim is the leftmost leaf. `leaves` is at least 1.
    pub fn new(leaves: u32) -> TreePlru {
        let leaves = leaves.max(1);
        let deepest = (2 * leaves - 1).ilog2();
        let steps = deepest.div_ceil(LEVELS).max(1);
        // 1 + 64 + 64² + …
        let words = (0..steps).fold(0, |words, _| 64 * words + 1);
        TreePlru { leaves, words: vec![0; words] }
    }

    /// Marks a leaf as just used.
    #[inline]
    pub fn touch(&mut self, leaf: u32) {
        let node = self.leaves + leaf;
        let mut below = node.ilog2();
        let (mut first, mut width) = (0, 1);
        while below != 0 {
            let here = below.min(LEVELS);
            let root = node >> below;
            below -= here;
            let within = (node >> below) & ((1 << here) - 1) | 1 << here;
            let (mask, value) = PATHS[within as usize & 127];
            let word = &mut self.words[first + (root - width) as usize];
            *word = (*word & !mask) | value;
            (first, width) = (64 * first + 1, width << LEVELS);
        }
    }

    /// The leaf the bits point at.
    #[inline]
    pub fn victim(&self) -> u32 {
        let mut node = 1;
        let (mut first, mut width) = (0, 1);
        while node < self.leaves {
            (node, _) = self.descend(node, self.words[first + (node - width) as usize]);
            (first, width) = (64 * first + 1, width << LEVELS);
        }
        node - self.leaves
    }

    /// The leaf the bits point at, marked as just used: its whole path turns round.
    #[inline]
    pub fn take_victim(&mut self) -> u32 {
        let mut node = 1;
        let (mut first, mut width) = (0, 1);
        while node < self.leaves {
            let index = first + (node - width) as usize;
            let word = self.words[index];
            let within;
            (node, within) = self.descend(node, word);
            self.words[index] = word ^ PATHS[within as usize & 127].0;
            (first, width) = (64 * first + 1, width << LEVELS);
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
