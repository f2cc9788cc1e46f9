//! Objects that hold device memory: buffer classes, smart pointers, and containers of these. Their allocations get the
//! name of the variable that is the object, not the names of the object's members.

use super::library::is_standard;
use super::names::{Name, object_at, result_of};
use super::wrappers::Wrappers;
use crate::llvm::debug::{DebugType, Variable};
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// Names of members that only mean "the memory", without the usual `m_`, `d_` and trailing `_`.
const PLAIN_MEMBERS: [&str; 23] = [
    "addr", "array", "arr", "base", "begin", "buf", "buffer", "d", "data", "dev", "device", "elems", "elements",
    "first", "head", "mem", "memory", "p", "pointer", "ptr", "raw", "start", "storage",
];

/// Returns whether an object of the class mainly represents the memory to which its member `field` points. This is the
/// case if the member is its only pointer, and the member has a generic name or the class is a template for any type.
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

/// Returns the name of the variable in which an unnamed object is stored, for the function that creates the object: the
/// variable that holds the result of `new`, or the variable to which a temporary is assigned.
pub(super) fn owner_of<'c>(object: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    let is_new = object.direct_callee().is_some_and(|callee| callee.name().starts_with("_Znw"));
    if is_new { result_of(object, layout) } else { assigned_to(object, layout) }
}

/// Returns the variable to which a temporary is assigned: `buffer_ = Buffer(n)`.
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

/// The object on which a call works while it allocates.
pub(super) struct Holder<'c> {
    /// The object's name, if it has one; otherwise, allocations only have their own names.
    pub(super) name: Option<Name<'c>>,
    /// Whether allocations belong to elements of the object.
    pub(super) has_elements: bool,
}

impl<'c> Holder<'c> {
    /// Returns the object of a call that allocates or may allocate. The call is a method, a constructor, or a function
    /// that returns an object.
    pub(super) fn of_call(call: Value<'c>, wrappers: &Wrappers<'c>, layout: Layout<'_>) -> Option<Self> {
        let callee = call.direct_callee()?;
        let name = callee.name();
        let index = if callee.is_declaration() {
            // For constructors in other translation units, it is not known here whether they allocate.
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

/// Returns the index of the argument that is the object of a method, or the memory in which a returned object is
/// created.
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
