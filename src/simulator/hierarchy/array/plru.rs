//! Tree pseudo-LRU over any number of leaves.
//!
//! The tree is a left-complete binary tree whose nodes are numbered in breadth-first order. Node `h` (counted from 1)
//! has the children `2h` and `2h + 1`; leaf `i` of `n` is node `n + i`. Each inner node has one bit that points to the
//! side to evict from next. A use sets all bits on the leaf's path to point away from it.
//!
//! Three levels are packed into one byte, and a table maps the bits of a byte to the selected leaf. For example, 456
//! leaves take 73 bytes, and a victim is found in three steps.

/// Tree levels per byte.
const LEVELS: u32 = 3;

/// Indexed by the value of a byte: the path that its bits select (three turns, the first one highest), and the byte
/// after that path was used. Bit `b` belongs to node `b` of the byte's subtree, numbered from 1 as in the tree.
const STEPS: [(u8, u8); 256] = {
    let mut table = [(0, 0); 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut node, mut after) = (1, bits);
        while node < 8 {
            after ^= 1 << node;
            node = 2 * node + (bits >> node & 1);
        }
        table[bits] = ((node - 8) as u8, after as u8);
        bits += 1;
    }
    table
};

/// Indexed by three turns: the bits of the byte on that path, and their values after a use.
const PATHS: [(u8, u8); 8] = {
    let mut table = [(0, 0); 8];
    let mut turns = 0;
    while turns < 8 {
        let mut node = 8 + turns;
        while node > 1 {
            let inner = node / 2;
            table[turns].0 |= 1 << inner;
            table[turns].1 |= ((node as u8 & 1) ^ 1) << inner;
            node = inner;
        }
        turns += 1;
    }
    table
};

/// Number of bytes above each group of three levels: 1 + 8 + 64 and so on.
const ABOVE: [usize; 11] = {
    let mut table = [0; 11];
    let mut step = 1;
    while step < 11 {
        table[step] = 8 * table[step - 1] + 1;
        step += 1;
    }
    table
};

/// Shape of a tree. Levels are counted from the bottom, three per byte. The byte of the root may contain unused levels,
/// which are not read.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    leaves: u32,
    /// Depth of the deepest leaves.
    depth: u32,
    /// Number of bytes on a path, at least one.
    steps: u32,
    /// Number of unused levels in the root's byte.
    lacking: u32,
}

impl Shape {
    fn new(leaves: u32) -> Shape {
        let leaves = leaves.max(1);
        let depth = (2 * leaves - 1).ilog2();
        let steps = depth.div_ceil(LEVELS).max(1);
        let lacking = LEVELS * steps - depth;
        Shape { leaves, depth, steps, lacking }
    }

    /// Returns the number of bytes on a path.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Marks a leaf of a tree as just used. `steps` is [`Shape::steps`].
    #[inline(always)]
    pub fn touch(&self, tree: &mut [u8], leaf: u32, steps: u32) {
        // All leaves are treated as being on the lowest level. For a leaf one level higher, the byte has one unused
        // bit.
        let node = self.leaves + leaf;
        let path = (node << u32::from(node >> self.depth == 0)) & !(1 << self.depth);
        let turns = (path >> (LEVELS * (steps - 1))) << self.lacking;
        let (on_path, used) = PATHS[turns as usize & 7];
        tree[0] = tree[0] & !on_path | used;
        for step in 1..steps {
            let below = LEVELS * (steps - 1 - step);
            let (on_path, used) = PATHS[(path >> below) as usize & 7];
            let byte = &mut tree[ABOVE[step as usize] + (path >> (below + LEVELS)) as usize];
            *byte = *byte & !on_path | used;
        }
    }

    /// Returns the leaf that a tree's bits select, and marks it as just used: all bits on its path are inverted.
    #[inline(always)]
    pub fn take_victim(&self, tree: &mut [u8], steps: u32) -> u32 {
        let (turns, after) = STEPS[tree[0] as usize];
        tree[0] = after;
        let mut path = u32::from(turns) >> self.lacking;
        for step in 1..steps {
            let byte = &mut tree[ABOVE[step as usize] + path as usize];
            let (turns, after) = STEPS[*byte as usize];
            *byte = after;
            path = path << LEVELS | u32::from(turns);
        }
        self.leaf(path)
    }

    fn victim(&self, tree: &[u8]) -> u32 {
        let mut path = u32::from(STEPS[tree[0] as usize].0) >> self.lacking;
        for step in 1..self.steps {
            let byte = tree[ABOVE[step as usize] + path as usize];
            path = path << LEVELS | u32::from(STEPS[byte as usize].0);
        }
        self.leaf(path)
    }

    /// Returns the leaf at the end of a path. For leaves one level higher, the last turn is ignored.
    #[inline(always)]
    fn leaf(&self, path: u32) -> u32 {
        let node = 1 << self.depth | path;
        let above = node >> 1;
        if above >= self.leaves { above - self.leaves } else { node - self.leaves }
    }
}

/// The trees of all sets of a cache.
#[derive(Clone, Debug)]
pub struct TreePlru {
    shape: Shape,
    /// Bytes of a tree.
    width: usize,
    bytes: Vec<u8>,
}

impl TreePlru {
    /// Creates trees with all bits zero, so the first victim is the leftmost leaf. `leaves` is at least 1.
    pub fn new(sets: u32, leaves: u32) -> TreePlru {
        let shape = Shape::new(leaves);
        // The lowest row has one byte for each path to it.
        let width = ABOVE[shape.steps as usize - 1] + (1 << shape.depth.saturating_sub(LEVELS));
        let mut trees = TreePlru { shape, width, bytes: Vec::new() };
        trees.resize(sets);
        trees
    }

    /// Allocates this many sets; new sets have all bits zero.
    pub fn resize(&mut self, sets: u32) {
        self.bytes.resize(sets as usize * self.width, 0);
    }

    /// Returns the shape of the trees, and the tree of a set.
    #[inline(always)]
    pub fn tree(&mut self, set: u32) -> (Shape, &mut [u8]) {
        (self.shape, &mut self.bytes[set as usize * self.width..][..self.width])
    }

    /// Marks a leaf of a set as just used.
    #[inline(always)]
    pub fn touch(&mut self, set: u32, leaf: u32) {
        let (shape, tree) = self.tree(set);
        shape.touch(tree, leaf, shape.steps);
    }

    /// Returns the leaf that a set's bits select.
    #[inline]
    pub fn victim(&self, set: u32) -> u32 {
        self.shape.victim(&self.bytes[set as usize * self.width..][..self.width])
    }

    /// Returns the leaf that a set's bits select, and marks it as just used: all bits on its path are inverted.
    #[inline(always)]
    pub fn take_victim(&mut self, set: u32) -> u32 {
        let (shape, tree) = self.tree(set);
        shape.take_victim(tree, shape.steps)
    }

    /// Resets all sets.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reference with one flag per node.
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
        fn bytes_agree_with_single_bits(leaves in prop_oneof![1u32..20, Just(456u32), 60u32..70, 500u32..520, 4000u32..5000],
                                        uses in prop::collection::vec(any::<u32>(), 0..300)) {
            // The test uses the second of two sets, so that writes into the neighbouring set are detected.
            let mut fast = TreePlru::new(1, leaves);
            fast.resize(3);
            let mut slow = Slow { leaves: leaves as usize, right: vec![false; leaves as usize] };
            for number in uses {
                prop_assert_eq!(fast.victim(1) as usize, slow.victim());
                // Half of the uses follow the victim, as in a cache.
                let leaf = if number % 2 == 0 {
                    fast.take_victim(1)
                } else {
                    fast.touch(1, number % leaves);
                    number % leaves
                };
                slow.touch(leaf as usize);
            }
            let fresh = TreePlru::new(1, leaves).victim(0);
            prop_assert_eq!((fast.victim(0), fast.victim(2)), (fresh, fresh));
        }
    }

    #[test]
    fn every_leaf_comes_before_one_comes_again() {
        let mut tree = TreePlru::new(1, 456);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..256 {
            let victim = tree.victim(0);
            tree.touch(0, victim);
            assert!(seen.insert(victim));
        }
    }
}
