//! Numbers floating-point operations, for code that follows their values.

use super::options::HookOptions;
use super::rows::locate::Places;
use super::rows::table::Table;
use crate::contraction::{fusion, is_fused};
use crate::ir::class::{self, Call};
use crate::llvm::metadata::{OPERATION, set_text};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{ModuleItems, Type, Value};
use inkwell::module::Module;
use std::collections::HashMap;
use warpline_format::operation::{Operation, OperationClass};
use warpline_format::site_table::SiteTable;

/// Functions whose results are their operands, whole or in part: nothing exceptional begins there.
const PASSING: [&str; 9] =
    ["fabs", "minnum", "maxnum", "minimum", "maximum", "copysign", "fmin", "fmax", "canonicalize"];

/// Gives each floating-point operation of a hooked module a number and notes it on the instruction; returns the module's table with
/// what the numbers mean.
pub fn number_operations(module: &Module<'_>, table: SiteTable, options: &HookOptions) -> SiteTable {
    let numbers: HashMap<String, u32> =
        (0..).zip(&table.functions).map(|(number, function)| (function.mangled.clone(), number)).collect();
    let mut table = Table::resume(table, options);
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        let Some(&number) = numbers.get(&function.name()) else { continue };
        let places = Places::new(function);
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let Some((class, name)) = operation(instruction) else { continue };
            let chain = places.other(instruction).map(|location| table.chain(location)).unwrap_or_default();
            set_text(instruction, OPERATION, &table.table.operations.len().to_string());
            table.table.operations.push(Operation { function: number, class, name, chain });
        }
    }
    table.table
}

/// What an instruction does with floating-point values, and its name.
fn operation(instruction: Value<'_>) -> Option<(OperationClass, String)> {
    use OperationClass::{Arithmetic, Conversion, Division, Load, Store};
    let (class, name) = match instruction.opcode()? {
        opcode if fusion(instruction, opcode).is_some() => (Arithmetic, "multiply-add"),
        Opcode::LLVMFAdd => (Arithmetic, "add"),
        Opcode::LLVMFSub => (Arithmetic, "subtract"),
        // A product that only its sum uses is never computed.
        Opcode::LLVMFMul if is_fused(instruction) => return None,
        Opcode::LLVMFMul => (Arithmetic, "multiply"),
        Opcode::LLVMFDiv => (Division, "divide"),
        Opcode::LLVMFRem => (Division, "remainder"),
        Opcode::LLVMFPTrunc => (Conversion, "convert"),
        Opcode::LLVMLoad if is_float(instruction.ty()) => (Load, "load"),
        Opcode::LLVMStore if is_float(instruction.operand(0).ty()) => (Store, "store"),
        Opcode::LLVMCall => return called(instruction),
        _ => return None,
    };
    Some((class, name.to_owned()))
}

fn called(call: Value<'_>) -> Option<(OperationClass, String)> {
    let callee = call.called_value()?;
    if callee.is_inline_asm() {
        let text = callee.asm_text();
        let computes = [".f16", ".f32", ".f64", ".bf16"].iter().any(|ty| text.contains(ty));
        return computes.then(|| (OperationClass::Arithmetic, first_instruction(&text)));
    }
    let name = call.callee_name();
    if class::classify(&name) != Call::Pure || !is_float(call.ty()) {
        return None;
    }
    let base = name.strip_prefix("llvm.nvvm.").or_else(|| name.strip_prefix("llvm."))?;
    let first = base.split('.').next().unwrap_or(base);
    if PASSING.contains(&first) || base.starts_with("vector.reduce") || first == "bitcast" {
        return None;
    }
    let class = if first == "div" || first == "rcp" { OperationClass::Division } else { OperationClass::Arithmetic };
    Some((class, first.to_owned()))
}

/// Returns the first instruction of assembly without its operands, as `cvt.rn.f16.f32`.
fn first_instruction(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || "{};".contains(letter));
    words.into_iter().find(|word| word.contains('.') && !word.starts_with('.')).unwrap_or("assembly").to_owned()
}

fn is_float(ty: Type<'_>) -> bool {
    match ty.kind() {
        Kind::Vector(_) => ty.element().is_float(),
        _ => ty.is_float(),
    }
}

#[cfg(test)]
mod tests {
    use super::first_instruction;

    #[test]
    fn assembly_is_named_by_its_instruction() {
        assert_eq!(first_instruction("{  cvt.rn.f16.f32 $0, $1;}\n"), "cvt.rn.f16.f32");
        assert_eq!(first_instruction("{.reg .b16 t; add.f16 t, $1, $2;}"), "add.f16");
    }
}
