//! Determines which functions and variables each kernel may use.

use crate::ir::barrier::{Barrier, barrier};
use crate::ir::kernel::is_kernel;
use crate::ir::threads::{involves_other_blocks, is_thread_exit};
use crate::llvm::{Layout, ModuleItems, Type, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The uses and calls of a module's functions.
pub struct Reach<'c> {
    /// The kernels in module order, each with all functions that it may run, itself first.
    pub kernels: Vec<(Value<'c>, Vec<Value<'c>>)>,
    /// The globals that each function names.
    pub used: HashMap<Value<'c>, Vec<Value<'c>>>,
    /// The functions whose address is taken, in module order.
    pub address_taken: Vec<Value<'c>>,
    /// Whether any function reads the clock.
    pub reads_clock: bool,
    callees: HashMap<Value<'c>, Vec<Value<'c>>>,
    facts: HashMap<Value<'c>, Facts>,
}

/// The properties of a function itself, without the functions that it calls.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    barrier: bool,
    /// Whether it has barriers with a number or a count of threads.
    named: bool,
    /// Whether it reads the position of the reserved shared memory.
    reserved: bool,
    indirect: bool,
    /// Whether it involves other blocks ([`involves_other_blocks`]).
    involves_others: bool,
    frame: u64,
    exits: bool,
}

impl<'c> Reach<'c> {
    /// Reads a module.
    pub fn new(module: &Module<'c>) -> Reach<'c> {
        let functions: Vec<_> = module.functions().into_iter().filter(|one| !one.is_declaration()).collect();
        let mut reach = Reach {
            kernels: Vec::new(),
            used: HashMap::new(),
            address_taken: Vec::new(),
            reads_clock: false,
            callees: HashMap::new(),
            facts: HashMap::new(),
        };
        let mut taken = HashSet::new();
        for variable in module.variables().into_iter().filter(|one| !one.name().starts_with("llvm.")) {
            if let Some(initializer) = variable.initializer() {
                globals_in(initializer, &mut |global| {
                    taken.insert(global);
                });
            }
        }
        let layout = Layout::from_module(module);
        for &function in &functions {
            reach.read(function, layout, &mut taken);
        }
        // Pointers to kernels are for launches; nothing calls kernels through them.
        reach.address_taken = functions.iter().copied().filter(|one| taken.contains(one) && !is_kernel(*one)).collect();
        for &kernel in functions.iter().filter(|one| is_kernel(**one)) {
            let reached = reach.from(kernel);
            reach.kernels.push((kernel, reached));
        }
        reach
    }

    fn read(&mut self, function: Value<'c>, layout: Layout<'_>, taken: &mut HashSet<Value<'c>>) {
        let mut facts = Facts::default();
        let mut callees = Vec::new();
        let mut used = Vec::new();
        for value in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            if let Some(ty) = value.allocated_type() {
                let count = value.operand(0).as_u64().unwrap_or(1);
                facts.frame = facts.frame.next_multiple_of(u64::from(value.alignment().max(1)));
                facts.frame += layout.size(ty) * count;
            }
            facts.exits |= is_thread_exit(value);
            facts.involves_others |= involves_other_blocks(value);
            let meeting = barrier(value);
            facts.barrier |= meeting.is_some();
            facts.named |= meeting == Some(Barrier::Named);
            let mut operands = value.operands();
            if let Some(callee) = value.called_value() {
                operands.pop();
                if callee.is_function() {
                    let name = callee.name();
                    if !callee.is_declaration() {
                        callees.push(callee);
                    }
                    self.reads_clock |= name.contains("sreg.clock") || name.contains("readcyclecounter");
                } else if callee.is_inline_asm() {
                    let text = callee.asm_text();
                    self.reads_clock |= text.contains("%clock");
                    facts.reserved |= text.contains("%reserved_smem_offset");
                } else {
                    facts.indirect = true;
                }
            }
            for operand in operands {
                globals_in(operand, &mut |global| {
                    if global.is_function() {
                        taken.insert(global);
                    } else {
                        used.push(global);
                    }
                });
            }
        }
        facts.frame = facts.frame.next_multiple_of(16);
        self.callees.insert(function, callees);
        self.used.insert(function, used);
        self.facts.insert(function, facts);
    }

    fn next(&self, function: Value<'c>) -> Vec<Value<'c>> {
        let mut next = self.callees.get(&function).cloned().unwrap_or_default();
        if self.facts.get(&function).is_some_and(|facts| facts.indirect) {
            next.extend(&self.address_taken);
        }
        next
    }

    fn from(&self, kernel: Value<'c>) -> Vec<Value<'c>> {
        let mut seen = HashSet::from([kernel]);
        let mut list = vec![kernel];
        let mut at = 0;
        while at < list.len() {
            for next in self.next(list[at]) {
                if seen.insert(next) {
                    list.push(next);
                }
            }
            at += 1;
        }
        list
    }

    /// Returns whether any kernel may run the function.
    pub fn lives(&self, function: Value<'c>) -> bool {
        self.address_taken.contains(&function) || self.kernels.iter().any(|(_, reached)| reached.contains(&function))
    }

    /// Returns whether the kernel with this name may run the function.
    pub fn is_reached(&self, kernel: &str, function: Value<'c>) -> bool {
        self.kernels.iter().any(|(one, reached)| one.name() == kernel && reached.contains(&function))
    }

    /// Returns whether a kernel may reach a block-wide barrier.
    pub fn has_barrier(&self, kernel: Value<'c>) -> bool {
        self.reaches(kernel, |facts| facts.barrier)
    }

    /// Returns whether the blocks of a kernel may run at the same time on several host threads. Functions that are
    /// called through pointers may report an error while they run, which only one thread may do.
    pub fn has_independent_blocks(&self, kernel: Value<'c>) -> bool {
        !self.reaches(kernel, |facts| facts.involves_others || facts.indirect)
    }

    /// Returns whether a kernel may reach a barrier with a number or a count of threads.
    pub fn has_named_barrier(&self, kernel: Value<'c>) -> bool {
        self.reaches(kernel, |facts| facts.named)
    }

    /// Returns whether a kernel may read the position of its reserved shared memory.
    pub fn uses_reserved_shared(&self, kernel: Value<'c>) -> bool {
        self.reaches(kernel, |facts| facts.reserved)
    }

    fn reaches(&self, kernel: Value<'c>, what: fn(&Facts) -> bool) -> bool {
        self.from(kernel).iter().any(|one| self.facts.get(one).is_some_and(what))
    }

    /// Returns whether a function, or a function that it calls, may end a thread.
    pub fn may_exit(&self, function: Value<'c>) -> bool {
        self.from(function).iter().any(|one| self.facts.get(one).is_some_and(|facts| facts.exits))
    }

    /// Returns the bytes of lane stack that a function and its callees need, and whether this is not an upper bound.
    pub fn stack(&self, function: Value<'c>) -> (u64, bool) {
        let mut known = BTreeMap::new();
        self.depth(function, &mut Vec::new(), &mut known)
    }

    fn depth(
        &self,
        function: Value<'c>,
        path: &mut Vec<Value<'c>>,
        known: &mut BTreeMap<usize, (u64, bool)>,
    ) -> (u64, bool) {
        let key = function.raw() as usize;
        if let Some(found) = known.get(&key) {
            return *found;
        }
        if path.contains(&function) {
            return (0, true);
        }
        path.push(function);
        let facts = self.facts.get(&function).copied().unwrap_or_default();
        let mut below = 0;
        let mut unbounded = facts.indirect;
        for next in self.next(function) {
            let (bytes, more) = self.depth(next, path, known);
            below = below.max(bytes);
            unbounded |= more;
        }
        path.pop();
        let result = (facts.frame + below, unbounded);
        known.insert(key, result);
        result
    }

    /// Returns the functions to which a pointer of this function type may refer, in module order.
    pub fn candidates(&self, ty: Type<'c>) -> Vec<Value<'c>> {
        self.address_taken.iter().copied().filter(|function| function.value_type() == ty).collect()
    }
}

/// Calls `found` for each global in a constant, through expressions and aggregates.
pub fn globals_in<'c>(value: Value<'c>, found: &mut impl FnMut(Value<'c>)) {
    if value.is_global() {
        found(value);
    } else if value.is_constant() && !value.is_plain_data() {
        for operand in value.operands() {
            if operand.is_constant() {
                globals_in(operand, found);
            }
        }
    }
}
