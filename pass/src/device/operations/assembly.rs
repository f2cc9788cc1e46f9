//! Operations of inline assembly, one for each statement.

use super::{Candidate, matrix};
use crate::matrix::{Multiply, Rows};
use crate::ptx::parse::{self, Statement};
use warpline_format::operation::{OperationClass, ValueType};

/// Instructions on integers, and those that compare or convert, by opcode. Instructions that select or exchange values
/// are not tracked.
const COMPUTING: [&str; 40] = [
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot", "cvt", "div", "dp2a", "dp4a",
    "fns", "lop3", "mad", "mad24", "madc", "max", "min", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rem",
    "sad", "set", "setp", "shf", "shl", "shr", "sub", "subc", "szext", "xor",
];

/// Opcodes that move values, or that compute no number of their own.
const MOVING: [&str; 9] = ["mov", "cp", "shfl", "selp", "slct", "cvta", "vote", "redux", "match"];

/// Returns the operations of a text, each with the index of its statement.
pub(super) fn candidates(text: &str) -> Vec<(usize, Candidate)> {
    let statements = parse::parse(text).unwrap_or_default();
    (0..).zip(&statements).filter_map(|(index, statement)| Some((index, candidate(statement)?))).collect()
}

fn candidate(statement: &Statement) -> Option<Candidate> {
    let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
    let name = parts.join(".");
    match parts[0] {
        "mma" => Multiply::read_ptx(&parts).map(|multiply| matrix::product(multiply, name)),
        "ldmatrix" | "stmatrix" => Rows::read(&parts).map(matrix::rows),
        "ld" | "ldu" => moved(&parts, OperationClass::Load, "load"),
        "st" => moved(&parts, OperationClass::Store, "store"),
        "tex" | "tld4" => {
            let ty = suffix_type(parts[parts.len().checked_sub(2)?])?;
            Some(Candidate { checked: ty.float().is_some(), ..whole(OperationClass::Load, "load", ty) })
        }
        "suld" => Some(whole(OperationClass::Load, "load", moved_type(&parts)?)),
        "sust" => Some(whole(OperationClass::Store, "store", moved_type(&parts)?)),
        "atom" | "red" => {
            let name = if parts.contains(&"cas") { "compare and swap" } else { "atomic update" };
            Some(whole(OperationClass::Atomic, name, moved_type(&parts)?))
        }
        opcode if MOVING.contains(&opcode) => None,
        opcode => {
            let ty = moved_type(&parts)?;
            let checked = ty.float().is_some() && !matches!(opcode, "setp" | "testp");
            let computes = COMPUTING.contains(&opcode) || video(opcode);
            (ty.float().is_some() || computes).then(|| Candidate { class: class(opcode), name, ty: Some(ty), checked })
        }
    }
}

/// Returns an operation that the floating-point check does not track.
fn whole(class: OperationClass, name: &str, ty: ValueType) -> Candidate {
    Candidate { class, name: name.to_owned(), ty: Some(ty), checked: false }
}

/// Returns whether an opcode is a video instruction, such as `vadd` or `vabsdiff4`.
fn video(opcode: &str) -> bool {
    let names = ["add", "sub", "avrg", "absdiff", "min", "max", "set", "shl", "shr", "mad"];
    let rest = opcode.strip_prefix('v').map(|rest| rest.trim_end_matches(['2', '4']));
    rest.is_some_and(|rest| names.contains(&rest))
}

fn class(opcode: &str) -> OperationClass {
    match opcode {
        "div" | "rem" => OperationClass::Division,
        "cvt" => OperationClass::Conversion,
        "set" | "setp" | "testp" => OperationClass::Comparison,
        _ => OperationClass::Arithmetic,
    }
}

/// Returns the load or store of a statement. Values in local memory are not tracked.
fn moved(parts: &[&str], class: OperationClass, name: &str) -> Option<Candidate> {
    let ty = moved_type(parts).filter(|_| !parts.contains(&"local"))?;
    let checked = ty.float().is_some() || parts.iter().any(|part| matches!(*part, "b16" | "b32"));
    Some(Candidate { checked, ..whole(class, name, ty) })
}

/// Returns the type of the operands, which for a load or store is that of the value.
pub(crate) fn moved_type(parts: &[&str]) -> Option<ValueType> {
    parts.iter().rev().find_map(|part| suffix_type(part))
}

/// Returns the type of the result, which the first suffix names.
pub(crate) fn result_type(parts: &[&str]) -> Option<ValueType> {
    parts.iter().find_map(|part| suffix_type(part))
}

fn suffix_type(part: &str) -> Option<ValueType> {
    float(part).or_else(|| ValueType::from_integer_bits(part.strip_prefix(['b', 'u', 's'])?.parse().ok()?))
}

/// Returns the type of a suffix for floating-point numbers.
fn float(suffix: &str) -> Option<ValueType> {
    Some(match suffix {
        "f16" | "f16x2" => ValueType::Half,
        "bf16" | "bf16x2" => ValueType::Brain,
        "f32" => ValueType::Single,
        "f64" => ValueType::Double,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_is_an_operation() {
        let text = "{.reg .b16 t; add.f16 t, $1, $2; mov.b16 $0, t; cvt.rn.f16.f32 $0, $3;}";
        let found: Vec<_> = candidates(text).into_iter().map(|(index, one)| (index, one.name, one.checked)).collect();
        assert_eq!(found, [(0, "add.f16".to_owned(), true), (2, "cvt.rn.f16.f32".to_owned(), true)]);
        let text = "{.reg .pred p; setp.lt.s32 p, $1, $2; @p mad.lo.u32 $0, $1, $2, $1; selp.b32 $0, $1, $0, p;}";
        let found: Vec<_> = candidates(text).into_iter().map(|(index, one)| (index, one.name, one.checked)).collect();
        assert_eq!(found, [(0, "setp.lt.s32".to_owned(), false), (1, "mad.lo.u32".to_owned(), false)]);
        let product = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0}, {$1}, {$2}, {$3};";
        let [(0, one)] = &candidates(product)[..] else { panic!("one product") };
        assert_eq!((one.ty, one.checked), (Some(ValueType::Single), true));
    }
}
