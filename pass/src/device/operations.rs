//! Numbers operations, for code that tracks or records their values.

pub(crate) mod assembly;
mod matrix;

use super::options::HookOptions;
use super::rows::locate::Places;
use super::rows::table::Table;
use crate::contraction::{fusion, is_fused};
use crate::ir::class::{self, Call};
use crate::llvm::metadata::{OPERATION, set_text, text};
use crate::llvm::types::Kind;
use crate::llvm::value::{IntPredicate, Opcode, RealPredicate};
use crate::llvm::{ModuleItems, Type, Value};
use inkwell::module::Module;
use std::collections::HashMap;
use warpline_format::access::SITE_MASK;
use warpline_format::operation::{Followed, Operation, OperationClass, ValueType};
use warpline_format::site_table::SiteTable;

/// Functions whose results are their operands or parts of them, so that no exceptional value originates there.
const PASSING: [&str; 9] =
    ["fabs", "minnum", "maxnum", "minimum", "maximum", "copysign", "fmin", "fmax", "canonicalize"];

/// LLVM's address space of parameters.
pub(crate) const PARAMETER: u32 = 101;
/// The maximum number of tracked operations of a module, which is the number that records can distinguish.
const MOST_OPERATIONS: usize = SITE_MASK as usize;
/// The word after the number of an operation whose executions are recorded.
const RECORDED: &str = "recorded";

/// An operation whose values can be tracked.
struct Candidate {
    class: OperationClass,
    name: String,
    /// The type that determines whether the operation is recorded; `None` if values of its type cannot be recorded.
    ty: Option<ValueType>,
    /// Whether the floating-point check tracks the operation.
    checked: bool,
}

impl Candidate {
    /// Returns whether the check tracks the operation, and whether operations of its kind are recorded.
    fn wanted(&self, followed: &Followed) -> [bool; 2] {
        let recorded = self.ty.is_some_and(|ty| followed.recorded.contains(self.class, ty));
        [followed.exceptions && self.checked, recorded]
    }
}

/// Returns the number that [`number_operations`] has noted on an instruction, and whether its executions are recorded.
pub(crate) fn numbered(instruction: Value<'_>) -> Option<(u32, bool)> {
    number(&text(instruction, OPERATION)?)
}

/// Returns the variants of [`numbered`] for the statements of inline assembly, each with the index of its statement.
pub(crate) fn numbered_statements(call: Value<'_>) -> Vec<(usize, (u32, bool))> {
    let noted = text(call, OPERATION).unwrap_or_default();
    let one = |part: &str| {
        let (statement, rest) = part.split_once('=')?;
        Some((statement.parse().ok()?, number(rest)?))
    };
    noted.split(',').filter_map(one).collect()
}

/// Returns whether an instruction is an intrinsic on matrix fragments.
pub(crate) fn is_matrix(instruction: Value<'_>) -> bool {
    instruction.is_call() && matrix::intrinsic(&instruction.callee_name()).is_some()
}

fn number(text: &str) -> Option<(u32, bool)> {
    let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
    Some((number.parse().ok()?, rest == RECORDED))
}

/// Numbers each tracked operation of a hooked module, and adds a note with the number to the instruction. Returns the
/// module's table with the operations.
pub fn number_operations(
    module: &Module<'_>,
    table: SiteTable,
    options: &HookOptions,
    followed: &Followed,
) -> SiteTable {
    let numbers: HashMap<String, u32> =
        (0..).zip(&table.functions).map(|(number, function)| (function.mangled.clone(), number)).collect();
    let mut table = Table::resume(table, options);
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        let Some(&holder) = numbers.get(&function.name()) else { continue };
        let places = Places::new(function);
        let multiplies = multiplies(function);
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let mut wanted = candidates(instruction, multiplies);
            wanted.retain(|(_, one)| one.wanted(followed).contains(&true));
            if wanted.is_empty() {
                continue;
            }
            let chain = places.other(instruction).map(|location| table.chain(location)).unwrap_or_default();
            let lines = &followed.lines;
            let selected =
                lines.is_empty() || lines.iter().any(|(file, line)| table.table.is_at_line(&chain, file, *line));
            let mut notes = Vec::new();
            for (statement, one) in wanted {
                let [checked, recorded] = one.wanted(followed);
                let (number, is_recorded) = (table.table.operations.len(), recorded && selected);
                if (checked || is_recorded) && number < MOST_OPERATIONS {
                    let prefix = statement.map_or_else(String::new, |statement| format!("{statement}="));
                    let suffix = if is_recorded { format!(" {RECORDED}") } else { String::new() };
                    notes.push(format!("{prefix}{number}{suffix}"));
                    let Candidate { class, name, .. } = one;
                    table.table.operations.push(Operation { function: holder, class, name, chain: chain.clone() });
                }
            }
            if !notes.is_empty() {
                set_text(instruction, OPERATION, &notes.join(","));
            }
        }
    }
    table.table
}

/// Returns whether a function contains matrix products. Their factors are often copied as integers.
fn multiplies(function: Value<'_>) -> bool {
    let mut instructions = function.blocks().into_iter().flat_map(|block| block.instructions());
    instructions.any(|instruction| {
        instruction.is_call()
            && instruction.called_value().is_some_and(|callee| match callee.is_inline_asm() {
                true => callee.asm_text().contains("mma."),
                false => instruction.callee_name().contains("mma."),
            })
    })
}

/// Returns the operations of an instruction whose values can be tracked; for inline assembly, those of each statement
/// with its index. `multiplies` states that the function contains matrix products.
fn candidates(instruction: Value<'_>, multiplies: bool) -> Vec<(Option<usize>, Candidate)> {
    if let Some(callee) = instruction.is_call().then(|| instruction.called_value()).flatten() {
        if callee.is_inline_asm() {
            let statements = assembly::candidates(&callee.asm_text());
            return statements.into_iter().map(|(index, one)| (Some(index), one)).collect();
        }
        if let Some(one) = matrix::intrinsic(&instruction.callee_name()) {
            return vec![(None, one)];
        }
    }
    let checked = floating_point(instruction);
    let is_checked = checked.is_some() || moves_bits(instruction, multiplies);
    let Some((class, name)) = checked.or_else(|| recorded(instruction)) else { return Vec::new() };
    let ty = value_type(deciding_type(instruction)).filter(|_| !reads_parameter(instruction));
    vec![(None, Candidate { class, name, ty, checked: is_checked })]
}

/// Returns whether an instruction reads a parameter of the kernel, which is no access to memory.
fn reads_parameter(instruction: Value<'_>) -> bool {
    instruction.opcode() == Some(Opcode::LLVMLoad)
        && matches!(instruction.operand(0).ty().kind(), Kind::Pointer(PARAMETER))
}

/// Returns whether a load or store of integers may move floating-point numbers: halves are integers in C++.
fn moves_bits(instruction: Value<'_>, multiplies: bool) -> bool {
    let moves = matches!(instruction.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore));
    moves
        && match value_type(deciding_type(instruction)) {
            Some(ValueType::Int16) => true,
            Some(ValueType::Int32) => multiplies,
            _ => false,
        }
}

/// Returns the type that determines whether an operation is on integers or on floating-point numbers: that of its first
/// operand or, for a load, that of its value.
fn deciding_type(instruction: Value<'_>) -> Type<'_> {
    let whole = match instruction.opcode() {
        Some(Opcode::LLVMLoad) => instruction.ty(),
        Some(Opcode::LLVMCall) => match instruction.arguments().first() {
            Some(argument) if !is_float(instruction.ty()) => argument.ty(),
            _ => instruction.ty(),
        },
        _ => instruction.operand(0).ty(),
    };
    match whole.kind() {
        Kind::Vector(_) => whole.element(),
        _ => whole,
    }
}

/// Returns the type of a recorded value of one lane, or `None` if values of this type are not recorded.
pub(crate) fn value_type(ty: Type<'_>) -> Option<ValueType> {
    Some(match ty.kind() {
        Kind::Half => ValueType::Half,
        Kind::BFloat => ValueType::Brain,
        Kind::Float => ValueType::Single,
        Kind::Double => ValueType::Double,
        Kind::Pointer(_) => ValueType::Int64,
        Kind::Int(bits) => return ValueType::from_integer_bits(bits),
        _ => return None,
    })
}

/// Returns the class and the name of an operation that the floating-point check does not track and whose values can be
/// recorded.
fn recorded(instruction: Value<'_>) -> Option<(OperationClass, String)> {
    use OperationClass::{Arithmetic, Atomic, Comparison, Conversion, Division, Load, Store};
    let named = |class, name: &str| Some((class, name.to_owned()));
    match instruction.opcode()? {
        Opcode::LLVMFNeg => named(Arithmetic, "negate"),
        Opcode::LLVMFPExt | Opcode::LLVMFPToSI | Opcode::LLVMFPToUI => named(Conversion, "convert"),
        Opcode::LLVMSIToFP | Opcode::LLVMUIToFP | Opcode::LLVMTrunc | Opcode::LLVMZExt | Opcode::LLVMSExt => {
            named(Conversion, "convert")
        }
        Opcode::LLVMAdd => named(Arithmetic, "add"),
        Opcode::LLVMSub => named(Arithmetic, "subtract"),
        Opcode::LLVMMul => named(Arithmetic, "multiply"),
        Opcode::LLVMAnd => named(Arithmetic, "and"),
        Opcode::LLVMOr => named(Arithmetic, "or"),
        Opcode::LLVMXor => named(Arithmetic, "xor"),
        Opcode::LLVMShl => named(Arithmetic, "shift left"),
        Opcode::LLVMLShr => named(Arithmetic, "shift right"),
        Opcode::LLVMAShr => named(Arithmetic, "signed shift right"),
        Opcode::LLVMUDiv => named(Division, "divide"),
        Opcode::LLVMSDiv => named(Division, "signed divide"),
        Opcode::LLVMURem => named(Division, "remainder"),
        Opcode::LLVMSRem => named(Division, "signed remainder"),
        Opcode::LLVMICmp => named(Comparison, integer_comparison(instruction.int_predicate()?)),
        Opcode::LLVMFCmp => named(Comparison, real_comparison(instruction.real_predicate()?)),
        Opcode::LLVMLoad => named(Load, "load"),
        Opcode::LLVMStore => named(Store, "store"),
        Opcode::LLVMAtomicRMW => named(Atomic, "atomic update"),
        Opcode::LLVMAtomicCmpXchg => named(Atomic, "compare and swap"),
        Opcode::LLVMCall => integer_function(instruction),
        _ => None,
    }
}

/// Returns the class and the name of a pure function on integers, such as `llvm.umin.i32`.
fn integer_function(call: Value<'_>) -> Option<(OperationClass, String)> {
    let name = call.callee_name();
    if class::classify(&name) != Call::Pure || call.arguments().is_empty() {
        return None;
    }
    value_type(call.ty())?;
    let base = name.strip_prefix("llvm.nvvm.").or_else(|| name.strip_prefix("llvm."))?;
    Some((OperationClass::Arithmetic, base.split('.').next().unwrap_or(base).to_owned()))
}

fn integer_comparison(predicate: IntPredicate) -> &'static str {
    match predicate {
        IntPredicate::LLVMIntEQ => "equal",
        IntPredicate::LLVMIntNE => "not equal",
        IntPredicate::LLVMIntUGT => "unsigned greater",
        IntPredicate::LLVMIntUGE => "unsigned greater or equal",
        IntPredicate::LLVMIntULT => "unsigned less",
        IntPredicate::LLVMIntULE => "unsigned less or equal",
        IntPredicate::LLVMIntSGT => "greater",
        IntPredicate::LLVMIntSGE => "greater or equal",
        IntPredicate::LLVMIntSLT => "less",
        IntPredicate::LLVMIntSLE => "less or equal",
    }
}

fn real_comparison(predicate: RealPredicate) -> &'static str {
    match predicate {
        RealPredicate::LLVMRealOEQ => "equal",
        RealPredicate::LLVMRealOGT => "greater",
        RealPredicate::LLVMRealOGE => "greater or equal",
        RealPredicate::LLVMRealOLT => "less",
        RealPredicate::LLVMRealOLE => "less or equal",
        RealPredicate::LLVMRealONE => "not equal",
        RealPredicate::LLVMRealORD => "ordered",
        RealPredicate::LLVMRealUNO => "unordered",
        RealPredicate::LLVMRealUEQ => "equal or unordered",
        RealPredicate::LLVMRealUGT => "greater or unordered",
        RealPredicate::LLVMRealUGE => "greater, equal or unordered",
        RealPredicate::LLVMRealULT => "less or unordered",
        RealPredicate::LLVMRealULE => "less, equal or unordered",
        RealPredicate::LLVMRealUNE => "not equal or unordered",
        RealPredicate::LLVMRealPredicateFalse => "false",
        RealPredicate::LLVMRealPredicateTrue => "true",
    }
}

/// Returns the class and the name of an instruction on floating-point values that the floating-point check tracks.
fn floating_point(instruction: Value<'_>) -> Option<(OperationClass, String)> {
    use OperationClass::{Arithmetic, Conversion, Division, Load, Store};
    let (class, name) = match instruction.opcode()? {
        opcode if fusion(instruction, opcode).is_some() => (Arithmetic, "multiply-add"),
        Opcode::LLVMFAdd => (Arithmetic, "add"),
        Opcode::LLVMFSub => (Arithmetic, "subtract"),
        // A product that is fused into its only sum is never computed.
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

fn is_float(ty: Type<'_>) -> bool {
    match ty.kind() {
        Kind::Vector(_) => ty.element().is_float(),
        _ => ty.is_float(),
    }
}
