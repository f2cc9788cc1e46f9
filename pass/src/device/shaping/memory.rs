//! Converts `memcpy`, `memmove` and `memset` to the loads and stores that the NVPTX back end generates for them.

use crate::llvm::debug::Location;
use crate::llvm::metadata::{self, LIBRARY, LOCATION, NEAR};
use crate::llvm::shim::{expand_memory_loop, known_alignment};
use crate::llvm::value::Value;
use crate::llvm::{Builder, Machine, ModuleItems};
use inkwell::module::Module;

/// From this number of bytes on (or if the length is not known), the back end generates a loop.
const LOOP_BYTES: u64 = 128;
/// The widest piece of an unrolled copy, which is the widest integer register.
const WIDEST: u64 = 8;

/// Selects the memory intrinsics to expand. The back end first converts those of unknown or large length to loops,
/// before it handles address spaces (its own pass would leave the loops without locations), and expands the others
/// last.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::device) enum Length {
    Unknown,
    Known,
}

/// Expands the memory intrinsics of one kind.
pub(in crate::device) fn expand_intrinsics(module: &Module<'_>, machine: &Machine, which: Length) {
    for function in module.functions() {
        let calls: Vec<_> = function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
            .filter(|instruction| Operation::recognise(*instruction).is_some())
            .collect();
        for call in calls {
            let Some(operation) = Operation::recognise(call) else { continue };
            match (which, call.operand(2).as_u64()) {
                (Length::Unknown, None) => expand_loop(call, machine),
                (Length::Unknown, Some(length)) if length > LOOP_BYTES => expand_loop(call, machine),
                (Length::Known, Some(0)) => call.erase(),
                (Length::Known, Some(length)) if length < LOOP_BYTES => {
                    expand_inline(call, operation, length);
                    call.erase();
                }
                (Length::Known, Some(_)) => expand_loop(call, machine),
                _ => {}
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operation {
    Copy,
    Move,
    Set,
}

impl Operation {
    fn recognise(instruction: Value<'_>) -> Option<Operation> {
        let name = instruction.callee_name();
        if name.starts_with("llvm.memcpy.") {
            Some(Operation::Copy)
        } else if name.starts_with("llvm.memmove.") {
            Some(Operation::Move)
        } else if name.starts_with("llvm.memset.") && !name.starts_with("llvm.memset.pattern") {
            Some(Operation::Set)
        } else {
            None
        }
    }
}

/// Expands a call to loads and stores one after another. A move loads everything first, because the ranges may overlap.
fn expand_inline(call: Value<'_>, operation: Operation, length: u64) {
    let builder = Builder::new(call.types());
    builder.before(call);
    builder.locate_like(Some(call));
    let volatile = call.operand(3).as_u64() == Some(1);
    let target = call.operand(0);
    let annotate = |part: Value<'_>| {
        part.set_volatile(volatile);
        for note in [LOCATION, NEAR, LIBRARY] {
            metadata::copy(call, part, note);
        }
    };
    // The back end computes the pointers' alignment again, because their spaces are known now.
    let align_of =
        |argument: u32| u64::from(call.argument_alignment(argument)).max(known_alignment(call.operand(argument), call));
    let target_align = align_of(0);
    let source_align = if operation == Operation::Set { WIDEST } else { align_of(1) };
    let mut align = WIDEST.min(target_align).min(source_align).max(1);
    let mut pieces = Vec::new();
    let mut offset = 0;
    while offset < length {
        while align > length - offset {
            align /= 2;
        }
        pieces.push((offset, align));
        offset += align;
    }
    let store = |value, offset, width: u64| {
        annotate(builder.store(value, builder.offset(target, offset), width as u32));
    };
    if operation == Operation::Set {
        let byte = call.operand(1);
        for (offset, width) in pieces {
            let ty = builder.types().int(width as u32 * 8);
            // The byte is replicated to every position by a multiplication with 0x0101….
            let ones = Value::int(ty, u64::MAX / 255);
            store(builder.mul(builder.zext(byte, ty), ones), offset, width);
        }
        return;
    }
    let source = call.operand(1);
    let load = |offset, width: u64| {
        let ty = builder.types().int(width as u32 * 8);
        let value = builder.load(ty, builder.offset(source, offset), width as u32);
        annotate(value);
        value
    };
    if operation == Operation::Move {
        let values: Vec<_> = pieces.iter().map(|&(offset, width)| load(offset, width)).collect();
        for (value, (offset, width)) in values.into_iter().zip(pieces) {
            store(value, offset, width);
        }
    } else {
        for (offset, width) in pieces {
            store(load(offset, width), offset, width);
        }
    }
}

/// Lets LLVM generate the loop, and copies the location and the notes of the call to its accesses.
fn expand_loop(call: Value<'_>, machine: &Machine) {
    let Some(function) = call.block().map(|block| block.function()) else { return };
    let location = Location::from_instruction(call);
    let notes: Vec<_> = [LOCATION, NEAR]
        .into_iter()
        .filter_map(|kind| metadata::location(call, kind).map(|location| (kind, location)))
        .collect();
    let library = call.has_note(LIBRARY);
    let before: std::collections::HashSet<_> =
        function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
    if !expand_memory_loop(call, machine) {
        return;
    }
    for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
        if before.contains(&instruction) {
            continue;
        }
        if let (Some(location), None) = (location, Location::from_instruction(instruction)) {
            location.attach(instruction);
        }
        for &(kind, location) in &notes {
            metadata::set_location(instruction, kind, location);
        }
        if library {
            metadata::mark(instruction, LIBRARY);
        }
    }
}
