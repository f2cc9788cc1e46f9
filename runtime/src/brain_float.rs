//! Rounding to bfloat16. Compiled code calls these functions on processors without an instruction for it. GCC's own
//! library contains them only from version 13 on.

/// Returns `value` as bfloat16, rounded to nearest, ties to even. NaN stays NaN.
fn rounded(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Rounds a `double` to bfloat16. The first rounding, to `float`, sets the last bit if it is inexact, so that the
/// second rounding takes the inexactness into account.
fn rounded_double(value: f64) -> u16 {
    let near = value as f32;
    let back = f64::from(near);
    if value.is_nan() || back == value {
        return rounded(near);
    }
    let cut = if back.abs() > value.abs() { near.to_bits() - 1 } else { near.to_bits() };
    rounded(f32::from_bits(cut | 1))
}

/// Has the form that the compiler expects: the result is in the lower half of the register in which a `float` is
/// returned.
#[unsafe(no_mangle)]
pub extern "C" fn __truncsfbf2(value: f32) -> f32 {
    f32::from_bits(u32::from(rounded(value)))
}

/// Has the same form as [`__truncsfbf2`].
#[unsafe(no_mangle)]
pub extern "C" fn __truncdfbf2(value: f64) -> f32 {
    f32::from_bits(u32::from(rounded_double(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the nearest bfloat16 number by trying the numbers around the value; among two equally near numbers, it
    /// returns the even one.
    fn reference(value: f64) -> u16 {
        let number = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
        let start = (value as f32).to_bits() >> 16;
        let candidates = (start.saturating_sub(2)..=start + 2).filter_map(|bits| u16::try_from(bits).ok());
        // The number after the largest one is infinity, which counts as the next power of two.
        let place =
            |bits: u16| if bits & 0x7fff == 0x7f80 { 2f64.powi(128).copysign(number(bits)) } else { number(bits) };
        let same_sign =
            candidates.filter(|&bits| (bits >> 15 == 1) == value.is_sign_negative() && bits & 0x7fff <= 0x7f80);
        same_sign
            .min_by(|&one, &two| {
                let far = |bits: u16| (place(bits) - value).abs();
                far(one).total_cmp(&far(two)).then((one & 1).cmp(&(two & 1)))
            })
            .unwrap_or(0)
    }

    #[test]
    fn ties_go_to_even_and_the_ends_hold() {
        assert_eq!(rounded(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(rounded(f32::from_bits(0x3f81_8000)), 0x3f82);
        assert_eq!(rounded(f32::MAX), 0x7f80);
        assert_eq!(rounded(-0.0), 0x8000);
        assert!(f32::from_bits(u32::from(rounded(f32::from_bits(0x7f80_0001))) << 16).is_nan());
        // Rounding twice without this correction would treat the value as a tie.
        assert_eq!(rounded_double(1.0 + 2f64.powi(-8) + 2f64.powi(-40)), 0x3f81);
        assert_eq!(rounded_double(1.0 + 2f64.powi(-8) - 2f64.powi(-40)), 0x3f80);
        assert_eq!(rounded_double(1e300), 0x7f80);
    }

    proptest! {
        #[test]
        fn the_nearest_is_taken(bits in any::<u32>(), low in 0u64..1 << 29) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(rounded(value), reference(f64::from(value)));
            let between = f64::from_bits(f64::from(value).to_bits() | low);
            prop_assume!(value.is_normal() && f64::from(between as f32) < f64::from(f32::MAX));
            prop_assert_eq!(rounded_double(between), reference(between));
        }
    }
}
