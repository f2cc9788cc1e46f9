//! Functions of the user that make one allocation on behalf of their callers: `float *device_array(size_t n)`,
//! `allocate(&pointer, n)`, or the constructor of a buffer class. For such an allocation, the name of the caller's
//! variable is better.

use super::calls::{Names, base_name, cuda_allocation};
use super::holders::{is_just_memory, is_smart_pointer, owner_of};
use super::library::{is_standard, is_toolkit};
use super::names::{Name, object_at, pointer_at, result_of};
use crate::llvm::debug::Scope;
use crate::llvm::value::{Linkage, Opcode};
use crate::llvm::{Layout, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// How a wrapper's caller receives the memory.
#[derive(Clone, Debug, PartialEq)]
enum Via {
    /// Through an argument: the address of the pointer.
    Pointer { index: usize },
    /// Through an argument: the address of the object that holds the pointer in its member `suffix` (`.nodes`). The
    /// suffix is empty if the object mainly represents its memory.
    Object { index: usize, suffix: String },
    /// As the result.
    Result,
}

#[derive(Clone, Debug)]
struct Wrapper {
    via: Via,
    /// The wrapper's own name for the memory, for callers without a better name; empty if the name has no meaning for
    /// them.
    own_name: String,
    /// Whether other translation units, or calls through pointers, may also call the wrapper without a better name.
    has_unseen_callers: bool,
}

/// The name of an allocation inside the standard library, in addition to the object on which the library works.
pub(super) struct Inside {
    /// The text that follows the object's name.
    pub(super) suffix: String,
    /// The name if no such object is known.
    pub(super) alone: String,
    /// Whether it is the memory of the object itself, as an allocator returns it, not that of an element.
    pub(super) is_storage: bool,
}

/// The wrappers of the module.
pub(super) struct Wrappers<'c> {
    known: HashMap<Value<'c>, Wrapper>,
    allocating: HashSet<Value<'c>>,
}

impl<'c> Wrappers<'c> {
    /// Finds the wrappers of a module.
    pub(super) fn find(module: &Module<'c>, layout: Layout<'_>) -> Self {
        let mut wrappers = Wrappers { known: HashMap::new(), allocating: HashSet::new() };
        // A function is analysed after all functions that it calls. Recursive functions are never analysed, and are not
        // wrappers.
        let mut left = allocating(module);
        wrappers.allocating.extend(left.keys());
        loop {
            let ready: Vec<_> = left
                .iter()
                .filter(|(_, callees)| !callees.iter().any(|callee| left.contains_key(callee)))
                .map(|(function, callees)| (*function, callees.clone()))
                .collect();
            for (function, callees) in &ready {
                left.remove(function);
                // If a callee names its allocation itself, this name would replace the name of this function.
                if !function.is_declaration()
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

    /// Returns whether a function's allocation is named by its callers; `Some(true)` means by some of them.
    pub(super) fn is_named_outside(&self, function: Value<'c>) -> Option<bool> {
        self.known.get(&function).map(|wrapper| wrapper.has_unseen_callers)
    }

    /// Returns whether a function of the module allocates, directly or through others.
    pub(super) fn allocates(&self, function: Value<'c>) -> bool {
        self.allocating.contains(&function)
    }

    /// Returns the allocation of a wrapper that the standard library calls; `None` for other calls.
    pub(super) fn inside_library(&self, call: Value<'c>) -> Option<Inside> {
        let wrapper = self.known.get(&call.direct_callee()?)?;
        let suffix = match &wrapper.via {
            Via::Object { suffix, .. } => suffix.clone(),
            Via::Pointer { .. } | Via::Result => String::new(),
        };
        Some(Inside { suffix, alone: wrapper.own_name.clone(), is_storage: wrapper.via == Via::Result })
    }

    /// Returns the name of the allocation of a call, if the call is CUDA's own allocation or a wrapper. The outer
    /// option is `Some` if it is such a call.
    pub(super) fn allocated(&self, call: Value<'c>, layout: Layout<'_>) -> Option<Option<Name<'c>>> {
        let callee = call.direct_callee()?;
        let arguments = call.call_arguments();
        if let Some(wrapper) = self.known.get(&callee) {
            let name = match &wrapper.via {
                Via::Pointer { index } => arguments.get(*index).and_then(|&target| pointer_at(target, layout)),
                Via::Object { index, suffix } => arguments
                    .get(*index)
                    .and_then(|&object| object_at(object, layout).or_else(|| owner_of(object, layout)))
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
        // Its variables have no meaning for users, and its callers have names while they run.
        if is_standard(&function.name()) {
            return None;
        }
        let has_unseen_callers = !is_seen_whole(function);
        let mut found = function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
            .filter_map(|call| Some((call, self.allocated(call, layout)?)));
        let (call, name) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        // The function returns the result of another wrapper.
        let returned = self.known.get(&call.direct_callee()?).is_some_and(|inner| inner.via == Via::Result)
            && (is_returned(call) || result_slot(call).is_some_and(is_slot_returned));
        if returned {
            let own_name = name.map(|name| name.text.concat()).unwrap_or_default();
            return Some(Wrapper { via: Via::Result, own_name, has_unseen_callers });
        }
        let name = name.filter(|name| name.indices.is_empty())?;
        let own_name = name.text.concat();
        let root = name.root?;
        let inner = call.direct_callee().and_then(|callee| self.known.get(&callee));
        let via = match parameter_of(root, function) {
            Some((index, parameter)) if name.by_address => {
                let suffix = own_name.strip_prefix(&parameter).unwrap_or(&own_name);
                let suffix = suffix.strip_prefix("->").or(suffix.strip_prefix('.')).unwrap_or(suffix);
                match suffix {
                    "" if !inner.is_some_and(|inner| matches!(inner.via, Via::Object { .. })) => Via::Pointer { index },
                    "" => Via::Object { index, suffix: String::new() },
                    field if name.root_class.is_some_and(|class| is_just_memory(class, field)) => {
                        Via::Object { index, suffix: String::new() }
                    }
                    path => Via::Object { index, suffix: format!(".{path}") },
                }
            }
            // The object is returned in the caller's memory.
            Some((index, variable)) if function.has_attribute(index as u32 + 1, "sret") => {
                let suffix = own_name.strip_prefix(&variable)?.to_owned();
                Via::Object { index, suffix }
            }
            None if !name.by_address && own_name == name.root_name && is_slot_returned(root) => Via::Result,
            // A smart pointer is created from the pointer.
            None if !name.by_address && own_name == name.root_name && function.has_attribute(1, "sret") => {
                let class = Scope::of_function(function).and_then(Scope::result)?;
                if !is_smart_pointer(class) {
                    return None;
                }
                Via::Object { index: 0, suffix: String::new() }
            }
            _ => return None,
        };
        Some(Wrapper { via, own_name, has_unseen_callers })
    }
}

/// Returns the functions that allocate, directly or through other functions of the module, and these other functions.
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

/// Returns whether the module contains all callers of a function: the function is local to the unit or comes from a
/// header, and it is only called.
fn is_seen_whole(function: Value<'_>) -> bool {
    let everywhere = matches!(
        function.linkage(),
        Linkage::LLVMInternalLinkage
            | Linkage::LLVMPrivateLinkage
            | Linkage::LLVMLinkOnceAnyLinkage
            | Linkage::LLVMLinkOnceODRLinkage
            | Linkage::LLVMWeakAnyLinkage
            | Linkage::LLVMWeakODRLinkage
    );
    everywhere && function.users().into_iter().all(|user| user.direct_callee() == Some(function))
}

/// Returns the index and source name of the parameter that a stack slot contains, in unoptimised code.
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

/// Returns whether a function returns a value, directly or through its slot for the result.
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
