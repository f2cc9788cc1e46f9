//! Splits pointer arithmetic into its parts.

use crate::llvm::Value;
use crate::llvm::types::{Kind, Layout};

/// A `getelementptr` as a sum.
pub struct Steps<'c> {
    /// The constant part in bytes.
    pub constant: i64,
    /// The indices that are not constant.
    pub variable: Vec<Step<'c>>,
}

/// One index.
pub struct Step<'c> {
    /// The value of the index, an integer that is sign-extended or truncated to 64 bits.
    pub index: Value<'c>,
    /// The number of bytes per unit.
    pub scale: u64,
}

/// Returns the steps of a `getelementptr` instruction or expression over scalar pointers; `None` for one over vectors.
pub fn steps<'c>(gep: Value<'c>, layout: Layout<'_>) -> Option<Steps<'c>> {
    let mut ty = gep.gep_source_type()?;
    let mut result = Steps { constant: 0, variable: Vec::new() };
    for (number, index) in gep.operands().into_iter().skip(1).enumerate() {
        index.ty().int_bits()?;
        let scale = if number == 0 {
            layout.size(ty)
        } else {
            match ty.kind() {
                Kind::Struct => {
                    let field = index.as_u64()? as u32;
                    result.constant = result.constant.wrapping_add(layout.offset(ty, field) as i64);
                    ty = *ty.fields().get(field as usize)?;
                    continue;
                }
                Kind::Array(_) => {
                    ty = ty.element();
                    layout.size(ty)
                }
                Kind::Vector(_) => {
                    ty = ty.element();
                    layout.store_size(ty)
                }
                _ => return None,
            }
        };
        match index.as_i64() {
            Some(constant) => {
                result.constant = result.constant.wrapping_add(constant.wrapping_mul(scale as i64));
            }
            None => result.variable.push(Step { index, scale }),
        }
    }
    Some(result)
}
