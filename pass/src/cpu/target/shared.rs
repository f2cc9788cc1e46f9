//! The positions of a module's shared variables in a block's shared memory.

use crate::llvm::{Layout, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The offsets of shared variables.
///
/// Variables that other functions than kernels use come first and have one offset in the whole module, because such a
/// function serves several kernels. The variables of each kernel follow. Variables of size zero are the dynamic shared
/// memory and begin at the end of the static part.
pub struct SharedLayout<'c> {
    common: HashMap<Value<'c>, u32>,
    own: HashMap<Value<'c>, HashMap<Value<'c>, u32>>,
    ends: HashMap<Value<'c>, u32>,
    dynamic: HashSet<Value<'c>>,
    dynamic_start: u32,
    /// The variables that each kernel and its callees use, in the module's order, with their sizes in bytes.
    used: HashMap<Value<'c>, Vec<(Value<'c>, u32)>>,
}

impl<'c> SharedLayout<'c> {
    /// Computes the layout of the shared variables of `module`. `reached` contains, for each kernel, the functions that
    /// it may run, including itself; `used` contains, for each function, the globals that it names.
    pub fn new(
        module: &Module<'c>,
        reached: &[(Value<'c>, Vec<Value<'c>>)],
        used: &HashMap<Value<'c>, Vec<Value<'c>>>,
    ) -> SharedLayout<'c> {
        let layout = Layout::from_module(module);
        let variables: Vec<_> =
            module.variables().into_iter().filter(|variable| variable.address_space() == 3).collect();
        let dynamic: HashSet<_> =
            variables.iter().copied().filter(|variable| layout.size(variable.value_type()) == 0).collect();
        let kernels: HashSet<_> = reached.iter().map(|(kernel, _)| *kernel).collect();
        let of = |function: &Value<'c>| used.get(function).into_iter().flatten().copied();
        let by_functions: HashSet<Value<'c>> =
            used.keys().filter(|function| !kernels.contains(function)).flat_map(of).collect();
        let mut common = HashMap::new();
        let mut common_end = 0;
        for &variable in variables.iter().filter(|one| by_functions.contains(one) && !dynamic.contains(one)) {
            common.insert(variable, place(layout, variable, &mut common_end));
        }
        let mut own = HashMap::new();
        let mut ends = HashMap::new();
        let mut shares_dynamic = BTreeSet::new();
        let mut all_used = HashMap::new();
        for (index, (kernel, functions)) in reached.iter().enumerate() {
            let helpers: HashSet<Value<'c>> = functions.iter().filter(|one| *one != kernel).flat_map(of).collect();
            let reaches_common =
                helpers.iter().any(|one| common.contains_key(one)) || of(kernel).any(|one| common.contains_key(&one));
            if helpers.iter().any(|one| dynamic.contains(one)) {
                shares_dynamic.insert(index);
            }
            let mine: HashSet<_> = of(kernel).collect();
            let uses = variables.iter().filter(|one| mine.contains(one) || helpers.contains(one));
            all_used.insert(*kernel, uses.map(|&one| (one, layout.size(one.value_type()) as u32)).collect());
            let mut end = if reaches_common { common_end } else { 0 };
            let mut offsets = HashMap::new();
            for &variable in &variables {
                if mine.contains(&variable) && !common.contains_key(&variable) && !dynamic.contains(&variable) {
                    offsets.insert(variable, place(layout, variable, &mut end));
                }
            }
            own.insert(*kernel, offsets);
            ends.insert(*kernel, end.next_multiple_of(16));
        }
        // A helper that uses the dynamic part must find it at the same offset in every kernel that calls it.
        let dynamic_start = shares_dynamic.iter().map(|&index| ends[&reached[index].0]).max().unwrap_or(0);
        for &index in &shares_dynamic {
            ends.insert(reached[index].0, dynamic_start);
        }
        SharedLayout { common, own, ends, dynamic, dynamic_start, used: all_used }
    }

    /// Returns the variables that a kernel and its callees use, each with its offset and its size in bytes.
    pub fn variables(&self, kernel: Value<'c>) -> impl Iterator<Item = (Value<'c>, u32, u32)> {
        let used = self.used.get(&kernel).into_iter().flatten();
        used.filter_map(move |&(variable, bytes)| Some((variable, self.offset(Some(kernel), variable)?, bytes)))
    }

    /// Returns the offset of a variable for a kernel, or for a function that kernels share.
    pub fn offset(&self, kernel: Option<Value<'c>>, variable: Value<'c>) -> Option<u32> {
        if self.dynamic.contains(&variable) {
            return Some(kernel.map_or(self.dynamic_start, |kernel| self.static_bytes(kernel)));
        }
        let own = kernel.and_then(|kernel| self.own.get(&kernel)?.get(&variable));
        own.or_else(|| self.common.get(&variable)).copied()
    }

    /// Returns the static shared memory of a kernel in bytes, a multiple of 16.
    pub fn static_bytes(&self, kernel: Value<'c>) -> u32 {
        self.ends.get(&kernel).copied().unwrap_or(0)
    }
}

fn place(layout: Layout<'_>, variable: Value<'_>, end: &mut u32) -> u32 {
    let ty = variable.value_type();
    let align = layout.align(ty).max(u64::from(variable.alignment())) as u32;
    let offset = end.next_multiple_of(align.max(1));
    *end = offset + layout.size(ty) as u32;
    offset
}
