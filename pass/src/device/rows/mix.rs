//! The instruction mix of a block: the GPU instructions for its IR, by class. It is derived from the IR, so it counts
//! the operations that the program specifies, without the address arithmetic and moves that `ptxas` adds.

use crate::contraction::is_fused;
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Type, Value};
use crate::matrix::Multiply;
use warpline_format::site_table::InstructionMix;

/// Counts one instruction.
pub(in crate::device) fn of_instruction(instruction: Value<'_>) -> InstructionMix {
    let mut mix = InstructionMix::default();
    count(&mut mix, instruction);
    mix
}

fn count(mix: &mut InstructionMix, instruction: Value<'_>) {
    use Opcode::*;
    let Some(opcode) = instruction.opcode() else { return };
    match opcode {
        // The product is one instruction together with the sum.
        LLVMFMul if is_fused(instruction) => {}
        LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFNeg => arithmetic(mix, instruction.ty(), 1),
        LLVMFCmp => arithmetic(mix, instruction.operand(0).ty(), 1),
        LLVMFDiv | LLVMFRem => mix.special += lanes(instruction.ty()),
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr
        | LLVMAnd | LLVMOr | LLVMXor => mix.int += lanes(instruction.ty()),
        LLVMSelect => mix.int += lanes(instruction.ty()),
        LLVMICmp => mix.int += lanes(instruction.operand(0).ty()),
        // One addition for each address that is not a constant offset.
        LLVMGetElementPtr => mix.int += u32::from(!instruction.operands()[1..].iter().all(|index| index.is_constant())),
        LLVMFPTrunc | LLVMFPExt | LLVMFPToSI | LLVMFPToUI | LLVMSIToFP | LLVMUIToFP => {
            mix.conversion += lanes(instruction.ty())
        }
        LLVMTrunc | LLVMSExt | LLVMZExt => mix.conversion += lanes(instruction.ty()),
        LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg => mix.memory += 1,
        LLVMFence => mix.barrier += 1,
        LLVMBr | LLVMSwitch | LLVMRet | LLVMUnreachable => mix.control += 1,
        LLVMCall => call(mix, instruction),
        _ => {}
    }
}

fn call(mix: &mut InstructionMix, instruction: Value<'_>) {
    let name = instruction.callee_name();
    let ty = instruction.ty();
    if name.is_empty() || !name.starts_with("llvm.") {
        let assembly = instruction.called_value().is_some_and(|callee| callee.is_inline_asm());
        if assembly {
            self::assembly(mix, instruction);
        } else {
            mix.control += 1;
        }
        return;
    }
    let base = name.strip_prefix("llvm.").unwrap_or(&name);
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| base.starts_with(prefix));
    // In `wmma`, the shape is before the operation.
    let product = base.starts_with("nvvm.wmma.") && base.contains(".mma.");
    if product || is(&["nvvm.mma", "nvvm.wgmma", "nvvm.tcgen05.mma"]) {
        let rest = base.strip_prefix("nvvm.").unwrap_or(base);
        tensor(mix, Multiply::read_intrinsic(rest));
    } else if is(&[
        "nvvm.wmma",
        "nvvm.ldmatrix",
        "nvvm.stmatrix",
        "nvvm.cp.async",
        "nvvm.ldu",
        "nvvm.ldg",
        "nvvm.atomic",
        "masked.",
        "nvvm.tex",
        "nvvm.suld",
        "nvvm.sust",
        "nvvm.tld4",
    ]) {
        mix.memory += 1;
    } else if is(&[
        "nvvm.barrier",
        "nvvm.bar.",
        "nvvm.membar",
        "nvvm.fence",
        "nvvm.shfl",
        "nvvm.vote",
        "nvvm.match",
        "nvvm.redux",
        "nvvm.activemask",
        "nvvm.mbarrier",
    ]) {
        mix.barrier += 1;
    } else if is(&[
        "sqrt",
        "sin",
        "cos",
        "exp",
        "log",
        "pow",
        "tan",
        "nvvm.sqrt",
        "nvvm.rsqrt",
        "nvvm.rcp",
        "nvvm.sin",
        "nvvm.cos",
        "nvvm.ex2",
        "nvvm.lg2",
        "nvvm.div",
        "nvvm.tanh",
    ]) {
        mix.special += lanes(ty);
    } else if is(&["fma", "fmuladd"]) {
        arithmetic(mix, ty, 1);
    } else if is(&[
        "nvvm.f2",
        "nvvm.d2",
        "nvvm.i2",
        "nvvm.ui2",
        "nvvm.ll2",
        "nvvm.ull2",
        "nvvm.h2",
        "nvvm.ff2",
        "nvvm.bitcast",
        "nvvm.lohi",
        "rint",
        "nearbyint",
        "floor",
        "ceil",
        "trunc",
        "round",
    ]) {
        mix.conversion += lanes(ty);
    } else if is(&[
        "dbg",
        "lifetime",
        "assume",
        "invariant",
        "experimental.noalias",
        "nvvm.read.ptx.sreg",
        "annotation",
        "ptr.annotation",
        "sideeffect",
        "expect",
    ]) {
        // The intrinsic executes no instruction.
    } else if matches!(scalar(ty).kind(), Kind::Half | Kind::BFloat | Kind::Float | Kind::Double) {
        arithmetic(mix, ty, 1);
    } else {
        mix.int += lanes(ty);
    }
}

/// Counts inline assembly by the beginning of its text.
fn assembly(mix: &mut InstructionMix, instruction: Value<'_>) {
    let text = instruction.called_value().map(Value::asm_text).unwrap_or_default();
    for statement in crate::device::accesses::assembly::statements(&text) {
        let class = crate::device::accesses::assembly::opcode(&statement);
        let root = class.split('.').next().unwrap_or_default();
        match root {
            "ld" | "st" | "ldu" | "atom" | "red" | "cp" | "tex" | "tld4" | "suld" | "sust" | "prefetch" => {
                mix.memory += 1
            }
            "bar" | "barrier" | "membar" | "fence" | "shfl" | "vote" | "match" | "redux" | "activemask"
            | "nanosleep" => mix.barrier += 1,
            "mma" | "wmma" | "wgmma" => tensor(mix, Multiply::read_ptx(&class.split('.').collect::<Vec<_>>())),
            "cvt" => mix.conversion += 1,
            "sqrt" | "rsqrt" | "rcp" | "sin" | "cos" | "ex2" | "lg2" | "tanh" | "div" => mix.special += 1,
            "bra" | "exit" | "ret" | "call" | "trap" => mix.control += 1,
            "" => {}
            _ if class.contains(".f16") || class.contains(".bf16") => mix.fp16 += 1,
            _ if class.contains(".f32") => mix.fp32 += 1,
            _ if class.contains(".f64") => mix.fp64 += 1,
            _ => mix.int += 1,
        }
    }
}

/// Counts a product of tensor cores; unknown forms are not counted.
fn tensor(mix: &mut InstructionMix, product: Option<Multiply>) {
    mix.tensor += 1;
    if let Some(product) = product {
        let (kind, count) = product.tile.product();
        mix.products[kind as usize] += count * product.tiles.0 * product.tiles.1;
    }
}

fn scalar(ty: Type<'_>) -> Type<'_> {
    if matches!(ty.kind(), Kind::Vector(_)) { ty.element() } else { ty }
}

/// Counts the scalar instructions of an operation on the type.
fn lanes(ty: Type<'_>) -> u32 {
    match ty.kind() {
        Kind::Vector(count) => count,
        _ => 1,
    }
}

fn arithmetic(mix: &mut InstructionMix, ty: Type<'_>, times: u32) {
    let count = times * lanes(ty);
    match scalar(ty).kind() {
        // Two halves are one instruction.
        Kind::Half | Kind::BFloat => mix.fp16 += count.div_ceil(2),
        Kind::Float => mix.fp32 += count,
        Kind::Double => mix.fp64 += count,
        _ => mix.int += count,
    }
}
