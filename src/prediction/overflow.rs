//! Numbers that leave their widths: the compiler takes sums and products of signed numbers to fit, and with sizes that a program was never run with they may not.

use super::evaluated::Evaluated;
use super::launch::Launch;
use super::value::Value;
use warpline_profile::model::Addresses;

/// Returns whether some number of a launch that the code takes to fit its width does not; then the program overflows, where a prediction continues.
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
