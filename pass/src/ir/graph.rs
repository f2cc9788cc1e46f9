//! The control flow graph of a function: dominators, natural loops, and the order in which warps run blocks.
//!
//! The order is part of the specification, because block counts are reported. It is reverse post-order, with the blocks
//! of each loop together, so that all lanes have left a loop before the code after it runs.

/// Control flow between blocks `0..n`; block 0 is the entry.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The successors of each block, in the order of its terminator.
    pub successors: Vec<Vec<usize>>,
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The only entry of the loop.
    pub header: usize,
    /// The blocks in ascending order, including the header and the blocks of inner loops.
    pub blocks: Vec<usize>,
}

/// The graph has a cycle with two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irreducible;

impl Graph {
    fn len(&self) -> usize {
        self.successors.len()
    }

    /// Returns the reachable blocks in reverse post-order; among several successors, the first comes first.
    fn reverse_post_order(&self) -> Vec<usize> {
        let inside = vec![true; self.len()];
        post_order(0, &self.successors, &inside)
    }

    /// Returns the position of each block in the order; `usize::MAX` for blocks that are not in it.
    fn positions(&self, order: &[usize]) -> Vec<usize> {
        let mut position = vec![usize::MAX; self.len()];
        for (index, &block) in order.iter().enumerate() {
            position[block] = index;
        }
        position
    }

    /// Returns the predecessors among the blocks of the order.
    fn predecessors(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut predecessors = vec![Vec::new(); self.len()];
        for &block in order {
            for &next in &self.successors[block] {
                predecessors[next].push(block);
            }
        }
        predecessors
    }

    /// Returns the immediate dominators; `None` for the entry and for unreachable blocks.
    pub fn dominators(&self) -> Vec<Option<usize>> {
        let order = self.reverse_post_order();
        let position = self.positions(&order);
        let predecessors = self.predecessors(&order);
        // The algorithm of Cooper, Harvey and Kennedy: iterate to the fixed point, and intersect by walking up the
        // tree.
        let mut dominator: Vec<Option<usize>> = vec![None; self.len()];
        dominator[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().skip(1) {
                let mut new = None;
                for &from in predecessors[block].iter().filter(|&&from| dominator[from].is_some()) {
                    new = Some(match new {
                        None => from,
                        Some(other) => meet(&dominator, &position, from, other),
                    });
                }
                if new != dominator[block] {
                    dominator[block] = new;
                    changed = true;
                }
            }
        }
        dominator[0] = None;
        dominator
    }

    /// Returns the natural loops, outer loops before inner loops.
    pub fn loops(&self) -> Result<Vec<Loop>, Irreducible> {
        let dominator = self.dominators();
        let dominates = |above: usize, mut below: usize| loop {
            if above == below {
                return true;
            }
            match dominator[below] {
                Some(up) => below = up,
                None => return false,
            }
        };
        let order = self.reverse_post_order();
        let position = self.positions(&order);
        let predecessors = self.predecessors(&order);
        let mut loops = Vec::new();
        for &header in &order {
            let mut inside = vec![false; self.len()];
            inside[header] = true;
            let mut work = Vec::new();
            for &latch in &predecessors[header] {
                if position[latch] >= position[header] {
                    if !dominates(header, latch) {
                        return Err(Irreducible);
                    }
                    work.push(latch);
                }
            }
            if work.is_empty() {
                continue;
            }
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut inside[block], true) {
                    work.extend(&predecessors[block]);
                }
            }
            loops.push(Loop { header, blocks: (0..self.len()).filter(|&block| inside[block]).collect() });
        }
        Ok(loops)
    }

    /// Returns all reachable blocks in the order in which warps run them.
    pub fn warp_order(&self) -> Result<Vec<usize>, Irreducible> {
        let loops = self.loops()?;
        // The innermost loop of each block: outer loops are listed first, so the last entry remains.
        let mut innermost = vec![None; self.len()];
        for (index, natural) in loops.iter().enumerate() {
            for &block in &natural.blocks {
                innermost[block] = Some(index);
            }
        }
        let parent: Vec<Option<usize>> = (0..loops.len())
            .map(|index| {
                (0..index).rev().find(|&outer| loops[outer].blocks.binary_search(&loops[index].header).is_ok())
            })
            .collect();
        let mut order = Vec::with_capacity(self.len());
        let region = Region { graph: self, loops: &loops, innermost: &innermost, parent: &parent };
        region.emit(None, 0, &mut order);
        Ok(order)
    }
}

struct Region<'a> {
    graph: &'a Graph,
    loops: &'a [Loop],
    innermost: &'a [Option<usize>],
    parent: &'a [Option<usize>],
}

impl Region<'_> {
    /// Returns the head of the node that represents `block` in the region `outer`: the block itself, or the header of
    /// the loop directly inside `outer` that contains it. Returns `None` for a block outside the region.
    fn node(&self, outer: Option<usize>, block: usize) -> Option<usize> {
        let mut inner = self.innermost[block];
        if inner == outer {
            return Some(block);
        }
        while let Some(index) = inner {
            if self.parent[index] == outer {
                return Some(self.loops[index].header);
            }
            inner = self.parent[index];
        }
        None
    }

    fn emit(&self, outer: Option<usize>, entry: usize, order: &mut Vec<usize>) {
        let count = self.graph.len();
        let members: Vec<usize> = match outer {
            Some(index) => self.loops[index].blocks.clone(),
            None => (0..count).collect(),
        };
        // A graph in which every inner loop is one node, named by its header; back edges are removed.
        let mut successors = vec![Vec::new(); count];
        let mut inside = vec![false; count];
        for block in members {
            let Some(from) = self.node(outer, block) else { continue };
            inside[from] = true;
            for &next in &self.graph.successors[block] {
                if let Some(to) = self.node(outer, next)
                    && to != from
                    && to != entry
                    && !successors[from].contains(&to)
                {
                    successors[from].push(to);
                }
            }
        }
        for node in post_order(entry, &successors, &inside) {
            let inner = self.innermost[node].filter(|&index| Some(index) != outer && self.loops[index].header == node);
            match inner.and_then(|index| self.child(outer, index)) {
                Some(index) => self.emit(Some(index), node, order),
                None => order.push(node),
            }
        }
    }

    /// Returns the loop directly inside `outer` that is `index` or contains it.
    fn child(&self, outer: Option<usize>, mut index: usize) -> Option<usize> {
        while self.parent[index] != outer {
            index = self.parent[index]?;
        }
        Some(index)
    }
}

fn meet(dominator: &[Option<usize>], position: &[usize], mut left: usize, mut right: usize) -> usize {
    while left != right {
        while position[left] > position[right] {
            left = dominator[left].unwrap_or(0);
        }
        while position[right] > position[left] {
            right = dominator[right].unwrap_or(0);
        }
    }
    left
}

/// Returns the post-order without recursion, because kernels can have thousands of blocks.
fn post_order(entry: usize, successors: &[Vec<usize>], inside: &[bool]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    // The last successor is visited first, so that the first one gets the lower number.
    let mut stack = vec![(entry, successors[entry].len())];
    seen[entry] = true;
    while let Some((block, left)) = stack.last_mut() {
        if *left == 0 {
            order.push(*block);
            stack.pop();
            continue;
        }
        *left -= 1;
        let next = successors[*block][*left];
        if inside[next] && !std::mem::replace(&mut seen[next], true) {
            stack.push((next, successors[next].len()));
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[usize]]) -> Graph {
        Graph { successors: edges.iter().map(|list| list.to_vec()).collect() }
    }

    #[test]
    fn a_loop_exit_comes_after_the_body() {
        // Block 1 is a loop header that leaves to 3 or continues to 2; plain reverse post-order may put 3 before 2.
        let order = graph(&[&[1], &[3, 2], &[1], &[]]).warp_order().unwrap();
        assert_eq!(order, [0, 1, 2, 3]);
        let order = graph(&[&[1], &[2, 3], &[1], &[]]).warp_order().unwrap();
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn nested_loops_stay_together() {
        // The outer loop is 1..=5, the inner loop 2 and 3; 4 is a side path of the outer loop, and 6 is the exit of
        // both.
        let order = graph(&[&[1], &[4, 2], &[3, 6], &[2, 5], &[5], &[1, 6], &[]]).warp_order().unwrap();
        let place = |block| order.iter().position(|&other| other == block).unwrap();
        assert_eq!(place(3), place(2) + 1);
        assert_eq!(place(6), 6);
        assert_eq!(place(5), 5);
    }

    #[test]
    fn loops_that_share_a_block_with_their_parents_header_are_found() {
        let loops = graph(&[&[1], &[2], &[2, 3], &[1, 4], &[]]).loops().unwrap();
        assert_eq!(loops[0], Loop { header: 1, blocks: vec![1, 2, 3] });
        assert_eq!(loops[1], Loop { header: 2, blocks: vec![2] });
    }

    #[test]
    fn two_entries_are_refused() {
        assert_eq!(graph(&[&[1, 2], &[2], &[1, 3], &[]]).warp_order(), Err(Irreducible));
    }

    #[test]
    fn unreachable_blocks_are_left_out() {
        assert_eq!(graph(&[&[2], &[2], &[]]).warp_order().unwrap(), [0, 2]);
    }
}
