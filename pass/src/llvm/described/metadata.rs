//! Notes: metadata that Warpline attaches to instructions, and named metadata of a module.

use super::debug::{Location, Scope};
use crate::llvm::shim;
use crate::llvm::value::Value;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

/// The source location of a memory access. It is kept in addition to `!dbg`, because the optimiser drops `!dbg` more
/// often.
pub const LOCATION: &str = "warpline.loc";
/// The location of an access that was merged with another access. It is exact except for the merge.
pub const NEAR: &str = "warpline.near";
/// Marks instructions that come from libdevice.
pub const LIBRARY: &str = "warpline.libdevice";
/// The number of a floating-point operation that is tracked.
pub const OPERATION: &str = "warpline.operation";

fn kind_of(context: LLVMContextRef, name: &str) -> u32 {
    // SAFETY: a live context; the name is passed as pointer and length.
    unsafe { LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32) }
}

/// Returns the location in a note of an instruction.
pub fn location<'c>(instruction: Value<'c>, kind: &str) -> Option<Location<'c>> {
    if !instruction.is_instruction() {
        return None;
    }
    // SAFETY: the value is an instruction, as checked above; the node is null or a packed location, which the shim
    // unpacks.
    unsafe {
        let node = LLVMGetMetadata(instruction.raw(), kind_of(instruction.types().raw(), kind));
        if node.is_null() {
            return None;
        }
        Location::from_nullable(shim::wl_unpack_location(LLVMValueAsMetadata(node)))
    }
}

/// Adds a note with a location to an instruction. LLVM allows location nodes only under `!dbg`, so the location is
/// packed.
pub fn set_location<'c>(instruction: Value<'c>, kind: &str, location: Location<'c>) {
    let context = instruction.types().raw();
    if instruction.is_instruction() {
        // SAFETY: an instruction, checked above, and a node of its live context.
        unsafe {
            LLVMSetMetadata(
                instruction.raw(),
                kind_of(context, kind),
                LLVMMetadataAsValue(context, shim::wl_pack_location(location.raw())),
            )
        }
    }
}

/// Adds a note with a text to an instruction.
pub fn set_text(instruction: Value<'_>, kind: &str, text: &str) {
    let context = instruction.types().raw();
    if instruction.is_instruction() {
        // SAFETY: an instruction, checked above, and nodes of its live context.
        unsafe {
            let mut string = LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
            let node = LLVMMDNodeInContext2(context, &mut string, 1);
            LLVMSetMetadata(instruction.raw(), kind_of(context, kind), LLVMMetadataAsValue(context, node))
        }
    }
}

/// Returns the text in a note of an instruction.
pub fn text(instruction: Value<'_>, kind: &str) -> Option<String> {
    if !instruction.is_instruction() {
        return None;
    }
    // SAFETY: the value is an instruction, as checked above; the node has one operand, for which the array has room,
    // and the text is copied immediately.
    unsafe {
        let node = LLVMGetMetadata(instruction.raw(), kind_of(instruction.types().raw(), kind));
        if node.is_null() || LLVMGetMDNodeNumOperands(node) != 1 {
            return None;
        }
        let mut string = std::ptr::null_mut();
        LLVMGetMDNodeOperands(node, &mut string);
        let mut length = 0;
        let bytes = LLVMGetMDString(string, &mut length);
        (!bytes.is_null()).then(|| crate::llvm::text::copy_text(bytes, length as usize))
    }
}

/// Returns the identity of a position, regardless of the functions into which it is inlined. Equal positions have equal
/// numbers in one context.
pub fn place_key(location: Location<'_>) -> usize {
    // SAFETY: a live location.
    unsafe { shim::wl_pack_location(location.with_inlined_at(None).raw()) as usize }
}

/// Adds a text for a position to a list of the module.
pub fn list_text(module: &Module<'_>, list: &std::ffi::CStr, location: Location<'_>, text: &str) {
    // SAFETY: a live module, and nodes made in its context; the array outlives the calls.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let mut pair = [
            shim::wl_pack_location(location.with_inlined_at(None).raw()),
            LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len()),
        ];
        let node = LLVMMDNodeInContext2(context, pair.as_mut_ptr(), pair.len());
        LLVMAddNamedMetadataOperand(module.as_mut_ptr(), list.as_ptr(), LLVMMetadataAsValue(context, node));
    }
}

/// Returns the positions and texts of such a list, keyed by [`place_key`].
pub fn listed_texts(module: &Module<'_>, list: &std::ffi::CStr) -> std::collections::HashMap<usize, String> {
    let mut texts = std::collections::HashMap::new();
    for node in named(module, list) {
        // SAFETY: the nodes are live; the array has the length that LLVM requires, and texts are copied immediately.
        unsafe {
            if LLVMGetMDNodeNumOperands(node) != 2 {
                continue;
            }
            let mut pair = [std::ptr::null_mut(); 2];
            LLVMGetMDNodeOperands(node, pair.as_mut_ptr());
            let mut length = 0;
            let bytes = LLVMGetMDString(pair[1], &mut length);
            if !bytes.is_null() {
                texts.insert(
                    LLVMValueAsMetadata(pair[0]) as usize,
                    crate::llvm::text::copy_text(bytes, length as usize),
                );
            }
        }
    }
    texts
}

/// Adds an empty note to an instruction.
pub fn mark(instruction: Value<'_>, kind: &str) {
    let context = instruction.types().raw();
    if instruction.is_instruction() {
        // SAFETY: an instruction, checked above, and a node of its live context.
        unsafe {
            let empty = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
            LLVMSetMetadata(instruction.raw(), kind_of(context, kind), LLVMMetadataAsValue(context, empty))
        }
    }
}

/// Copies a note, if there is one, to another instruction.
pub fn copy<'c>(from: Value<'c>, to: Value<'c>, kind: &str) {
    if !from.is_instruction() || !to.is_instruction() {
        return;
    }
    // SAFETY: two instructions, checked above; a note of one is a node of the context of both.
    unsafe {
        let id = kind_of(from.types().raw(), kind);
        let node = LLVMGetMetadata(from.raw(), id);
        if !node.is_null() {
            LLVMSetMetadata(to.raw(), id, node);
        }
    }
}

/// Removes a note from an instruction.
pub fn clear(instruction: Value<'_>, kind: &str) {
    if instruction.is_instruction() {
        // SAFETY: the value is an instruction, as checked above; null removes the note.
        unsafe { LLVMSetMetadata(instruction.raw(), kind_of(instruction.types().raw(), kind), std::ptr::null_mut()) }
    }
}

/// Returns the module's compile units, as scopes.
pub fn compile_units<'c>(module: &Module<'c>) -> Vec<Scope<'c>> {
    named(module, c"llvm.dbg.cu")
        .into_iter()
        // SAFETY: the node is live, because `named` found it.
        .filter_map(|node| unsafe { Scope::from_nullable(LLVMValueAsMetadata(node)) })
        .collect()
}

fn named(module: &Module<'_>, name: &std::ffi::CStr) -> Vec<LLVMValueRef> {
    // SAFETY: a live module and a zero-terminated name; the array has the length that LLVM requires.
    unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), name.as_ptr());
        let mut nodes = vec![std::ptr::null_mut(); count as usize];
        if count > 0 {
            LLVMGetNamedMetadataOperands(module.as_mut_ptr(), name.as_ptr(), nodes.as_mut_ptr());
        }
        nodes
    }
}

/// Adds `{ variable, text, number }` to a list of the module.
pub fn annotate(module: &Module<'_>, list: &std::ffi::CStr, variable: Value<'_>, text: &str, number: u64) {
    let number = Value::int(variable.types().int(32), number);
    // SAFETY: a live module, and nodes made in its context; the array outlives the calls.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let mut fields = [
            LLVMValueAsMetadata(variable.raw()),
            LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len()),
            LLVMValueAsMetadata(number.raw()),
        ];
        let node = LLVMMDNodeInContext2(context, fields.as_mut_ptr(), fields.len());
        LLVMAddNamedMetadataOperand(module.as_mut_ptr(), list.as_ptr(), LLVMMetadataAsValue(context, node));
    }
}

/// Returns the variables that have `text` in such a list.
pub fn annotated<'c>(module: &Module<'c>, list: &std::ffi::CStr, text: &str) -> Vec<Value<'c>> {
    // SAFETY: the nodes are live; the array has the length that LLVM requires, and texts are copied immediately.
    let entries = named(module, list).into_iter().filter_map(|node| unsafe {
        let count = LLVMGetMDNodeNumOperands(node) as usize;
        let mut fields = vec![std::ptr::null_mut(); count];
        LLVMGetMDNodeOperands(node, fields.as_mut_ptr());
        let &[variable, key, _] = fields.as_slice() else { return None };
        if variable.is_null() || key.is_null() {
            return None;
        }
        let mut length = 0;
        let bytes = LLVMGetMDString(key, &mut length);
        let same = !bytes.is_null() && crate::llvm::text::copy_text(bytes, length as usize) == text;
        Value::from_nullable(variable).filter(|variable| same && variable.is_global_variable())
    });
    entries.collect()
}
