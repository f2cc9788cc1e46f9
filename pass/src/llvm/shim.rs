//! The C++ shim (`cpp/`), which offers functions that LLVM's C interface does not have.

use super::module::{Machine, MachineError};
use super::source_name::before_externalisation;
use super::value::Value;
use inkwell::context::Context;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::module::Module;
use std::ffi::c_char;

/// Text that LLVM owns.
#[repr(C)]
pub(super) struct Text {
    data: *const c_char,
    size: usize,
}

impl Text {
    pub(super) fn copy(self) -> String {
        // SAFETY: pointer and length come from an LLVM string, which lives as long as its context.
        unsafe { super::text::copy_text(self.data, self.size) }
    }
}

#[repr(C)]
struct RawTuning {
    vectorize: bool,
    unroll: bool,
    keep_notes: bool,
    unroll_for_local_arrays: bool,
}

unsafe extern "C" {
    fn wl_free(text: *mut c_char);
    fn wl_gathers(machine: LLVMTargetMachineRef, context: LLVMContextRef) -> bool;
    fn wl_run_pipeline(
        module: LLVMModuleRef,
        machine: LLVMTargetMachineRef,
        pipeline: *const c_char,
        tuning: *const RawTuning,
    ) -> *mut c_char;
    fn wl_demangle(name: *const c_char) -> *mut c_char;
    fn wl_hide_optimization_failures(context: LLVMContextRef);
    fn wl_expand_constant_users(global: LLVMValueRef);
    fn wl_expand_memory_loop(call: LLVMValueRef, machine: LLVMTargetMachineRef) -> bool;
    fn wl_known_alignment(pointer: LLVMValueRef, at: LLVMValueRef) -> std::ffi::c_uint;

    pub(super) fn wl_scope_name(scope: LLVMMetadataRef) -> Text;
    pub(super) fn wl_scope_linkage_name(scope: LLVMMetadataRef) -> Text;
    pub(super) fn wl_scope_subprogram(scope: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_scope_qualifier(scope: LLVMMetadataRef) -> *mut c_char;
    pub(super) fn wl_scope_result(subprogram: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_split_normal_edge(invoke: LLVMValueRef) -> LLVMBasicBlockRef;
    pub(super) fn wl_split_if(condition: LLVMValueRef, before: LLVMValueRef) -> LLVMValueRef;
    pub(super) fn wl_location_with_inlined_at(location: LLVMMetadataRef, outer: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_pack_location(location: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_unpack_location(packed: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_local_variable(value: LLVMValueRef) -> LLVMMetadataRef;
    pub(super) fn wl_global_variable(global: LLVMValueRef) -> LLVMMetadataRef;
    pub(super) fn wl_variable_name(variable: LLVMMetadataRef) -> Text;
    pub(super) fn wl_variable_file(variable: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_variable_line(variable: LLVMMetadataRef) -> u32;
    pub(super) fn wl_variable_is_parameter(variable: LLVMMetadataRef) -> bool;
    pub(super) fn wl_variable_type(variable: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_pointee(ty: LLVMMetadataRef) -> LLVMMetadataRef;
    pub(super) fn wl_variable_part(value: LLVMValueRef, offset: *mut u64) -> LLVMMetadataRef;
    pub(super) fn wl_structure_name(ty: LLVMMetadataRef) -> Text;
    pub(super) fn wl_structure_bytes(ty: LLVMMetadataRef) -> u64;
    pub(super) fn wl_pointer_members(ty: LLVMMetadataRef) -> u32;
    pub(super) fn wl_is_reference(ty: LLVMMetadataRef) -> bool;
    pub(super) fn wl_is_union(ty: LLVMMetadataRef) -> bool;
    pub(super) fn wl_type_bytes(ty: LLVMMetadataRef) -> u64;
    fn wl_unlist_declarations(module: LLVMModuleRef, folders: *const *const c_char, count: usize);
    fn wl_erase_named_metadata(module: inkwell::llvm_sys::prelude::LLVMModuleRef, name: *const c_char);
    pub(super) fn wl_member_path(
        ty: LLVMMetadataRef,
        offset: u64,
        size: u64,
        enter: bool,
        inner: *mut LLVMMetadataRef,
    ) -> *mut c_char;
}

/// Copies and frees a string that the shim allocated.
///
/// # Safety
/// `text` is null, or it comes from the shim and was not freed.
pub(super) unsafe fn take(text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller fulfils the contract; the shim's strings are zero-terminated.
    unsafe {
        let copy = std::ffi::CStr::from_ptr(text).to_string_lossy().into_owned();
        wl_free(text);
        Some(copy)
    }
}

/// Options of `default<On>` that clang sets from its own options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Whether the loop and straight-line vectorisers run; clang enables them from `-O2` on.
    pub vectorize: bool,
    /// Whether loops are unrolled, from `-O2` on.
    pub unroll: bool,
    /// Whether the `!warpline.loc` notes are preserved while the passes run (device code).
    pub keep_notes: bool,
    /// Whether loops over local arrays are unrolled completely, which keeps the arrays in registers (device code from
    /// `-O2` on).
    pub unroll_for_local_arrays: bool,
}

impl Tuning {
    /// Returns clang's options for `-O<level>`.
    pub fn of_level(level: u8) -> Tuning {
        Tuning { vectorize: level >= 2, unroll: level >= 2, keep_notes: false, unroll_for_local_arrays: false }
    }
}

/// Runs a pipeline in `opt`'s textual form on the module.
pub fn run_pipeline(
    module: &Module<'_>,
    machine: &Machine,
    pipeline: &str,
    tuning: Tuning,
) -> Result<(), MachineError> {
    let raw = RawTuning {
        vectorize: tuning.vectorize,
        unroll: tuning.unroll,
        keep_notes: tuning.keep_notes,
        unroll_for_local_arrays: tuning.unroll_for_local_arrays,
    };
    let text = super::text::c_name(pipeline);
    // SAFETY: module and machine are live; the shim keeps neither pointer.
    let refused =
        unsafe { take(wl_run_pipeline(module.as_mut_ptr(), machine.inner().as_mut_ptr(), text.as_ptr(), &raw)) };
    match refused {
        None => Ok(()),
        Some(cause) => Err(MachineError::Passes { passes: pipeline.into(), cause }),
    }
}

/// Returns whether the machine's processor executes gathers. Otherwise, LLVM would generate a branch per lane.
pub fn gathers(machine: &Machine, module: &Module<'_>) -> bool {
    // SAFETY: live machine and context; the shim keeps neither pointer.
    unsafe { wl_gathers(machine.inner().as_mut_ptr(), module.get_context().raw()) }
}

/// Removes a module's named metadata with this name, if it exists.
pub fn erase_named_metadata(module: &Module<'_>, name: &str) {
    let name = super::text::c_name(name);
    // SAFETY: a live module and a zero-terminated string.
    unsafe { wl_erase_named_metadata(module.as_mut_ptr(), name.as_ptr()) }
}

/// Removes declarations in files of these folders from the lists that debug information has for a whole module:
/// enumerations, and the imports of namespaces.
pub fn unlist_declarations(module: &Module<'_>, folders: &[String]) {
    let names: Vec<_> = folders.iter().map(|folder| super::text::c_name(folder)).collect();
    let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: the module is live, and the strings are zero-terminated and outlive the call, which keeps none of them.
    unsafe { wl_unlist_declarations(module.as_mut_ptr(), pointers.as_ptr(), pointers.len()) }
}

/// Returns the demangled form of an Itanium name, or the name itself if it is not mangled. The suffix that makes a
/// symbol unique in relocatable code is removed.
pub fn demangle(name: &str) -> String {
    let name = before_externalisation(name).unwrap_or(name);
    let raw = super::text::c_name(name);
    // SAFETY: a zero-terminated string.
    unsafe { take(wl_demangle(raw.as_ptr())) }.unwrap_or_else(|| name.into())
}

/// Replaces a `memcpy`, `memmove` or `memset` call by the loop that the NVPTX back end generates for it, and returns
/// whether this was possible. Blocks are split, and the call no longer exists.
pub fn expand_memory_loop(call: Value<'_>, machine: &Machine) -> bool {
    assert!(call.is_call(), "{call} is not a call");
    // SAFETY: a live call; the shim checks its kind first.
    unsafe { wl_expand_memory_loop(call.raw(), machine.inner().as_mut_ptr()) }
}

/// Returns the alignment in bytes that a pointer is known to have at an instruction, as determined by LLVM's back ends.
pub fn known_alignment(pointer: Value<'_>, at: Value<'_>) -> u64 {
    assert!(pointer.ty().is_pointer() && at.is_instruction(), "{pointer} is not a pointer, or {at} no instruction");
    // SAFETY: a live pointer and a live instruction.
    u64::from(unsafe { wl_known_alignment(pointer.raw(), at.raw()) })
}

/// Converts the constant expressions of a global that functions use to instructions, so that its users in functions are
/// instructions.
pub fn expand_constant_users(global: Value<'_>) {
    assert!(global.is_global_variable(), "{global} is not a variable");
    // SAFETY: a live global variable.
    unsafe { wl_expand_constant_users(global.raw()) }
}

/// Creates a context whose passes do not warn about loops that they do not unroll despite `#pragma unroll`. nvcc does
/// not warn either, and for CUB's headers, LLVM would warn in every compilation.
pub fn quiet_context() -> Context {
    let context = Context::create();
    // SAFETY: a live context.
    unsafe { wl_hide_optimization_failures(context.raw()) }
    context
}
