//! Debug information: locations, their functions and files, and variables with their types.

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
            /// Wraps a node from LLVM, unless it is null.
            ///
            /// # Safety
            /// `raw` is null or a live node of the context `'c`, and of the kind that this handle represents.
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
    /// The scope of a location: a function or a block of a function, a file, a compile unit.
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
    /// Returns the location of an instruction, even if its line is 0.
    pub fn from_instruction(instruction: Value<'c>) -> Option<Self> {
        if !instruction.is_instruction() {
            return None;
        }
        // SAFETY: an instruction, checked above; null where it has no location.
        unsafe { Location::from_nullable(LLVMInstructionGetDebugLoc(instruction.raw())) }
    }

    /// Sets the location of an instruction.
    pub fn attach(self, instruction: Value<'c>) {
        if instruction.is_instruction() {
            // SAFETY: an instruction, checked above, and a live location.
            unsafe { LLVMInstructionSetDebugLoc(instruction.raw(), self.raw) }
        }
    }

    /// Returns the line, or 0 if the compiler did not determine it.
    pub fn line(self) -> u32 {
        // SAFETY: a live location.
        unsafe { LLVMDILocationGetLine(self.raw) }
    }

    /// Returns the column, or 0 if it is unknown.
    pub fn column(self) -> u32 {
        // SAFETY: a live location.
        unsafe { LLVMDILocationGetColumn(self.raw) }
    }

    /// Returns the scope of the location.
    pub fn scope(self) -> Option<Scope<'c>> {
        // SAFETY: the location is live; every location is in a scope.
        unsafe { Scope::from_nullable(LLVMDILocationGetScope(self.raw)) }
    }

    /// Returns whether the location is in the same function and inlined copy as `other`.
    pub fn scope_is_in(self, other: Location<'c>) -> bool {
        let function = |location: Location<'c>| location.scope().and_then(Scope::subprogram);
        function(self) == function(other) && self.inlined_at() == other.inlined_at()
    }

    /// Returns the position of the call that was inlined.
    pub fn inlined_at(self) -> Option<Location<'c>> {
        // SAFETY: the location is live; the result is null if it was not inlined.
        unsafe { Location::from_nullable(LLVMDILocationGetInlinedAt(self.raw)) }
    }

    /// Returns this location and the positions of the calls through which it was inlined, innermost first.
    pub fn chain(self) -> Vec<Location<'c>> {
        let mut chain = vec![self];
        while let Some(outer) = chain.last().and_then(|last| last.inlined_at()) {
            chain.push(outer);
        }
        chain
    }

    /// Returns the same location, inlined at `outer`.
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
        // SAFETY: the value is a function, as checked above; the result is null without debug information.
        unsafe { Scope::from_nullable(LLVMGetSubprogram(function.raw())) }
    }

    /// Returns the function that contains the scope, or the scope itself if it is a function.
    pub fn subprogram(self) -> Option<Scope<'c>> {
        // SAFETY: a live scope; null outside functions.
        unsafe { Scope::from_nullable(shim::wl_scope_subprogram(self.raw)) }
    }

    /// Returns the source name of the function that contains the scope, without parameters; empty outside functions.
    pub fn function_name(self) -> String {
        // SAFETY: the scope is live; the text is copied immediately.
        unsafe { shim::wl_scope_name(self.raw) }.copy()
    }

    /// Returns the mangled name of the function that contains the scope; empty for C names.
    pub fn linkage_name(self) -> String {
        // SAFETY: the scope is live; the text is copied immediately.
        unsafe { shim::wl_scope_linkage_name(self.raw) }.copy()
    }

    /// Returns the demangled name of the function that contains the scope, with parameters if the language includes
    /// them in the name.
    pub fn demangled_name(self) -> String {
        let mangled = self.linkage_name();
        if !mangled.is_empty() {
            return shim::demangle(&mangled);
        }
        let name = self.function_name();
        // SAFETY: the scope is live; the shim passes the ownership of its text.
        match unsafe { shim::take(shim::wl_scope_qualifier(self.raw)) } {
            Some(outer) if !outer.is_empty() => format!("{outer}::{name}"),
            _ => name,
        }
    }

    /// Returns the type that the function returns, or `None` for void.
    pub fn result(self) -> Option<DebugType<'c>> {
        // SAFETY: the scope is live; the result is null for void and outside functions.
        unsafe { DebugType::from_nullable(shim::wl_scope_result(self.raw)) }
    }

    /// Returns the line where the function begins; only for a subprogram.
    pub fn line(self) -> u32 {
        match self.subprogram() {
            // SAFETY: the scope is a subprogram, because `subprogram` returned it.
            Some(function) => unsafe { LLVMDISubprogramGetLine(function.raw) },
            None => 0,
        }
    }

    /// Returns the absolute path of the scope's file, if the compiler knew it.
    pub fn path(self) -> Option<String> {
        // SAFETY: the scope is live; the result is null if it has no file.
        file_path(unsafe { LLVMDIScopeGetFile(self.raw) })
    }
}

fn file_path(file: LLVMMetadataRef) -> Option<String> {
    if file.is_null() {
        return None;
    }
    // SAFETY: the file is live; the texts are copied immediately.
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

/// Removes `.` and doubled slashes from a path. `..` stays, because the component before it may be a link.
fn clean(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", parts.join("/"))
}

impl<'c> Variable<'c> {
    /// Returns the variable that a stack slot, argument or value contains, from its debug records.
    pub fn of_value(value: Value<'c>) -> Option<Self> {
        if !(value.is_instruction() || value.is_argument()) {
            return None;
        }
        // SAFETY: the value is live; the result is null if no record names a variable.
        unsafe { Variable::from_nullable(shim::wl_local_variable(value.raw())) }
    }

    /// Returns the variable of which a value is a part, because optimisation splits structures, and the part's offset
    /// in bytes.
    pub fn of_part(value: Value<'c>) -> Option<(Self, u64)> {
        if !(value.is_instruction() || value.is_argument()) {
            return None;
        }
        let mut offset = 0;
        // SAFETY: the value is live; the result is null if no record names a variable, and the offset outlives the
        // call.
        let variable = unsafe { Variable::from_nullable(shim::wl_variable_part(value.raw(), &mut offset)) }?;
        Some((variable, offset))
    }

    /// Returns the debug variable of a global.
    pub fn of_global(global: Value<'c>) -> Option<Self> {
        if !global.is_global_variable() {
            return None;
        }
        // SAFETY: a global variable, checked above; null without debug information.
        unsafe { Variable::from_nullable(shim::wl_global_variable(global.raw())) }
    }

    /// Returns the source name.
    pub fn name(self) -> String {
        // SAFETY: a live variable; the text is copied at once.
        unsafe { shim::wl_variable_name(self.raw) }.copy()
    }

    /// Returns the absolute path of the declaration's file.
    pub fn path(self) -> Option<String> {
        // SAFETY: the variable is live; the result is null if it has no file.
        file_path(unsafe { shim::wl_variable_file(self.raw) })
    }

    /// Returns the line of the declaration.
    pub fn line(self) -> u32 {
        // SAFETY: a live variable.
        unsafe { shim::wl_variable_line(self.raw) }
    }

    /// Returns whether the variable is a parameter of a function.
    pub fn is_parameter(self) -> bool {
        // SAFETY: a live variable.
        unsafe { shim::wl_variable_is_parameter(self.raw) }
    }

    /// Returns the type of the variable.
    pub fn ty(self) -> Option<DebugType<'c>> {
        // SAFETY: the variable is live; the result is null if it has no type.
        unsafe { DebugType::from_nullable(shim::wl_variable_type(self.raw)) }
    }
}

impl<'c> DebugType<'c> {
    /// Returns the type to which a pointer or reference refers.
    pub fn pointee(self) -> Option<DebugType<'c>> {
        // SAFETY: the type is live; the result is null if it is not a pointer or reference.
        unsafe { DebugType::from_nullable(shim::wl_pointee(self.raw)) }
    }

    /// Returns the name and size in bytes if the type is a structure, class or union; the name may be empty.
    pub fn structure(self) -> Option<(String, u64)> {
        // SAFETY: the type is live; the result is 0 if it is not a structure.
        let bytes = unsafe { shim::wl_structure_bytes(self.raw) };
        // SAFETY: the type is live; the text is copied immediately.
        (bytes != 0).then(|| (unsafe { shim::wl_structure_name(self.raw) }.copy(), bytes))
    }

    /// Returns the number of members of this structure or class, including those of its bases, that are pointers or
    /// smart pointers.
    pub fn pointer_members(self) -> u32 {
        // SAFETY: the type is live; the result is 0 if it is not a structure.
        unsafe { shim::wl_pointer_members(self.raw) }
    }

    /// Returns whether the type is a reference.
    pub fn is_reference(self) -> bool {
        // SAFETY: a live type.
        unsafe { shim::wl_is_reference(self.raw) }
    }

    /// Returns whether the type is a union.
    pub fn is_union(self) -> bool {
        // SAFETY: a live type.
        unsafe { shim::wl_is_union(self.raw) }
    }

    /// Returns the size in bytes, or 0 if it is unknown.
    pub fn bytes(self) -> u64 {
        // SAFETY: a live type.
        unsafe { shim::wl_type_bytes(self.raw) }
    }

    /// Returns the path (`.nodes`, `[2].x`, empty) and the type of the member at `offset` bytes in a value of this type
    /// that has `size` bytes. If no member there has this size, returns the innermost member. `enter` requests a member
    /// even if the value itself has the size.
    pub fn member(self, offset: u64, size: u64, enter: bool) -> Option<(String, DebugType<'c>)> {
        let mut inner = std::ptr::null_mut();
        // SAFETY: the type is live; the shim passes the ownership of its text and writes a live type or null.
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
