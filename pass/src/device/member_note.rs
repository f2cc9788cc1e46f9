//! Notes which member of a structure an access indexes, while the code still shows it.
//!
//! The front end writes `p[t].a[i]` as steps through types: from structure to structure, to the member `a`, and to one
//! of its elements. Optimisation merges these steps into one sum of bytes, so the member is noted before. A pointer to
//! an element that the source computes in another way, such as `float *q = p[t].a; q[i]`, shows no member.

use crate::llvm::metadata::{set_text, text};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Type, Value};

/// The note's name.
const MEMBER: &str = "warpline.member";
/// The maximum number of steps from an access to the pointer that it starts from.
const MOST_STEPS: usize = 32;

/// The member that an access indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MemberNote {
    /// Name of the outermost structure in the module, such as `struct.Particle`.
    pub(super) structure: String,
    /// The indexed arrays, outermost first. Each but the first is a member of an element of the one before it.
    pub(super) levels: Vec<NotedArray>,
    /// Size in bytes of an element of the innermost array.
    pub(super) element: u64,
}

/// An array within a structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NotedArray {
    /// Size in bytes of the structure.
    pub(super) structure: u64,
    /// Offset in bytes of the array from the start of the structure.
    pub(super) offset: u64,
    /// Size in bytes of the array.
    pub(super) bytes: u64,
}

/// Notes the member of an access.
pub(super) fn note(instruction: Value<'_>, layout: Layout<'_>) {
    let Some((pointer, moved)) = pointer_and_type(instruction) else { return };
    if let Some(found) = Walk::follow(pointer, moved, layout) {
        set_text(instruction, MEMBER, &found.to_text());
    }
}

/// Returns the note of an access.
pub(super) fn noted(instruction: Value<'_>) -> Option<MemberNote> {
    MemberNote::from_text(&text(instruction, MEMBER)?)
}

/// Removes the note of an access.
pub(super) fn clear(instruction: Value<'_>) {
    crate::llvm::metadata::clear(instruction, MEMBER);
}

/// Returns the address and the moved type of an access.
fn pointer_and_type(instruction: Value<'_>) -> Option<(Value<'_>, Type<'_>)> {
    match instruction.opcode()? {
        Opcode::LLVMLoad => Some((instruction.operand(0), instruction.ty())),
        Opcode::LLVMStore => Some((instruction.operand(1), instruction.operand(0).ty())),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
            Some((instruction.operand(0), instruction.operand(1).ty()))
        }
        _ => None,
    }
}

impl MemberNote {
    fn to_text(&self) -> String {
        let levels = self.levels.iter().map(|level| format!("{} {} {}", level.structure, level.offset, level.bytes));
        let levels: Vec<String> = levels.collect();
        format!("{}|{}|{}", self.element, levels.join(","), self.structure)
    }

    fn from_text(text: &str) -> Option<MemberNote> {
        let mut parts = text.splitn(3, '|');
        let element = parts.next()?.parse().ok()?;
        let level = |text: &str| {
            let mut numbers = text.split(' ').map(|number| number.parse().ok());
            let mut next = || numbers.next().flatten();
            Some(NotedArray { structure: next()?, offset: next()?, bytes: next()? })
        };
        let levels = parts.next()?.split(',').map(level).collect::<Option<_>>()?;
        Some(MemberNote { structure: parts.next()?.to_owned(), levels, element })
    }
}

/// The steps from a pointer to the accessed element.
struct Walk<'c, 'm> {
    layout: Layout<'m>,
    /// The object at the current address; `None` before the first step from a pointer.
    ty: Option<Type<'c>>,
    /// The innermost structure whose start is at a known distance, and the distance in bytes.
    structure: Option<(Type<'c>, u64)>,
    /// The array within this structure that the address is in: its offset, size, and number of elements.
    array: Option<(u64, u64, u64)>,
    /// Whether an index of this array is not constant, or is outside it.
    indexed: bool,
    /// The indexed arrays of structures around the structure.
    levels: Vec<NotedArray>,
    outermost: Option<Type<'c>>,
    /// Whether the code shows that the structures are elements of an array, or a variable.
    is_element: bool,
    /// Bytes that were added to the address since `ty`.
    pending: u64,
}

impl<'c, 'm> Walk<'c, 'm> {
    /// Follows the steps to a pointer through which a value of the type `moved` is accessed.
    fn follow(pointer: Value<'c>, moved: Type<'c>, layout: Layout<'m>) -> Option<MemberNote> {
        let mut steps = Vec::new();
        let mut base = pointer;
        while let Some(opcode) = base.constant_opcode().or_else(|| base.opcode()) {
            match opcode {
                Opcode::LLVMGetElementPtr => steps.push(base),
                Opcode::LLVMAddrSpaceCast => {}
                _ => break,
            }
            base = base.operand(0);
            if steps.len() > MOST_STEPS {
                return None;
            }
        }
        let variable = base.is_global_variable().then(|| base.value_type());
        let mut walk = Walk {
            layout,
            ty: variable,
            structure: None,
            array: None,
            indexed: false,
            levels: Vec::new(),
            outermost: None,
            is_element: variable.is_some(),
            pending: 0,
        };
        if variable.is_some_and(is_union) {
            return None;
        }
        walk.enter_structure();
        steps.into_iter().rev().try_for_each(|step| walk.step(step))?;
        walk.finish(moved)
    }

    fn size(&self, ty: Type<'c>) -> u64 {
        self.layout.size(ty)
    }

    /// Follows a `getelementptr`; `None` if it is no step through the types.
    fn step(&mut self, gep: Value<'c>) -> Option<()> {
        let source = gep.gep_source_type()?;
        let indices = &gep.operands()[1..];
        let (&first, rest) = indices.split_first()?;
        if source.int_bits() == Some(8) && rest.is_empty() && self.ty.is_some() {
            self.pending = self.pending.checked_add(first.as_u64()?)?;
            return Some(());
        }
        if self.ty.is_none() {
            if source.kind() != Kind::Struct || source.structure_name().is_empty() || is_union(source) {
                return None;
            }
            self.ty = Some(source);
            self.enter_structure();
        }
        self.reach(source)?;
        if first.as_u64() != Some(0) {
            self.step_between(source)?;
        }
        rest.iter().try_for_each(|&index| self.enter(index))
    }

    /// Steps from one structure to another in an array that starts at a pointer.
    fn step_between(&mut self, source: Type<'c>) -> Option<()> {
        let is_start = self.structure == Some((source, 0)) && self.levels.is_empty() && self.array.is_none();
        self.is_element = true;
        is_start.then_some(())
    }

    /// Enters a field or an element of the current object.
    fn enter(&mut self, index: Value<'c>) -> Option<()> {
        let ty = self.ty?;
        match ty.kind() {
            Kind::Struct => self.enter_field(ty, index.as_u64()? as u32),
            Kind::Array(count) => {
                let element = ty.element();
                self.enter_array(ty, count);
                match index.as_u64().filter(|&index| index < count) {
                    Some(index) => self.advance(index * self.size(element)),
                    // The elements of a variable are the structures themselves.
                    None => self.indexed |= self.structure.is_some(),
                }
                self.ty = Some(element);
                self.enter_structure();
                Some(())
            }
            _ => None,
        }
    }

    fn enter_field(&mut self, ty: Type<'c>, field: u32) -> Option<()> {
        let inner = *ty.fields().get(field as usize)?;
        if self.indexed {
            self.add_level()?;
            self.structure = Some((ty, 0));
        }
        self.array = None;
        self.advance(self.layout.offset(ty, field));
        self.ty = Some(inner);
        // Which member of a union the bytes belong to is not known.
        (!is_union(inner)).then_some(())
    }

    /// Makes the current object, an array, the member that is indexed. Of an array of arrays, it is the whole array.
    fn enter_array(&mut self, ty: Type<'c>, count: u64) {
        if let Some((_, offset)) = self.structure.filter(|_| self.array.is_none()) {
            self.array = Some((offset, self.size(ty), count));
        }
    }

    /// Adds the current array to the indexed arrays.
    fn add_level(&mut self) -> Option<()> {
        let (structure, _) = self.structure?;
        let (offset, bytes, count) = self.array?;
        let size = self.size(structure);
        // The last member may be an array whose size is known at run time only.
        let rest = size.checked_sub(offset.checked_add(bytes)?)?;
        let is_last = self.levels.is_empty() && rest < self.layout.align(structure);
        if bytes == 0 || is_last && (count <= 1 || !self.is_element) {
            return None;
        }
        self.levels.push(NotedArray { structure: size, offset, bytes });
        self.indexed = false;
        Some(())
    }

    /// Makes the current object the structure that offsets refer to, if it is the first one.
    fn enter_structure(&mut self) {
        if let Some(ty) = self.ty.filter(|ty| ty.kind() == Kind::Struct)
            && self.structure.is_none()
        {
            self.structure = Some((ty, 0));
            self.outermost = Some(ty);
        }
    }

    fn advance(&mut self, bytes: u64) {
        if let Some((_, offset)) = &mut self.structure {
            *offset += bytes;
        }
    }

    /// Descends to the object of the type `target` that starts at the current address, such as a base class or the
    /// first member; `None` if there is none.
    fn reach(&mut self, target: Type<'c>) -> Option<()> {
        for _ in 0..MOST_STEPS {
            let ty = self.ty?;
            if self.pending == 0 && ty == target {
                return Some(());
            }
            match ty.kind() {
                Kind::Struct => {
                    let fields = ty.fields().len() as u32;
                    let starts = |field: &u32| self.layout.offset(ty, *field) <= self.pending;
                    let field = (0..fields).take_while(starts).last()?;
                    self.pending -= self.layout.offset(ty, field);
                    self.enter_field(ty, field)?;
                }
                Kind::Array(count) => {
                    let element = ty.element();
                    let size = self.size(element).max(1);
                    let index = self.pending / size;
                    if index >= count {
                        return None;
                    }
                    self.enter_array(ty, count);
                    self.pending %= size;
                    self.advance(index * size);
                    self.ty = Some(element);
                    self.enter_structure();
                }
                _ => return None,
            }
        }
        None
    }

    fn finish(mut self, moved: Type<'c>) -> Option<MemberNote> {
        let ty = self.ty.filter(|_| self.pending == 0)?;
        // A wider access treats the member as something else, on purpose.
        if self.layout.store_size(moved) != self.layout.store_size(ty) {
            return None;
        }
        if self.indexed {
            self.add_level()?;
        }
        let structure = self.outermost?.structure_name();
        (!self.levels.is_empty()).then_some(MemberNote {
            structure,
            levels: self.levels,
            element: self.layout.size(ty),
        })
    }
}

fn is_union(ty: Type<'_>) -> bool {
    ty.structure_name().starts_with("union.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_survive_their_text() {
        let level = |structure, offset, bytes| NotedArray { structure, offset, bytes };
        let note = MemberNote {
            structure: "struct.a|b c".to_owned(),
            levels: vec![level(64, 16, 32), level(8, 4, 4)],
            element: 4,
        };
        assert_eq!(MemberNote::from_text(&note.to_text()), Some(note));
        assert_eq!(MemberNote::from_text("4||x"), None);
        assert_eq!(MemberNote::from_text("4"), None);
    }
}
