//! Converts copies of small aligned objects (`float4`, `double2`, structures of these) to vector loads and stores, as
//! nvcc does, and also fills of such objects with zero. clang emits `memcpy` and `memset`, which its back end divides
//! into words of 8 bytes. This doubles the number of requests, of which each uses half of its sectors, and requires a
//! stack slot if the object lives across a barrier.

use crate::llvm::metadata::{self, LIBRARY, LOCATION, NEAR};
use crate::llvm::shim::known_alignment;
use crate::llvm::types::Kind;
use crate::llvm::value::Value;
use crate::llvm::{Builder, Layout, ModuleItems, Type};
use inkwell::module::Module;

/// The size of the widest access of a GPU in bytes.
const WIDEST: u64 = 16;
/// The size of a register in bytes.
const WORD: u64 = 4;
/// Copies with at least this number of bytes are loops in the back end, see [`super::memory`].
const LOOP_BYTES: u64 = 128;

/// Replaces the copies that consist of accesses of [`WIDEST`] bytes. Copies into and out of variables whose members are
/// used should be split before, because otherwise the members would be extracted from vectors.
pub(in crate::device) fn widen(module: &Module<'_>) {
    for function in module.functions() {
        let calls: Vec<_> = function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
            .filter(|instruction| {
                let name = instruction.callee_name();
                name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memset.p")
            })
            .collect();
        for call in calls {
            let copies = call.callee_name().starts_with("llvm.memcpy.");
            let volatile = call.operand(3).as_u64() != Some(0);
            let align_of = |argument: u32| {
                u64::from(call.argument_alignment(argument)).max(known_alignment(call.operand(argument), call))
            };
            let align = align_of(0).min(if copies { align_of(1) } else { WIDEST });
            let known = copies || call.operand(1).as_u64() == Some(0);
            match call.operand(2).as_u64() {
                Some(bytes @ 1..LOOP_BYTES) if bytes % WIDEST == 0 && align >= WIDEST && known && !volatile => {
                    replace(call, bytes, copies);
                }
                _ => {}
            }
        }
    }
}

/// Replaces copies between memory and a part of a local variable by one access for each element. This must run after
/// variables whose members are used have been split. If only one member of a `float4` is used, the other three remain
/// as a part that is only copied, and would stay in local memory. The elements of one object are contiguous, and are
/// later combined to the widest access.
pub(in crate::device) fn by_element(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    for function in module.functions() {
        let instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
        let calls: Vec<_> =
            instructions.filter(|instruction| instruction.callee_name().starts_with("llvm.memcpy.")).collect();
        for call in calls {
            let variable = [0, 1].into_iter().find_map(|side| call.operand(side).allocated_type());
            let (Some(ty), Some(bytes @ 1..LOOP_BYTES), Some(0)) =
                (variable, call.operand(2).as_u64(), call.operand(3).as_u64())
            else {
                continue;
            };
            let Some(element) = element(ty).filter(|_| layout.size(ty) == bytes) else { continue };
            let size = layout.store_size(element);
            let align = u64::from(call.argument_alignment(0).min(call.argument_alignment(1)));
            // For parts of byte buffers that are cast, [`widen`] moves all bytes at once.
            if size < WORD && align >= WIDEST && bytes % WIDEST == 0 {
                continue;
            }
            if align >= size && bytes % size == 0 {
                replace_by(call, element, size, bytes);
            }
        }
    }
}

/// Returns the scalar of which a type consists, if there is one.
fn element(ty: Type<'_>) -> Option<Type<'_>> {
    match ty.kind() {
        Kind::Int(8 | 16 | 32 | 64) | Kind::Half | Kind::BFloat | Kind::Float | Kind::Double => Some(ty),
        Kind::Vector(_) | Kind::Array(_) => element(ty.element()),
        Kind::Struct => {
            let mut all = ty.fields().into_iter().map(element);
            let first = all.next()??;
            all.all(|other| other == Some(first)).then_some(first)
        }
        _ => None,
    }
}

fn replace_by<'c>(call: Value<'c>, element: Type<'c>, size: u64, bytes: u64) {
    let builder = Builder::new(call.types());
    builder.before(call);
    builder.locate_like(Some(call));
    let align_at = |argument: u32, offset: u64| {
        let align = u64::from(call.argument_alignment(argument));
        if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
    };
    let offsets = || (0..bytes).step_by(size as usize);
    let noted = |part: Value<'c>| {
        for note in [LOCATION, NEAR, LIBRARY] {
            metadata::copy(call, part, note);
        }
        part
    };
    // Loads come first, so that the pass that combines accesses need not prove that the two sides of the copy do not
    // overlap.
    let load =
        |offset| noted(builder.load(element, builder.offset(call.operand(1), offset), align_at(1, offset) as u32));
    let values: Vec<_> = offsets().map(load).collect();
    for (offset, value) in offsets().zip(values) {
        noted(builder.store(value, builder.offset(call.operand(0), offset), align_at(0, offset) as u32));
    }
    call.erase();
}

fn replace(call: Value<'_>, bytes: u64, copies: bool) {
    let builder = Builder::new(call.types());
    builder.before(call);
    builder.locate_like(Some(call));
    let words = WIDEST as u32 / 4;
    let ty = call.types().int(32).vector(words);
    let note = |part: Value<'_>| {
        for note in [LOCATION, NEAR, LIBRARY] {
            metadata::copy(call, part, note);
        }
    };
    for offset in (0..bytes).step_by(WIDEST as usize) {
        let value = if copies {
            let value = builder.load(ty, builder.offset(call.operand(1), offset), WIDEST as u32);
            note(value);
            value
        } else {
            Value::vector(&vec![Value::int(call.types().int(32), 0); words as usize])
        };
        note(builder.store(value, builder.offset(call.operand(0), offset), WIDEST as u32));
    }
    call.erase();
}
