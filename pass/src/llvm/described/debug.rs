//! Debug information: locations, the functions and files that they lie in, variables and their types.

use crate::llvm::shim;
use crate::llvm::value::Value;
use inkwell::context::Context;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use std::marker::PhantomData;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name<'c> {
            raw: LLVMMetadataRef,
            context: PhantomData<&'c Context>,
        }

        impl<'c> $name<'c> {
            /// Wraps what LLVM returned, unless it is null.
            ///
            /// # Safety
            /// `raw` is null or a live node of the context `'c`, and of the kind that this handle is for.
            pub(in crate::llvm) unsafe fn from_nullable(raw: LLVMMetadataRef) -> Option<Self> {
                (!raw.is_null()).then_some($name { raw, context: PhantomData })
            }

            /// Returns the raw node.
            pub fn raw(self) -> LLVMMetadataRef {
                self.raw
            }
        }
    };
}

handle! {
    /// A source location (`DILocation`) with its inlined-at chain.
    Location
}
handle! {
    /// What a location lies in: a function or a block of one, a file, a compile unit.
    Scope
}
handle! {
    /// A local or global variable.
    Variable
}
handle! {
    /// A source type.
    DebugType
}

impl<'c> Location<'c> {
    /// Returns the location of an instruction, also if its line is 0.
    pub fn from_instruction(instruction: Value<'c>) -> Option<Self> {
        if !instruction.is_instruction() {
            return None;
        }
        // SAFETY: an instruction, checked above; null where it has no location.
        unsafe { Location::from_nullable(LLVMInstructionGetDebugLoc(instruction.raw())) }
    }

    /// Gives an instruction this location.
    pub fn attach(self, instruction: Value<'c>) {
        if instruction.is_instruction() {
            // SAFETY: an instruction, checked above, and a live location.
            unsafe { LLVMInstructionSetDebugLoc(instruction.raw(), self.raw) }
        }
    }

    /// Line, 0 where the compiler gave up.
    pub fn line(self) -> u32 {
        // SAFETY: a live location.
        unsafe { LLVMDILocationGetLine(self.raw) }
    }

    /// Column, 0 unknown.
    pub fn column(self) -> u32 {
        // SAFETY: a live location.
        unsafe { LLVMDILocationGetColumn(self.raw) }
    }

    /// Scope that it lies in.
    pub fn scope(self) -> Option<Scope<'c>> {
        // SAFETY: a live location; every one lies in a scope.
        unsafe { Scope::from_nullable(LLVMDILocationGetScope(self.raw)) }
    }

    /// Returns whether it lies in the same function and inlined copy as `other`.
    pub fn scope_is_in(self, other: Location<'c>) -> bool {
        let function = |location: Location<'c>| location.scope().and_then(Scope::subprogram);
        function(self) == function(other) && self.inlined_at() == other.inlined_at()
    }

    /// Place of the call that was inlined.
    pub fn inlined_at(self) -> Option<Location<'c>> {
        // SAFETY: a live location; null where it was not inlined.
        unsafe { Location::from_nullable(LLVMDILocationGetInlinedAt(self.raw)) }
    }

    /// This location and the calls that it was inlined through, innermost first.
    pub fn chain(self) -> Vec<Location<'c>> {
        let mut chain = vec![self];
        while let Some(outer) = chain.last().and_then(|last| last.inlined_at()) {
            chain.push(outer);
        }
        chain
    }

    /// Returns the same place, inlined at `outer`.
    pub fn with_inlined_at(self, outer: Option<Location<'c>>) -> Location<'c> {
        let outer = outer.map_or(std::ptr::null_mut(), Location::raw);
        // SAFETY: live locations; the outer one may be null.
        Location { raw: unsafe { shim::wl_location_with_inlined_at(self.raw, outer) }, context: PhantomData }
    }
}

impl<'c> Scope<'c> {
    /// Returns the subprogram of a function.
    pub fn of_function(function: Value<'c>) -> Option<Self> {
        if !function.is_function() {
            return None;
        }
        // SAFETY: a function, checked above; null without debug information.
        unsafe { Scope::from_nullable(LLVMGetSubprogram(function.raw())) }
    }

    /// Returns the function around it, itself if it is one.
    pub fn subprogram(self) -> Option<Scope<'c>> {
        // SAFETY: a live scope; null outside functions.
        unsafe { Scope::from_nullable(shim::wl_scope_subprogram(self.raw)) }
    }

    /// Source name of the function around it, without parameters; empty outside functions.
    pub fn function_name(self) -> String {
        // SAFETY: a live scope; the text is copied at once.
        unsafe { shim::wl_scope_name(self.raw) }.copy()
    }

    /// Mangled name of the function around it; empty for C names.
    pub fn linkage_name(self) -> String {
        // SAFETY: a live scope; the text is copied at once.
        unsafe { shim::wl_scope_linkage_name(self.raw) }.copy()
    }

    /// Demangled name of the function around it, with parameters where the language has them in the name.
    pub fn demangled_name(self) -> String {
        let mangled = self.linkage_name();
        if !mangled.is_empty() {
            return shim::demangle(&mangled);
        }
        let name = self.function_name();
        // SAFETY: a live scope; the shim hands its text over.
        match unsafe { shim::take(shim::wl_scope_qualifier(self.raw)) } {
            Some(outer) if !outer.is_empty() => format!("{outer}::{name}"),
            _ => name,
        }
    }

    /// Type that the function returns; none for void.
    pub fn result(self) -> Option<DebugType<'c>> {
        // SAFETY: a live scope; null for void and outside functions.
        unsafe { DebugType::from_nullable(shim::wl_scope_result(self.raw)) }
    }

    /// Line where the function begins; only for a subprogram.
    pub fn line(self) -> u32 {
        match self.subprogram() {
            // SAFETY: a subprogram, as `subprogram` returns.
            Some(function) => unsafe { LLVMDISubprogramGetLine(function.raw) },
            None => 0,
        }
    }

    /// Absolute path of its file, as far as the compiler knew one.
    pub fn path(self) -> Option<String> {
        // SAFETY: a live scope; null where it has no file.
        file_path(unsafe { LLVMDIScopeGetFile(self.raw) })
    }
}

fn file_path(file: LLVMMetadataRef) -> Option<String> {
    if file.is_null() {
        return None;
    }
    // SAFETY: a live file; the texts are copied at once.
    let (folder, name) = unsafe {
        let mut length = 0;
        let folder = LLVMDIFileGetDirectory(file, &mut length);
        let folder = crate::llvm::text::copy_text(folder, length as usize);
        let name = LLVMDIFileGetFilename(file, &mut length);
        (folder, crate::llvm::text::copy_text(name, length as usize))
    };
    if name.is_empty() {
        return None;
    }
    if name.starts_with('/') || folder.is_empty() {
        return Some(clean(&name));
    }
    Some(clean(&format!("{}/{name}", folder.trim_end_matches('/'))))
}

/// Takes `.` and doubled slashes out of a path; `..` stays, since links may be before it.
fn clean(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", parts.join("/"))
}

impl<'c> Variable<'c> {
    /// Returns the variable that a stack slot, argument or value holds, from the debug records about it.
    pub fn of_value(value: Value<'c>) -> Option<Self> {
        if !(value.is_instruction() || value.is_argument()) {
            return None;
        }
        // SAFETY: live; null where no record names a variable.
        unsafe { Variable::from_nullable(shim::wl_local_variable(value.raw())) }
    }

    /// Returns the variable of which a value is a part, as optimisation takes structures apart, and the part's offset in bytes.
    pub fn of_part(value: Value<'c>) -> Option<(Self, u64)> {
        if !(value.is_instruction() || value.is_argument()) {
            return None;
        }
        let mut offset = 0;
        // SAFETY: live; null where no record names a variable, and the offset outlives the call.
        let variable = unsafe { Variable::from_nullable(shim::wl_variable_part(value.raw(), &mut offset)) }?;
        Some((variable, offset))
    }

    /// Returns the variable behind a global.
    pub fn of_global(global: Value<'c>) -> Option<Self> {
        if !global.is_global_variable() {
            return None;
        }
        // SAFETY: a global variable, checked above; null without debug information.
        unsafe { Variable::from_nullable(shim::wl_global_variable(global.raw())) }
    }

    /// Source name.
    pub fn name(self) -> String {
        // SAFETY: a live variable; the text is copied at once.
        unsafe { shim::wl_variable_name(self.raw) }.copy()
    }

    /// Absolute path of the declaration's file.
    pub fn path(self) -> Option<String> {
        // SAFETY: a live variable; null where it has no file.
        file_path(unsafe { shim::wl_variable_file(self.raw) })
    }

    /// Line of the declaration.
    pub fn line(self) -> u32 {
        // SAFETY: a live variable.
        unsafe { shim::wl_variable_line(self.raw) }
    }

    /// Returns whether it is a parameter of a function.
    pub fn is_parameter(self) -> bool {
        // SAFETY: a live variable.
        unsafe { shim::wl_variable_is_parameter(self.raw) }
    }

    /// Its type.
    pub fn ty(self) -> Option<DebugType<'c>> {
        // SAFETY: a live variable; null where it has no type.
        unsafe { DebugType::from_nullable(shim::wl_variable_type(self.raw)) }
    }
}

impl<'c> DebugType<'c> {
    /// What a pointer or reference leads to.
    pub fn pointee(self) -> Option<DebugType<'c>> {
        // SAFETY: a live type; null where it leads nowhere.
        unsafe { DebugType::from_nullable(shim::wl_pointee(self.raw)) }
    }

    /// Name and size in bytes, if it is a structure, class or union; the name may be empty.
    pub fn structure(self) -> Option<(String, u64)> {
        // SAFETY: a live type; 0 where it is not a structure.
        let bytes = unsafe { shim::wl_structure_bytes(self.raw) };
        // SAFETY: a live type; the text is copied at once.
        (bytes != 0).then(|| (unsafe { shim::wl_structure_name(self.raw) }.copy(), bytes))
    }

    /// How many members of this structure or class, those of its bases included, are pointers or smart pointers.
    pub fn pointer_members(self) -> u32 {
        // SAFETY: a live type; 0 where it is not a structure.
        unsafe { shim::wl_pointer_members(self.raw) }
    }

    /// Returns whether it is a reference.
    pub fn is_reference(self) -> bool {
        // SAFETY: a live type.
        unsafe { shim::wl_is_reference(self.raw) }
    }

    /// Path (`.nodes`, `[2].x`, empty) and type of what lies `offset` bytes into a value of this type and has `size`
    /// bytes; of what lies innermost there, when nothing has that size. `enter` requests a member even if the value
    /// itself fits.
    pub fn member(self, offset: u64, size: u64, enter: bool) -> Option<(String, DebugType<'c>)> {
        let mut inner = std::ptr::null_mut();
        // SAFETY: a live type; the shim hands its text over and writes a live type or null.
        unsafe {
            let path = shim::take(shim::wl_member_path(self.raw, offset, size, enter, &mut inner))?;
            Some((path, DebugType::from_nullable(inner)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn paths_lose_only_what_means_nothing() {
        assert_eq!(clean("/a//b/./c.cu"), "/a/b/c.cu");
        assert_eq!(clean("/a/../b.cu"), "/a/../b.cu");
        assert_eq!(clean("./b.cu"), "b.cu");
    }
}
