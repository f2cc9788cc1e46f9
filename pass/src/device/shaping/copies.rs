//! Copies of small aligned objects (`float4`, `double2`, structures of these) become vector loads and stores, as nvcc makes
//! them, and so do settings of them to zero. clang leaves `memcpy` and `memset`, which its back end takes apart into words
//! of 8 bytes: twice the requests, each of which uses half of its sectors, and a stack slot where the object is held
//! across a barrier.

use crate::llvm::metadata::{self, LIBRARY, LOCATION, NEAR};
use crate::llvm::shim::known_alignment;
use crate::llvm::value::Value;
use crate::llvm::{Builder, ModuleItems};
use inkwell::module::Module;

/// Widest access of a GPU.
const WIDEST: u64 = 16;
/// Copies of that many bytes and more are loops in the back end, see [`super::memory`].
const LOOP_BYTES: u64 = 128;

/// Replaces the copies that consist of accesses of [`WIDEST`] bytes. Those into and out of variables that are used by
/// member should be split up before, or the members would come out of vectors.
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
