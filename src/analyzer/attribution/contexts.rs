//! Device call contexts: the chain of non-inlined calls that leads to an access.

use rustc_hash::FxHashMap;

/// A node of a [`ContextTree`].
pub type ContextId = u32;
/// The context of the kernel itself.
pub const ROOT: ContextId = 0;
/// Maximum depth that is distinguished. Deeper recursion is counted in the context at this depth.
pub const MAX_DEPTH: u32 = 64;

/// All contexts, as a tree of call sites. Each worker has one per kernel.
#[derive(Clone, Debug)]
pub struct ContextTree {
    /// Parent and call site of each node; the root is its own parent.
    nodes: Vec<(ContextId, u32)>,
    children: FxHashMap<(ContextId, u32), ContextId>,
}

impl Default for ContextTree {
    fn default() -> Self {
        ContextTree { nodes: vec![(ROOT, 0)], children: FxHashMap::default() }
    }
}

impl ContextTree {
    /// Returns the context of a call at `call_site` in the context `parent`.
    pub fn child(&mut self, parent: ContextId, call_site: u32) -> ContextId {
        *self.children.entry((parent, call_site)).or_insert_with(|| {
            self.nodes.push((parent, call_site));
            self.nodes.len() as ContextId - 1
        })
    }

    /// Returns the call sites from the kernel to the context, outermost first.
    pub fn calls(&self, mut context: ContextId) -> Vec<u32> {
        let mut calls = Vec::new();
        while context != ROOT {
            let (parent, call_site) = self.nodes[context as usize];
            calls.push(call_site);
            context = parent;
        }
        calls.reverse();
        calls
    }

    /// Returns the context that a return leads to.
    pub fn parent(&self, context: ContextId) -> ContextId {
        self.nodes[context as usize].0
    }
}

/// The current context of one warp.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarpContext {
    context: ContextId,
    depth: u32,
}

impl WarpContext {
    /// Returns the context of the warp's next access.
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// Records that the warp enters a call.
    pub fn enter(&mut self, tree: &mut ContextTree, call_site: u32) {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            self.context = tree.child(self.context, call_site);
        }
    }

    /// Records that the warp leaves a call; returns `false` if it was in none.
    pub fn leave(&mut self, tree: &ContextTree) -> bool {
        if self.depth == 0 {
            return false;
        }
        if self.depth <= MAX_DEPTH {
            self.context = tree.parent(self.context);
        }
        self.depth -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_is_followed_to_the_limit_and_back() {
        let mut tree = ContextTree::default();
        let mut warp = WarpContext::default();
        warp.enter(&mut tree, 7);
        let first = warp.context();
        for _ in 0..1000 {
            warp.enter(&mut tree, 3);
        }
        assert_eq!(tree.calls(warp.context()).len(), MAX_DEPTH as usize);
        for _ in 0..1000 {
            assert!(warp.leave(&tree));
        }
        assert_eq!(warp.context(), first);
        assert_eq!(tree.calls(first), [7]);
        assert!(warp.leave(&tree));
        assert!(!warp.leave(&tree));
    }
}
