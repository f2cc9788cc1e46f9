//! Objects that hold device memory: buffer classes, smart pointers, containers of them. What they allocate is called
//! like the variable that they are, not like their members.

use super::library::is_standard;
use super::names::{Name, object_at, result_of};
use super::wrappers::Wrappers;
use crate::llvm::debug::{DebugType, Variable};
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// Names of members, without the customary `m_`, `d_` and trailing `_`, that only mean "the memory".
const PLAIN_MEMBERS: [&str; 23] = [
    "addr", "array", "arr", "base", "begin", "buf", "buffer", "d", "data", "dev", "device", "elems", "elements",
    "first", "head", "mem", "memory", "p", "pointer", "ptr", "raw", "start", "storage",
];

/// Returns whether an object of the class is little more than the memory that its member `field` leads to: the member
/// is its only pointer, and has a name that any buffer's could have, or the class is made for any type.
pub(super) fn is_just_memory(class: DebugType<'_>, field: &str) -> bool {
    let Some((name, _)) = class.structure() else { return false };
    class.pointer_members() == 1 && (is_plain(field) || name.contains('<'))
}

fn is_plain(field: &str) -> bool {
    let mut name = field.trim_matches('_');
    for prefix in ["m_", "d_", "dev_", "device_", "p_"] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    PLAIN_MEMBERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Returns whether the class is a smart pointer of the standard library.
pub(super) fn is_smart_pointer(class: DebugType<'_>) -> bool {
    class
        .structure()
        .is_some_and(|(name, _)| ["unique_ptr<", "shared_ptr<"].iter().any(|start| name.starts_with(start)))
}

/// Name of the variable that an unnamed object ends up in, for the function that makes the object: what holds what
/// `new` made, or what a temporary is assigned to.
pub(super) fn owner_of<'c>(object: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    let is_new = object.direct_callee().is_some_and(|callee| callee.name().starts_with("_Znw"));
    if is_new { result_of(object, layout) } else { assigned_to(object, layout) }
}

/// Returns the variable whose assignment operator takes a temporary over: `buffer_ = Buffer(n)`.
fn assigned_to<'c>(object: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    if object.opcode() != Some(Opcode::LLVMAlloca) || Variable::of_value(object).is_some() {
        return None;
    }
    object.users().into_iter().find_map(|call| {
        call.direct_callee().filter(|callee| is_assignment(&callee.name()))?;
        let arguments = call.call_arguments();
        let (&target, &source) = (arguments.first()?, arguments.get(1)?);
        (source == object).then(|| object_at(target, layout)).flatten()
    })
}

/// The object that a call works on while it allocates.
pub(super) struct Holder<'c> {
    /// Its name, if it has one; otherwise what is allocated goes by its own names alone.
    pub(super) name: Option<Name<'c>>,
    /// What is allocated belongs to elements of it.
    pub(super) has_elements: bool,
}

impl<'c> Holder<'c> {
    /// Creates an instance for a call of a method or constructor, or one that returns an object, that is known to allocate or may do so.
    pub(super) fn of_call(call: Value<'c>, wrappers: &Wrappers<'c>, layout: Layout<'_>) -> Option<Self> {
        let callee = call.direct_callee()?;
        let name = callee.name();
        let index = if callee.is_declaration() {
            // Constructors of other translation units: whether they allocate is not known here.
            (is_constructor(&name) && !is_standard(&name)).then_some(0)?
        } else if !wrappers.allocates(callee) {
            return None;
        } else if is_standard(&name) {
            0
        } else {
            object_parameter(callee)?
        };
        let object = *call.call_arguments().get(index)?;
        let name_of_object = object_at(object, layout).or_else(|| owner_of(object, layout));
        if name_of_object.as_ref().is_some_and(Name::is_this) {
            return None;
        }
        Some(Holder { name: name_of_object, has_elements: has_elements(&name) })
    }
}

/// Index of the argument that is the object of a method, or that a returned object is made in.
fn object_parameter(function: Value<'_>) -> Option<usize> {
    let parameters = function.parameters();
    let is_this = |parameter: &Value<'_>| {
        let slots = parameter.users().into_iter().filter(|user| user.opcode() == Some(Opcode::LLVMStore));
        slots.map(|store| store.operand(1)).filter_map(Variable::of_value).any(|variable| variable.name() == "this")
    };
    if let Some(index) = parameters.iter().take(2).position(is_this) {
        return Some(index);
    }
    function.has_attribute(1, "sret").then_some(0)
}

fn is_constructor(mangled: &str) -> bool {
    mangled.starts_with("_ZN") && ["C1E", "C2E"].iter().any(|constructor| mangled.contains(constructor))
}

fn is_assignment(mangled: &str) -> bool {
    mangled.starts_with("_ZN") && (mangled.contains("aSE") || mangled.contains("aSI"))
}

/// Returns whether a function is a method of a container.
fn has_elements(mangled: &str) -> bool {
    const CONTAINERS: [&str; 12] = [
        "6vectorI",
        "5dequeI",
        "3mapI",
        "8multimapI",
        "3setI",
        "8multisetI",
        "13unordered_mapI",
        "18unordered_multimapI",
        "13unordered_setI",
        "7__cxx114listI",
        "12forward_listI",
        "5arrayI",
    ];
    let rest = mangled.strip_prefix("_ZNSt").or_else(|| mangled.strip_prefix("_ZNKSt"));
    rest.is_some_and(|rest| CONTAINERS.iter().any(|name| rest.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_any_buffer_could_have() {
        for field in ["ptr_", "m_data", "d_ptr", "_p", "m_d_data", "pBuffer_".trim_start_matches('p'), "d_"] {
            assert!(is_plain(field), "{field}");
        }
        for field in ["weights", "u_", "x", "temperature", "d_velocity"] {
            assert!(!is_plain(field), "{field}");
        }
    }

    #[test]
    fn assignments_are_reported_by_their_names() {
        assert!(is_assignment("_ZN3gpu5ArrayIfEaSEOS1_") && is_assignment("_ZN6BufferaSIiEERS_OT_"));
        assert!(!is_assignment("_ZN6BufferC2Em") && !is_assignment("_Z6assignR6BufferOS_"));
    }

    #[test]
    fn containers_have_elements() {
        assert!(has_elements("_ZNSt6vectorI6BufferIfESaIS1_EE12emplace_backIJiEEERS1_DpOT_"));
        assert!(has_elements("_ZNSt7__cxx114listI6BufferSaIS1_EE9push_backEOS1_"));
        assert!(!has_elements("_ZSt11make_uniqueI6BufferJiEENSt8__detail9_MakeUniqIT_E15__single_objectEDpOT0_"));
        assert!(!has_elements("_ZNSt8optionalI6BufferE7emplaceIJiEEERS0_DpOT_"));
    }
}
