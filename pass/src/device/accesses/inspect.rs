//! Determines which instructions access memory, and how.

use super::access::{Access, Address, Seen};
use super::{assembly, matrix};
use crate::ir::space::{self, space_of};
use crate::llvm::types::Kind;
use crate::llvm::value::{Opcode, Ordering};
use crate::llvm::{Layout, Type, Value};
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

/// Returns the accesses of an instruction, in the order in which the instruction makes them.
pub(in crate::device) fn inspect<'c>(instruction: Value<'c>, layout: Layout<'_>) -> Vec<Seen<'c>> {
    match instruction.opcode() {
        Some(Opcode::LLVMLoad) if is_by_value(instruction.operand(0)) => Vec::new(),
        Some(Opcode::LLVMLoad) => {
            let cache = load_cache(instruction);
            one(access(instruction.operand(0), instruction.ty(), Op::Load, cache, instruction.alignment(), layout))
        }
        Some(Opcode::LLVMStore) => {
            let cache = if is_coherent(instruction) { CacheOp::Volatile } else { CacheOp::Default };
            let ty = instruction.operand(0).ty();
            one(access(instruction.operand(1), ty, Op::Store, cache, instruction.alignment(), layout))
        }
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => {
            let ty = instruction.operand(1).ty();
            one(access(instruction.operand(0), ty, Op::Atomic, CacheOp::Default, instruction.alignment(), layout))
        }
        Some(Opcode::LLVMCall) => call(instruction, layout),
        _ => Vec::new(),
    }
}

/// Returns whether a pointer refers to a structure that a device function takes by value. Such a structure is in
/// parameter space, although its address space is local. (Parameters of kernels have their own address space.)
fn is_by_value(mut pointer: Value<'_>) -> bool {
    loop {
        let known_place = match pointer.opcode() {
            Some(Opcode::LLVMGetElementPtr) => pointer.operands()[1..].iter().all(|index| index.is_constant()),
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => true,
            _ => false,
        };
        if !known_place {
            break;
        }
        pointer = pointer.operand(0);
    }
    let Some(function) = pointer.argument_of() else { return false };
    let index = function.parameters().iter().position(|&parameter| parameter == pointer);
    index.is_some_and(|index| function.has_attribute(index as u32 + 1, "byval"))
}

fn one(access: Option<Access<'_>>) -> Vec<Seen<'_>> {
    access.map(Seen::Access).into_iter().collect()
}

fn access<'c>(
    pointer: Value<'c>,
    ty: Type<'_>,
    op: Op,
    cache: CacheOp,
    align: u32,
    layout: Layout<'_>,
) -> Option<Access<'c>> {
    let space = space_of(pointer.address_space())?;
    let bytes = layout.store_size(ty) as u32;
    let mut access = Access::plain(Address::from_value(pointer), op, space, bytes, cache);
    access.align = access.align.min(align.max(1));
    Some(access)
}

/// Returns whether an access bypasses L1, which is true for volatile and atomic accesses.
fn is_coherent(instruction: Value<'_>) -> bool {
    instruction.is_volatile() || instruction.ordering() != Some(Ordering::LLVMAtomicOrderingNotAtomic)
}

fn load_cache(load: Value<'_>) -> CacheOp {
    if is_coherent(load) {
        CacheOp::Volatile
    } else if load.operand(0).address_space() == space::GLOBAL && load.has_note("invariant.load") {
        CacheOp::NonCoherent
    } else {
        CacheOp::Default
    }
}

fn call<'c>(call: Value<'c>, layout: Layout<'_>) -> Vec<Seen<'c>> {
    let Some(callee) = call.called_value() else { return Vec::new() };
    if callee.is_inline_asm() {
        return assembly::inspect(call);
    }
    let name = call.callee_name();
    let Some(base) = name.strip_prefix("llvm.") else { return Vec::new() };
    let not = |what: &str| vec![Seen::Not(format!("{what}: {name}"))];
    if base.starts_with("masked.load") || base.starts_with("masked.store") {
        return masked(call, base.starts_with("masked.load"), layout);
    }
    if base.starts_with("masked.") {
        return not("masked access");
    }
    let Some(base) = base.strip_prefix("nvvm.") else { return Vec::new() };
    if base.starts_with("ldu.global") || base.starts_with("ldg.global") {
        let align = call.operand(1).as_u64().unwrap_or(1) as u32;
        return one(access(call.operand(0), call.ty(), Op::Load, CacheOp::NonCoherent, align, layout));
    }
    if base.starts_with("atomic.") {
        return one(access(call.operand(0), call.ty(), Op::Atomic, CacheOp::Default, u32::MAX, layout));
    }
    if let Some(rest) = base.strip_prefix("cp.async.") {
        return asynchronous(call, rest).unwrap_or_else(|| match rest {
            _ if rest.starts_with("commit") || rest.starts_with("wait") || rest.starts_with("mbarrier") => Vec::new(),
            _ if rest.starts_with("bulk.commit") || rest.starts_with("bulk.wait") => Vec::new(),
            _ => not("asynchronous copy"),
        });
    }
    if let Some(seen) = matrix::inspect(call, base) {
        return seen;
    }
    const OPAQUE: [(&str, &str); 8] = [
        ("tex.", "texture fetch"),
        ("tld4.", "texture fetch"),
        ("suld.", "surface load"),
        ("sust.", "surface store"),
        ("sured.", "surface reduction"),
        ("mbarrier.", "barrier object"),
        ("tcgen05.", "tensor memory"),
        ("multimem.", "multicast access"),
    ];
    for (prefix, what) in OPAQUE {
        if base.starts_with(prefix) {
            return not(what);
        }
    }
    Vec::new()
}

/// Returns the access of `llvm.masked.load` (pointer, mask, value for other elements) or `llvm.masked.store` (value,
/// pointer, mask). The vectoriser generates them with constant masks to close a gap.
fn masked<'c>(call: Value<'c>, is_load: bool, layout: Layout<'_>) -> Vec<Seen<'c>> {
    let (pointer, mask, ty, op) = if is_load {
        (call.operand(0), call.operand(1), call.ty(), Op::Load)
    } else {
        (call.operand(1), call.operand(2), call.operand(0).ty(), Op::Store)
    };
    if is_load && is_by_value(pointer) {
        return Vec::new();
    }
    let align = call.argument_alignment(if is_load { 0 } else { 1 });
    let Kind::Vector(count) = ty.kind() else { return Vec::new() };
    let Some(mut access) = access(pointer, ty, op, CacheOp::Default, align, layout) else { return Vec::new() };
    let element = layout.store_size(ty.element()) as u32;
    let mut bytes = 0u64;
    for lane in 0..count {
        match mask.constant_element(lane).and_then(Value::as_u64) {
            Some(0) => {}
            Some(_) if element * count <= 64 => bytes |= ((1u64 << element) - 1) << (lane * element),
            _ => return vec![Seen::Not(format!("access with a mask that is not constant: {}", call.callee_name()))],
        }
    }
    access.byte_mask = Some(bytes);
    vec![Seen::Access(access)]
}

/// Returns the accesses of `llvm.nvvm.cp.async.{ca,cg}.shared.global.N` (target, source): a load and a store. With a
/// source size (`.s`), the load may be shorter.
fn asynchronous<'c>(call: Value<'c>, rest: &str) -> Option<Vec<Seen<'c>>> {
    let parts: Vec<&str> = rest.split('.').collect();
    let ["ca" | "cg", "shared", "global", bytes, ..] = parts[..] else { return None };
    let bytes: u32 = bytes.parse().ok()?;
    let cache = if parts[0] == "cg" { CacheOp::Global } else { CacheOp::Default };
    let at = |index: u32| Address::from_value(call.operand(index));
    let load = match parts.get(4) {
        Some(&"s") => match call.operand(2).as_u64() {
            Some(0) => None,
            Some(size) => Some(Seen::Access(Access::plain(at(1), Op::Load, Space::Global, size as u32, cache))),
            None => Some(Seen::Not(format!("asynchronous copy of a variable size: {}", call.callee_name()))),
        },
        _ => Some(Seen::Access(Access::plain(at(1), Op::Load, Space::Global, bytes, cache))),
    };
    let store = Seen::Access(Access::plain(at(0), Op::Store, Space::Shared, bytes, CacheOp::Default));
    Some(load.into_iter().chain([store]).collect())
}
