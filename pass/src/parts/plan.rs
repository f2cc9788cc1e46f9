//! Decides which functions are optimised and generated together.
//!
//! The decision depends only on the module, so that the same source gives the same parts on any machine.

use crate::cpu::{PART, is_hooked};
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::part::has_aliases;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A function with several callers is copied to the part of each caller if it has at most this number of instructions,
/// which is about the limit of LLVM's inliner.
const COPIED: usize = 200;

/// The references to a global.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Referrers {
    /// The defined functions that refer to it, by their position in [`Plan::functions`].
    pub(super) functions: BTreeSet<usize>,
    /// Whether a variable's initial value, or something else that is not an instruction, refers to it.
    pub(super) others: bool,
    /// Whether some reference is not a call.
    pub(super) taken: bool,
}

/// The parts of a module.
pub(super) struct Plan<'c> {
    /// The defined functions of the module.
    pub(super) functions: Vec<Value<'c>>,
    /// The references to each function.
    pub(super) referrers: Vec<Referrers>,
    /// For each part, the functions that it defines, in ascending order. Most functions are in one part; small ones may
    /// be in several.
    pub(super) parts: Vec<Vec<usize>>,
    /// The number of parts with functions that write records. They come first, and their only other functions are
    /// copies.
    pub(super) hooked_parts: usize,
    hooked: Vec<bool>,
    position: HashMap<Value<'c>, usize>,
}

impl<'c> Plan<'c> {
    /// Plans the parts of a module. The result is one part if the module is too small for more, or cannot be split.
    pub(super) fn new(module: &Module<'c>) -> Plan<'c> {
        let functions: Vec<_> = module.functions().into_iter().filter(|one| !one.is_declaration()).collect();
        let position: HashMap<_, _> = functions.iter().enumerate().map(|(at, &one)| (one, at)).collect();
        let hooked = functions.iter().map(|&one| is_hooked(one)).collect();
        let mut plan = Plan { functions, referrers: Vec::new(), parts: Vec::new(), hooked_parts: 0, hooked, position };
        let all = (0..plan.functions.len()).collect();
        let sizes: Vec<usize> = plan.functions.iter().map(|&one| size(one)).collect();
        plan.referrers = plan.functions.iter().map(|&one| plan.referrers_of(one)).collect();
        // An alias must be defined in the same part as its function. The lowering creates no aliases.
        if sizes.iter().sum::<usize>() <= PART || has_aliases(module) {
            plan.parts = vec![all];
            return plan;
        }
        let copied: Vec<bool> = (0..sizes.len()).map(|at| sizes[at] <= COPIED && plan.may_be_copied(at)).collect();
        let (hooked, others): (Vec<_>, Vec<_>) =
            plan.groups(&copied).into_iter().partition(|group| group.iter().all(|&at| plan.hooked[at]));
        plan.parts = pack(hooked, &sizes, PART);
        plan.hooked_parts = plan.parts.len();
        plan.parts.extend(pack(others, &sizes, PART));
        plan.copy(&copied);
        plan
    }

    /// Returns the references to a function or variable.
    pub(super) fn referrers_of(&self, global: Value<'c>) -> Referrers {
        let mut found = Referrers::default();
        let mut seen = HashSet::new();
        let mut open: Vec<_> = global.users().into_iter().map(|user| (global, user)).collect();
        while let Some((used, user)) = open.pop() {
            match user.block() {
                Some(block) => {
                    found.functions.extend(self.position.get(&block.function()));
                    let called =
                        user.is_call() && user.called_value() == Some(used) && !user.arguments().contains(&used);
                    found.taken |= !called;
                }
                None if user.is_constant() && !user.is_global() => {
                    found.taken = true;
                    if seen.insert(user) {
                        open.extend(user.users().into_iter().map(|next| (user, next)));
                    }
                }
                None => found.others = true,
            }
        }
        found
    }

    /// Returns whether a function may be copied: its address is neither compared nor stored, and the inliner may inline
    /// it.
    fn may_be_copied(&self, at: usize) -> bool {
        let (function, referrers) = (self.functions[at], &self.referrers[at]);
        function.is_local() && !referrers.others && !referrers.taken && !function.has_attribute(OF_FUNCTION, "noinline")
    }

    /// Returns the groups of functions that stay together: a function to which only one other function refers stays
    /// with that function. Copied functions are excluded.
    fn groups(&self, copied: &[bool]) -> Vec<Vec<usize>> {
        // A chain of single referrers ends at a function that has no referrer or several. If it is a cycle without
        // other referrers, its smallest member is the leader.
        let leader = |start: usize| {
            let (mut at, mut passed) = (start, BTreeSet::from([start]));
            while let Some(next) = self.only_referrer(at).filter(|&next| !copied[next]) {
                if !passed.insert(next) {
                    return passed.first().copied().unwrap_or(start);
                }
                at = next;
            }
            at
        };
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.functions.len()];
        for at in (0..self.functions.len()).filter(|&at| !copied[at]) {
            groups[leader(at)].push(at);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    fn only_referrer(&self, at: usize) -> Option<usize> {
        let referrers = &self.referrers[at];
        let mut callers = referrers.functions.iter().copied().filter(|&caller| caller != at);
        match (callers.next(), callers.next()) {
            // Functions with hooks are generated in another way.
            (Some(caller), None)
                if self.functions[at].is_local() && !referrers.others && self.hooked[at] == self.hooked[caller] =>
            {
                Some(caller)
            }
            _ => None,
        }
    }

    /// Adds the small functions that a part calls to the part.
    fn copy(&mut self, copied: &[bool]) {
        let small: Vec<usize> = (0..copied.len()).filter(|&at| copied[at]).collect();
        for part in &mut self.parts {
            let mut members: BTreeSet<usize> = part.iter().copied().collect();
            // Small functions call each other, so this is repeated until nothing is added.
            loop {
                let called = |&&at: &&usize| !self.referrers[at].functions.is_disjoint(&members);
                let more: Vec<usize> = small.iter().filter(called).copied().collect();
                let before = members.len();
                members.extend(more);
                if members.len() == before {
                    break;
                }
            }
            *part = members.into_iter().collect();
        }
    }
}

/// Distributes groups to parts: the largest group first, each to the first part that has room for it. The parts are
/// therefore ordered by size, which is suitable for threads that take one part after the other, and only the last part
/// is small.
fn pack(groups: Vec<Vec<usize>>, sizes: &[usize], room: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<(usize, Vec<usize>)> =
        groups.into_iter().map(|group| (group.iter().map(|&at| sizes[at]).sum(), group)).collect();
    // The sort is stable, so groups of one size stay in the module's order.
    groups.sort_by_key(|(size, _)| Reverse(*size));
    let mut parts: Vec<(usize, Vec<usize>)> = Vec::new();
    for (size, group) in groups {
        match parts.iter_mut().find(|(used, _)| used + size <= room) {
            Some((used, part)) => {
                *used += size;
                part.extend(group);
            }
            None => parts.push((size, group)),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

fn size(function: Value<'_>) -> usize {
    function.blocks().into_iter().map(|block| block.instructions().len()).sum()
}

#[cfg(test)]
mod tests {
    use super::pack;

    #[test]
    fn parts_are_filled_and_complete() {
        let sizes = [9, 1, 5, 5, 4, 6, 30];
        let parts = pack((0..7).map(|at| vec![at]).collect(), &sizes, 10);
        assert_eq!(parts, [vec![6], vec![0, 1], vec![5, 4], vec![2, 3]]);
    }

    #[test]
    fn groups_stay_together() {
        assert_eq!(pack(vec![vec![0, 1], vec![2]], &[30, 30, 70], 100), [vec![2], vec![0, 1]]);
    }
}
