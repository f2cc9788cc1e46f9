//! Splits accesses that no single GPU instruction performs, as the NVPTX back end does during instruction selection:
//! wide vectors, structures, odd sizes, and accesses below their natural alignment.

use crate::ir::space;
use crate::llvm::debug::Location;
use crate::llvm::metadata::{self, LIBRARY, LOCATION, NEAR};
use crate::llvm::types::Kind;
use crate::llvm::value::{Opcode, Ordering};
use crate::llvm::{Builder, Layout, ModuleItems, Type, Value};
use inkwell::module::Module;

/// Splits every load and store of the module that requires it.
pub(in crate::device) fn split_accesses(module: &Module<'_>, arch: u32) {
    let layout = Layout::from_module(module);
    for function in module.functions() {
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let (ty, pointer) = match instruction.opcode() {
                Some(Opcode::LLVMLoad) => (instruction.ty(), instruction.operand(0)),
                Some(Opcode::LLVMStore) => (instruction.operand(0).ty(), instruction.operand(1)),
                _ => continue,
            };
            let address_space = pointer.address_space();
            let atomic = instruction.ordering() != Some(Ordering::LLVMAtomicOrderingNotAtomic);
            if atomic || address_space == space::PARAMETER {
                continue;
            }
            let align = u64::from(instruction.alignment());
            let widest = if arch >= 100 && address_space == space::GLOBAL && align >= 32 { 32 } else { 16 };
            let splitter = Splitter { layout, widest };
            if splitter.is_one_instruction(ty, align) {
                continue;
            }
            let builder = Builder::new(instruction.types());
            builder.before(instruction);
            builder.locate_like(Some(instruction));
            let parts = Parts { builder: &builder, original: instruction };
            if instruction.opcode() == Some(Opcode::LLVMLoad) {
                let whole = splitter.load(&parts, ty, pointer, align);
                instruction.replace_all_uses_with(whole);
            } else {
                splitter.store(&parts, instruction.operand(0), pointer, align);
            }
            instruction.erase();
        }
    }
}

/// Creates the accesses that replace one access, with its location, notes and flags.
struct Parts<'b, 'c> {
    builder: &'b Builder<'c>,
    original: Value<'c>,
}

impl<'c> Parts<'_, 'c> {
    fn load(&self, ty: Type<'c>, pointer: Value<'c>, align: u64) -> Value<'c> {
        let load = self.builder.load(ty, pointer, align as u32);
        metadata::copy(self.original, load, "invariant.load");
        self.annotate(load)
    }

    fn store(&self, value: Value<'c>, pointer: Value<'c>, align: u64) {
        self.annotate(self.builder.store(value, pointer, align as u32));
    }

    fn annotate(&self, part: Value<'c>) -> Value<'c> {
        part.set_volatile(self.original.is_volatile());
        for note in [LOCATION, NEAR, LIBRARY] {
            metadata::copy(self.original, part, note);
        }
        if let Some(location) = Location::from_instruction(self.original) {
            location.attach(part);
        }
        part
    }

    fn index(&self, index: u64) -> Value<'c> {
        Value::int(self.builder.types().int(32), index)
    }
}

struct Splitter<'m> {
    layout: Layout<'m>,
    /// The widest single access in bytes, for vectors whose size is a power of two.
    widest: u64,
}

/// Returns the known alignment `offset` bytes after an address with alignment `align`.
fn align_at(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}

/// Returns the size of the next piece in bytes: a power of two that is allowed by the rest, the alignment and the
/// limit.
fn piece(rest: u64, align: u64, limit: u64) -> u64 {
    let rest = if rest.is_power_of_two() { rest } else { rest.next_power_of_two() / 2 };
    rest.min(align).min(limit).max(1)
}

impl Splitter<'_> {
    fn size(&self, ty: Type<'_>) -> u64 {
        self.layout.store_size(ty)
    }

    /// Returns the size of a vector's element in bytes, if the element consists of complete bytes.
    fn element_bytes(&self, ty: Type<'_>) -> Option<u64> {
        let element = ty.element();
        match element.int_bits() {
            Some(bits) if bits % 8 != 0 => None,
            _ => Some(self.size(element)),
        }
    }

    /// Returns the widest piece of a type, without regard to alignment.
    fn limit(&self, ty: Type<'_>) -> u64 {
        match ty.kind() {
            Kind::Vector(count) if count.is_power_of_two() => self.widest,
            Kind::Int(bits) if bits.is_power_of_two() => 16,
            _ => 8,
        }
    }

    fn is_one_instruction(&self, ty: Type<'_>, align: u64) -> bool {
        match ty.kind() {
            Kind::Struct | Kind::Array(_) => false,
            // Vectors of bits are packed; they only occur in rare hand-written modules.
            Kind::Vector(_) if self.element_bytes(ty).is_none() => true,
            _ => {
                let size = self.size(ty);
                piece(size, align, self.limit(ty)) == size
            }
        }
    }

    fn load<'c>(&self, parts: &Parts<'_, 'c>, ty: Type<'c>, pointer: Value<'c>, align: u64) -> Value<'c> {
        let builder = parts.builder;
        if self.is_one_instruction(ty, align) {
            return parts.load(ty, pointer, align);
        }
        match ty.kind() {
            Kind::Struct | Kind::Array(_) => {
                let mut whole = Value::poison(ty);
                for (index, offset, field) in self.fields(ty) {
                    let part = self.load(parts, field, builder.offset(pointer, offset), align_at(align, offset));
                    whole = builder.insert_value(whole, part, index);
                }
                whole
            }
            Kind::Vector(count) => {
                let element = ty.element();
                let step = self.size(element);
                let mut whole = Value::poison(ty);
                let mut at = 0;
                while at < u64::from(count) {
                    let offset = at * step;
                    let here = align_at(align, offset);
                    let width = piece((u64::from(count) - at) * step, here, self.limit(ty));
                    let taken = (width / step).max(1);
                    let place = builder.offset(pointer, offset);
                    if taken == 1 {
                        let part = self.load(parts, element, place, here);
                        whole = builder.insert_element(whole, part, parts.index(at));
                    } else {
                        let part = parts.load(element.vector(taken as u32), place, here);
                        for lane in 0..taken {
                            let value = builder.extract_element(part, parts.index(lane));
                            whole = builder.insert_element(whole, value, parts.index(at + lane));
                        }
                    }
                    at += taken;
                }
                whole
            }
            _ => {
                let bits = self.integer(ty);
                let mut whole: Option<Value<'c>> = None;
                for (offset, width) in self.pieces(ty, align) {
                    let narrow = builder.types().int(width as u32 * 8);
                    let part = parts.load(narrow, builder.offset(pointer, offset), align_at(align, offset));
                    let wide = builder.zext(part, bits);
                    let placed = match whole {
                        None => wide,
                        Some(lower) => builder.or(lower, builder.shl(wide, Value::int(bits, offset * 8))),
                    };
                    whole = Some(placed);
                }
                let whole = whole.unwrap_or_else(|| Value::zero(bits));
                match ty.kind() {
                    Kind::Pointer(_) => builder.int_to_ptr(whole, ty),
                    Kind::Int(_) => builder.trunc(whole, ty),
                    _ => builder.bitcast(whole, ty),
                }
            }
        }
    }

    fn store<'c>(&self, parts: &Parts<'_, 'c>, value: Value<'c>, pointer: Value<'c>, align: u64) {
        let builder = parts.builder;
        let ty = value.ty();
        if self.is_one_instruction(ty, align) {
            return parts.store(value, pointer, align);
        }
        match ty.kind() {
            Kind::Struct | Kind::Array(_) => {
                for (index, offset, _) in self.fields(ty) {
                    let part = builder.extract_value(value, index);
                    self.store(parts, part, builder.offset(pointer, offset), align_at(align, offset));
                }
            }
            Kind::Vector(count) => {
                let element = ty.element();
                let step = self.size(element);
                let mut at = 0;
                while at < u64::from(count) {
                    let offset = at * step;
                    let here = align_at(align, offset);
                    let width = piece((u64::from(count) - at) * step, here, self.limit(ty));
                    let taken = (width / step).max(1);
                    let place = builder.offset(pointer, offset);
                    if taken == 1 {
                        self.store(parts, builder.extract_element(value, parts.index(at)), place, here);
                    } else {
                        let lanes: Vec<_> = (at..at + taken).map(|lane| Some(lane as u32)).collect();
                        let part = builder.shuffle(value, Value::poison(ty), &lanes);
                        parts.store(part, place, here);
                    }
                    at += taken;
                }
            }
            kind => {
                let bits = self.integer(ty);
                let whole = match kind {
                    Kind::Pointer(_) => builder.ptr_to_int(value, bits),
                    Kind::Int(_) => builder.zext(value, bits),
                    _ => builder.bitcast(value, bits),
                };
                for (offset, width) in self.pieces(ty, align) {
                    let shifted = if offset == 0 { whole } else { builder.lshr(whole, Value::int(bits, offset * 8)) };
                    let part = builder.trunc(shifted, builder.types().int(width as u32 * 8));
                    parts.store(part, builder.offset(pointer, offset), align_at(align, offset));
                }
            }
        }
    }

    /// Returns the integer that contains a scalar's bytes.
    fn integer<'c>(&self, ty: Type<'c>) -> Type<'c> {
        crate::llvm::Types::from_type(ty).int(self.size(ty) as u32 * 8)
    }

    /// Returns the offsets and widths of a scalar's pieces.
    fn pieces(&self, ty: Type<'_>, align: u64) -> Vec<(u64, u64)> {
        let size = self.size(ty);
        let mut pieces = Vec::new();
        let mut offset = 0;
        while offset < size {
            let width = piece(size - offset, align_at(align, offset), self.limit(ty));
            pieces.push((offset, width));
            offset += width;
        }
        pieces
    }

    /// Returns the number, offset and type of each element of an aggregate.
    fn fields<'c>(&self, ty: Type<'c>) -> Vec<(u32, u64, Type<'c>)> {
        if let Kind::Array(count) = ty.kind() {
            let element = ty.element();
            let step = self.layout.size(element);
            return (0..count).map(|index| (index as u32, index * step, element)).collect();
        }
        ty.fields()
            .into_iter()
            .enumerate()
            .map(|(index, field)| (index as u32, self.layout.offset(ty, index as u32), field))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{align_at, piece};

    #[test]
    fn pieces_are_aligned_powers_of_two() {
        assert_eq!(piece(12, 16, 8), 8);
        assert_eq!(piece(4, align_at(16, 8), 8), 4);
        assert_eq!(piece(32, 16, 16), 16);
        assert_eq!(piece(4, 1, 8), 1);
        assert_eq!(align_at(16, 4), 4);
        assert_eq!(align_at(2, 4), 2);
    }
}
