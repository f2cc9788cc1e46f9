//! Operations of inline assembly, one for each statement.

use super::{Candidate, matrix};
use crate::matrix::{Multiply, Rows};
use crate::ptx::parse::{self, Statement};
use warpline_format::operation::{OperationClass, ValueType};

/// Opcodes that move values or compute no numbers.
const MOVING: [&str; 13] =
    ["mov", "atom", "red", "tex", "tld4", "suld", "sust", "cp", "shfl", "setp", "selp", "cvta", "vote"];

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
        opcode if MOVING.contains(&opcode) => None,
        _ => {
            let ty = parts.iter().rev().find_map(|part| float(part))?;
            Some(Candidate { class: OperationClass::Arithmetic, name, ty: Some(ty), checked: true })
        }
    }
}

/// Returns the load or store of a statement. Values in local memory are not tracked.
fn moved(parts: &[&str], class: OperationClass, name: &str) -> Option<Candidate> {
    let ty = moved_type(parts).filter(|_| !parts.contains(&"local"))?;
    let checked = ty.float().is_some() || parts.iter().any(|part| matches!(*part, "b16" | "b32"));
    Some(Candidate { class, name: name.to_owned(), ty: Some(ty), checked })
}

/// Returns the type that a load or store moves.
pub(crate) fn moved_type(parts: &[&str]) -> Option<ValueType> {
    parts.iter().rev().find_map(|part| {
        float(part).or_else(|| ValueType::from_integer_bits(part.strip_prefix(['b', 'u', 's'])?.parse().ok()?))
    })
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
        let found: Vec<_> = candidates(text).into_iter().map(|(index, one)| (index, one.name)).collect();
        assert_eq!(found, [(0, "add.f16".to_owned()), (2, "cvt.rn.f16.f32".to_owned())]);
        let product = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0}, {$1}, {$2}, {$3};";
        let [(0, one)] = &candidates(product)[..] else { panic!("one product") };
        assert_eq!((one.ty, one.checked), (Some(ValueType::Single), true));
    }
}
