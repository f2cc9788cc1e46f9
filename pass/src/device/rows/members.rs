//! The rows of accesses that index a member of a structure: an address at which one of the structures starts, the
//! arrays that are indexed, and the layouts of the structures.
//!
//! A row is made only if it is certain where the structures start. The address must come from a variable whose
//! declared type has the structure that the access was noted with: a pointer in a kernel parameter, a device variable
//! or a shared variable. Otherwise, a header before the structures could shift them.

use super::hint;
use super::operand::{Root, of_object, of_pointer, plain, through};
use super::table::Table;
use crate::device::accesses::access::{Access, Lanewise};
use crate::device::member_note::{MemberNote, noted};
use crate::ir::globals::device_globals;
use crate::ir::kernel::is_kernel;
use crate::ir::space;
use crate::llvm::debug::{DebugType, Variable};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Type, Value};
use inkwell::module::Module;
use std::collections::HashMap;
use warpline_format::member::{Base, Field, MemberAccess, MemberArray, Structure};

/// The maximum number of steps from an address to the start of the structures.
const MOST_STEPS: usize = 64;
/// The maximum size in bytes of a structure whose members are listed.
const LARGEST_LISTED: u64 = 16 << 10;
const POINTER_BYTES: u64 = 8;

/// Finds rows, and keeps the layouts that it has found.
pub(in crate::device) struct Members<'c> {
    /// The numbers of the module's variables in the site table.
    globals: HashMap<Value<'c>, u32>,
    layouts: HashMap<Structure, u32>,
}

/// A variable that contains structures, or a pointer to them.
struct Found<'c> {
    base: Base,
    root: Root<'c>,
    /// The type of a variable that contains the structures.
    contents: Option<Type<'c>>,
}

impl<'c> Members<'c> {
    pub(in crate::device) fn new(module: &Module<'c>) -> Self {
        Members { globals: device_globals(module).into_iter().zip(0..).collect(), layouts: HashMap::new() }
    }

    /// Adds the row of an access, if the member that it indexes is known.
    pub(in crate::device) fn add(
        &mut self,
        instruction: Value<'c>,
        (site, access): (u32, &Access<'c>),
        layout: Layout<'_>,
        table: &mut Table<'_>,
    ) {
        let Some(note) = noted(instruction) else { return };
        let is_whole = access.address.offset == 0 && u64::from(access.bytes) == note.element;
        if !is_whole || !matches!(access.address.lanewise, Lanewise::Own) {
            return;
        }
        let Some(found) = self.base(access.address.value, layout, table) else { return };
        if let Some(row) = self.row(site, &note, &found, layout, table) {
            table.table.member_accesses.push(row);
        }
    }

    /// Returns the variable that an address is computed from; `None` if it may be one of several.
    fn base(&self, address: Value<'c>, layout: Layout<'_>, table: &mut Table<'_>) -> Option<Found<'c>> {
        let start = start(address)?;
        if start.is_global_variable() {
            let base = if start.address_space() == space::SHARED {
                Base::Shared(hint::number_of(&mut table.table.shared, start))
            } else {
                Base::Global(*self.globals.get(&start)?)
            };
            let root = Variable::of_global(start).and_then(of_object)?;
            return Some(Found { base, root, contents: Some(start.value_type()) });
        }
        if start.is_argument() {
            let parameter = parameter_of(start)?;
            let root = pointer_of(start)?;
            return Some(Found { base: Base::Parameter { parameter, offset: 0 }, root, contents: None });
        }
        let (argument, offset) = loaded_from(start, layout)?;
        let base = Base::Parameter { parameter: parameter_of(argument)?, offset };
        Some(Found { base, root: through(start, POINTER_BYTES)?, contents: None })
    }

    fn row(
        &mut self,
        site: u32,
        note: &MemberNote,
        found: &Found<'c>,
        layout: Layout<'_>,
        table: &mut Table<'_>,
    ) -> Option<MemberAccess> {
        let first = note.levels.first()?;
        let mut ty = found.root.ty.and_then(|ty| structure_in(ty, first.structure));
        match found.contents {
            Some(contents) => {
                let element = element_of(contents);
                if element.structure_name() != note.structure || layout.size(element) != first.structure {
                    return None;
                }
            }
            None => {
                let (name, _) = ty?.structure()?;
                if ty?.is_union() || !is_same_name(&note.structure, &name) {
                    return None;
                }
            }
        }
        let (mut levels, mut name) = (Vec::new(), found.root.name.clone());
        for (index, array) in note.levels.iter().enumerate() {
            let structure = self.structure(ty, array.structure, table)?;
            let next = note.levels.get(index + 1).map_or(note.element, |next| next.structure);
            let member = ty.and_then(|ty| ty.member(array.offset, next, true));
            name += &member.as_ref().map(|(path, _)| plain(path)).unwrap_or_default();
            let (offset, bytes) = (u32::try_from(array.offset).ok()?, u32::try_from(array.bytes).ok()?);
            levels.push(MemberArray { structure, name: table.name(without_subscript(&name)), offset, bytes });
            ty = member.map(|(_, inner)| inner);
        }
        Some(MemberAccess { site, base: found.base, levels })
    }

    /// Returns the number of a structure's layout in the table.
    fn structure(&mut self, ty: Option<DebugType<'c>>, bytes: u64, table: &mut Table<'_>) -> Option<u32> {
        let ty = ty.filter(|ty| ty.structure().is_some_and(|(_, size)| size == bytes));
        let name = ty.and_then(DebugType::structure).map(|(name, _)| name).filter(|name| !name.is_empty());
        let layout = Structure {
            name: name.map(|name| table.name(name)),
            bytes: u32::try_from(bytes).ok().filter(|&bytes| bytes > 0)?,
            members: ty.filter(|_| bytes <= LARGEST_LISTED).map_or_else(Vec::new, |ty| fields(ty, bytes, table)),
        };
        let structures = &mut table.table.structures;
        Some(*self.layouts.entry(layout).or_insert_with_key(|layout| {
            structures.push(layout.clone());
            structures.len() as u32 - 1
        }))
    }
}

/// Returns the value that an address is computed from by steps of pointers; `None` if there are several.
fn start(address: Value<'_>) -> Option<Value<'_>> {
    let (mut open, mut seen, mut found) = (vec![address], Vec::new(), None);
    while let Some(value) = open.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        if seen.len() > MOST_STEPS {
            return None;
        }
        match value.constant_opcode().or_else(|| value.opcode()) {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMFreeze) => {
                open.push(value.operand(0));
            }
            Some(Opcode::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(from, _)| from)),
            Some(Opcode::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
            _ if found.is_none_or(|found| found == value) => found = Some(value),
            _ => return None,
        }
    }
    found
}

/// Returns the number of a kernel's parameter.
fn parameter_of(argument: Value<'_>) -> Option<u32> {
    let function = argument.argument_of().filter(|&function| is_kernel(function))?;
    let position = function.parameters().iter().position(|&one| one == argument)?;
    Some(position as u32)
}

/// Returns the variable that contains an argument. Optimisation moves the debug information about an argument to its
/// cast.
fn pointer_of(argument: Value<'_>) -> Option<Root<'_>> {
    let is_cast = |user: &Value<'_>| user.opcode() == Some(Opcode::LLVMAddrSpaceCast);
    let values = std::iter::once(argument).chain(argument.users().into_iter().filter(is_cast));
    values.into_iter().find_map(|value| Variable::of_value(value).and_then(of_pointer))
}

/// Returns the parameter with a structure from which a pointer is loaded, and the pointer's offset in it.
fn loaded_from<'c>(load: Value<'c>, layout: Layout<'_>) -> Option<(Value<'c>, u32)> {
    if load.opcode() != Some(Opcode::LLVMLoad) {
        return None;
    }
    let (mut pointer, mut offset) = (load.operand(0), 0i64);
    for _ in 0..MOST_STEPS {
        if pointer.is_argument() {
            let function = pointer.argument_of()?;
            let index = function.parameters().iter().position(|&one| one == pointer)?;
            let is_value = function.has_attribute(index as u32 + 1, "byval");
            return is_value.then_some((pointer, u32::try_from(offset).ok()?));
        }
        match pointer.constant_opcode().or_else(|| pointer.opcode())? {
            Opcode::LLVMGetElementPtr => {
                let steps = crate::ir::address::steps(pointer, layout).filter(|steps| steps.variable.is_empty())?;
                offset = offset.checked_add(steps.constant)?;
            }
            Opcode::LLVMAddrSpaceCast => {}
            Opcode::LLVMCall if pointer.callee_name().starts_with("llvm.nvvm.internal.addrspace.wrap") => {}
            _ => return None,
        }
        pointer = pointer.operand(0);
    }
    None
}

/// Returns the type of the elements of an array of any dimensions, or the type itself.
fn element_of(mut ty: Type<'_>) -> Type<'_> {
    while let Kind::Array(_) = ty.kind() {
        ty = ty.element();
    }
    ty
}

/// Returns the structure of this size that a type is, or that its array elements are.
fn structure_in(ty: DebugType<'_>, bytes: u64) -> Option<DebugType<'_>> {
    let has_size = |ty: &DebugType<'_>| ty.structure().is_some_and(|(_, size)| size == bytes);
    Some(ty).filter(has_size).or_else(|| Some(ty.member(0, bytes, true)?.1).filter(has_size))
}

/// Returns whether a structure of the module, such as `struct.geometry::Particle.2`, has the name that debug
/// information gives it. Structures without a name may be the same.
fn is_same_name(module: &str, declared: &str) -> bool {
    let own = declared.split('<').next().unwrap_or_default();
    let name = module.split_once('.').map_or(module, |(_, name)| name);
    let numbered =
        |(name, number): (&str, &str)| number.bytes().all(|byte| byte.is_ascii_digit()).then_some(name.len());
    let length = name.rsplit_once('.').and_then(numbered).unwrap_or(name.len());
    own.is_empty() || name[..length].rsplit("::").next() == Some(own)
}

/// Returns the path to an array, from a path to a part of one of its elements such as `p.rows[][].x`.
fn without_subscript(path: &str) -> String {
    let end = path.rfind("[]").map_or(path.len(), |end| end);
    path[..end].trim_end_matches("[]").to_owned()
}

/// Returns the members of a structure in the order of their offsets.
fn fields(ty: DebugType<'_>, bytes: u64, table: &mut Table<'_>) -> Vec<Field> {
    let (mut found, mut offset): (Vec<(String, u64, u64)>, u64) = (Vec::new(), 0);
    while offset < bytes {
        let Some((path, inner)) = ty.member(offset, 1, true) else {
            offset += 1;
            continue;
        };
        let (path, size) = (plain(&path), inner.bytes().clamp(1, bytes - offset));
        match found.last_mut() {
            Some((last, start, length)) if *last == path && *start + *length == offset => *length += size,
            _ => found.push((path, offset, size)),
        }
        offset += size;
    }
    let field = |(path, offset, bytes): (String, u64, u64)| Field {
        name: table.name(path),
        offset: offset as u32,
        bytes: bytes as u32,
    };
    found.into_iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_same_name, without_subscript};

    #[test]
    fn arrays_have_no_subscript() {
        for (path, array) in
            [("p.a[]", "p.a"), ("p.rows[][].x", "p.rows"), ("p.cells[].a[]", "p.cells[].a"), ("p.x", "p.x")]
        {
            assert_eq!(without_subscript(path), array);
        }
    }

    #[test]
    fn structures_are_compared_by_their_own_names() {
        for (module, declared) in [
            ("struct.P", "P"),
            ("class.P.12", "P"),
            ("struct.geometry::P", "P"),
            ("struct.List", "List<geometry::P, 4>"),
            ("struct.P", ""),
        ] {
            assert!(is_same_name(module, declared), "{module} {declared}");
        }
        for (module, declared) in [("struct.P", "Q"), ("struct.anon.3", "P"), ("struct.geometry::P", "geometry")] {
            assert!(!is_same_name(module, declared), "{module} {declared}");
        }
    }
}
