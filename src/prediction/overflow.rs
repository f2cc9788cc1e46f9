//! Detects overflow. The compiler assumes that sums and products of signed numbers fit their width. For sizes that the
//! program was never run with, this may be false.

use super::evaluated::Evaluated;
use super::launch::Launch;
use super::value::Value;
use warpline_profile::model::Addresses;

/// Returns whether some number of a launch exceeds the width that the code assumes. The program would overflow there,
/// while the prediction continues with the exact value.
pub fn overflows(addresses: &Addresses, launch: &Launch) -> bool {
    let evaluated = Evaluated::new(addresses, launch);
    addresses.expressions.iter().zip(0..).filter(|(entry, _)| entry.exact && entry.bits < 64).any(|(entry, id)| {
        let limit = 1i128 << (entry.bits.clamp(1, 63) - 1);
        match evaluated.value(id) {
            Value::Form(form) => {
                let (low, high) = form.range(&evaluated.bounds);
                low < -limit || high >= limit
            }
            _ => false,
        }
    })
}
