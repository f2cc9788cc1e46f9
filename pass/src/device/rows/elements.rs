//! The types of the data that loads, stores and atomic operations move.

use crate::device::accesses::access::{Access, Seen};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Type, Value};
use warpline_format::operation::FloatFormat;
use warpline_format::site_table::Op;
use warpline_format::values::{Element, ElementKind};

/// Returns the elements of each access of an instruction. A write is tracked only if it is the instruction's last
/// access, because its result is read when the next access is announced.
pub(in crate::device) fn moved_elements(instruction: Value<'_>, seen: &[Seen<'_>], layout: Layout<'_>) -> Vec<Element> {
    let last = seen.len().saturating_sub(1);
    let element = |(number, entry): (usize, &Seen<'_>)| match entry {
        Seen::Access(access) if access.op != Op::Load && number != last => Element::default(),
        Seen::Access(access) => moved(instruction, access, layout),
        _ => Element::default(),
    };
    seen.iter().enumerate().map(element).collect()
}

fn moved(instruction: Value<'_>, access: &Access<'_>, layout: Layout<'_>) -> Element {
    let untyped = Element { kind: ElementKind::Untyped, bytes: access.bytes };
    let ty = match instruction.opcode() {
        Some(Opcode::LLVMLoad) => instruction.ty(),
        Some(Opcode::LLVMStore) => instruction.operand(0).ty(),
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => instruction.operand(1).ty(),
        Some(Opcode::LLVMCall) if instruction.called_value().is_some_and(Value::is_inline_asm) => return untyped,
        Some(Opcode::LLVMCall) if access.op == Op::Store => instruction.operand(0).ty(),
        Some(Opcode::LLVMCall) => instruction.ty(),
        _ => return untyped,
    };
    // The types of other calls do not show what they move.
    let fits = |_: &Element| layout.store_size(ty) == u64::from(access.bytes);
    scalar(ty, layout).filter(fits).unwrap_or(untyped)
}

/// Returns the element for a scalar or a vector of scalars; `None` for structures and pointers.
fn scalar(ty: Type<'_>, layout: Layout<'_>) -> Option<Element> {
    if let Kind::Vector(_) = ty.kind() {
        return scalar(ty.element(), layout).filter(|_| ty.element().kind() != Kind::Int(1));
    }
    let kind = match ty.kind() {
        Kind::Half => ElementKind::Float(FloatFormat::Half),
        Kind::BFloat => ElementKind::Float(FloatFormat::Brain),
        Kind::Float => ElementKind::Float(FloatFormat::Single),
        Kind::Double => ElementKind::Float(FloatFormat::Double),
        Kind::Int(1 | 8 | 16 | 32 | 64) => ElementKind::Integer,
        _ => return None,
    };
    Some(Element { kind, bytes: layout.store_size(ty) as u32 })
}
