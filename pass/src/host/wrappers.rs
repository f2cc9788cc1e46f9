//! Functions of the user's own that do one allocation on behalf of their callers: `float *device_array(size_t n)`,
//! `allocate(&pointer, n)`, the constructor of a buffer class. The caller's variable is the better name.

use super::calls::{Names, base_name, cuda_allocation};
use super::library::is_toolkit;
use super::names::{Name, object_at, pointer_at, result_of};
use crate::llvm::value::{Linkage, Opcode};
use crate::llvm::{Layout, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::HashMap;

/// How a wrapper's caller gets the memory.
#[derive(Clone, Debug, PartialEq)]
enum Via {
    /// Through an argument: the address of the pointer, or of the object that holds it under `suffix` (`.nodes`).
    Parameter { index: usize, suffix: String },
    /// As the result.
    Result,
}

#[derive(Clone, Debug)]
struct Wrapper {
    via: Via,
    /// What the wrapper itself calls it, for callers where nothing better is found; empty where that tells them nothing.
    own_name: String,
}

/// The module's wrappers.
pub(super) struct Wrappers<'c> {
    known: HashMap<Value<'c>, Wrapper>,
}

impl<'c> Wrappers<'c> {
    /// Finds them. A wrapper must be seen with all its callers: it is local to the unit or comes from a header, and it
    /// is only ever called.
    pub(super) fn find(module: &Module<'c>, layout: Layout<'_>) -> Self {
        let mut wrappers = Wrappers { known: HashMap::new() };
        // A function is looked at once it is known what those do that it calls; ones that call each other in a circle
        // never are, and are no wrappers.
        let mut left = allocating(module);
        loop {
            let ready: Vec<_> = left
                .iter()
                .filter(|(_, callees)| !callees.iter().any(|callee| left.contains_key(callee)))
                .map(|(function, callees)| (*function, callees.clone()))
                .collect();
            for (function, callees) in &ready {
                left.remove(function);
                // Memory that a callee gives itself a name for would take this function's.
                if is_candidate(*function)
                    && callees.iter().all(|callee| wrappers.known.contains_key(callee))
                    && let Some(mut wrapper) = wrappers.examine(*function, layout)
                {
                    if is_toolkit(&function.name()) {
                        wrapper.own_name.clear();
                    }
                    wrappers.known.insert(*function, wrapper);
                }
            }
            if ready.is_empty() {
                return wrappers;
            }
        }
    }

    /// Whether a function's own allocation is named by its callers.
    pub(super) fn contains(&self, function: Value<'c>) -> bool {
        self.known.contains_key(&function)
    }

    /// Name of what a call allocates, if it is a call that allocates: CUDA's own, or a wrapper's. The outer option
    /// tells whether it is.
    pub(super) fn allocated(&self, call: Value<'c>, layout: Layout<'_>) -> Option<Option<Name<'c>>> {
        let callee = call.direct_callee()?;
        let arguments = call.call_arguments();
        if let Some(wrapper) = self.known.get(&callee) {
            let name = match &wrapper.via {
                Via::Parameter { index, suffix } if suffix.is_empty() => {
                    arguments.get(*index).and_then(|&target| pointer_at(target, layout))
                }
                Via::Parameter { index, suffix } => arguments
                    .get(*index)
                    .and_then(|&object| object_at(object, layout))
                    .map(|object| object.with_suffix(suffix)),
                Via::Result => result_of(call, layout),
            };
            let own = || (!wrapper.own_name.is_empty()).then(|| Name::of_text(&wrapper.own_name));
            return Some(name.or_else(own));
        }
        Some(match cuda_allocation(base_name(&callee.name()))? {
            Names::Target(index) => arguments.get(index).and_then(|&target| pointer_at(target, layout)),
            Names::Memory(index) => arguments.get(index).and_then(|&memory| object_at(memory, layout)),
        })
    }

    fn examine(&self, function: Value<'c>, layout: Layout<'_>) -> Option<Wrapper> {
        let mut found = function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
            .filter_map(|call| Some((call, self.allocated(call, layout)?)));
        let (call, name) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        // The result of a wrapper handed on.
        let returned = self.known.get(&call.direct_callee()?).is_some_and(|inner| inner.via == Via::Result)
            && (is_returned(call) || result_slot(call).is_some_and(is_slot_returned));
        if returned {
            let own_name = name.map(|name| name.text.concat()).unwrap_or_default();
            return Some(Wrapper { via: Via::Result, own_name });
        }
        let name = name.filter(|name| name.indices.is_empty())?;
        let own_name = name.text.concat();
        let root = name.root?;
        let via = match parameter_of(root, function) {
            Some((index, parameter)) if name.by_address => {
                let suffix = own_name.strip_prefix(&parameter).unwrap_or(&own_name);
                let suffix = suffix.strip_prefix("->").or(suffix.strip_prefix('.')).unwrap_or(suffix);
                let suffix = if suffix.is_empty() { String::new() } else { format!(".{suffix}") };
                Via::Parameter { index, suffix }
            }
            None if !name.by_address && own_name == name.root_name && is_slot_returned(root) => Via::Result,
            _ => return None,
        };
        Some(Wrapper { via, own_name })
    }
}

/// Functions that allocate, by themselves or through others of the module, and those others.
fn allocating<'c>(module: &Module<'c>) -> HashMap<Value<'c>, Vec<Value<'c>>> {
    let (mut found, mut callers) = (HashMap::new(), HashMap::<Value<'c>, Vec<Value<'c>>>::new());
    let mut new = Vec::new();
    for function in module.functions() {
        let calls = function.blocks().into_iter().flat_map(|block| block.instructions());
        for callee in calls.filter_map(|call| call.direct_callee()) {
            callers.entry(callee).or_default().push(function);
            if cuda_allocation(base_name(&callee.name())).is_some() {
                new.push(function);
            }
        }
    }
    while let Some(function) = new.pop() {
        if found.contains_key(&function) {
            continue;
        }
        found.insert(function, Vec::new());
        new.extend(callers.get(&function).into_iter().flatten());
    }
    for callee in found.keys().copied().collect::<Vec<_>>() {
        for caller in callers.get(&callee).into_iter().flatten() {
            if let Some(callees) = found.get_mut(caller) {
                callees.push(callee);
            }
        }
    }
    found
}

fn is_candidate(function: Value<'_>) -> bool {
    let everywhere = matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage
            | Linkage::LLVMPrivateLinkage
            | Linkage::LLVMLinkOnceAnyLinkage
            | Linkage::LLVMLinkOnceODRLinkage
            | Linkage::LLVMWeakAnyLinkage
            | Linkage::LLVMWeakODRLinkage
    );
    !function.is_declaration()
        && everywhere
        && function.users().into_iter().all(|user| user.direct_callee() == Some(function))
}

/// Index and source name of the parameter that a stack slot holds, in unoptimised code.
fn parameter_of<'c>(slot: Value<'c>, function: Value<'c>) -> Option<(usize, String)> {
    let argument = match slot.is_argument() {
        true => slot,
        false => slot.users().into_iter().find_map(|user| {
            let is_store = user.opcode() == Some(Opcode::LLVMStore);
            (is_store && user.operand(1) == slot).then(|| user.operand(0)).filter(|value| value.is_argument())
        })?,
    };
    let index = function.parameters().iter().position(|&parameter| parameter == argument)?;
    let name = crate::llvm::debug::Variable::of_value(slot)?.name();
    Some((index, name))
}

/// Whether a value is what the function returns, directly or through its slot for the result.
fn is_returned(value: Value<'_>) -> bool {
    value.users().into_iter().any(|user| match user.opcode() {
        Some(Opcode::LLVMRet) => true,
        Some(Opcode::LLVMStore) if user.operand(0) == value => {
            let slot = user.operand(1);
            slot.opcode() == Some(Opcode::LLVMAlloca)
                && loads_of(slot)
                    .into_iter()
                    .any(|load| load.users().into_iter().any(|user| user.opcode() == Some(Opcode::LLVMRet)))
        }
        _ => false,
    })
}

fn is_slot_returned(slot: Value<'_>) -> bool {
    loads_of(slot).into_iter().any(is_returned)
}

fn loads_of(slot: Value<'_>) -> Vec<Value<'_>> {
    slot.users().into_iter().filter(|user| user.opcode() == Some(Opcode::LLVMLoad)).collect()
}

fn result_slot(call: Value<'_>) -> Option<Value<'_>> {
    call.users().into_iter().find_map(|user| {
        let stored = user.opcode() == Some(Opcode::LLVMStore) && user.operand(0) == call;
        stored.then(|| user.operand(1)).filter(|slot| slot.opcode() == Some(Opcode::LLVMAlloca))
    })
}
