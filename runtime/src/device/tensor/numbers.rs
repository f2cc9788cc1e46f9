//! Narrow floating-point formats.

/// Returns the value of an `f16`.
#[inline(always)]
pub fn half(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // The exponent is 112 too low for a float. The product is exact, even if the half is subnormal.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let special = if magnitude >= 31 << 23 { 0x7f80_0000 } else { 0 };
    f32::from_bits(scaled.to_bits() | special | u32::from(bits & 0x8000) << 16)
}

/// Returns the nearest `f16`, with ties to even. NaN becomes the NaN that a GPU produces.
#[inline(always)]
pub fn to_half(value: f32) -> u16 {
    const LARGEST: u32 = 0x477f_f000; // From 65520 on, the nearest `f16` is infinity.
    const SMALLEST_NORMAL: u32 = 0x3880_0000;
    let bits = value.to_bits();
    let (sign, magnitude) = ((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff);
    if magnitude > 0x7f80_0000 {
        return 0x7fff;
    }
    if magnitude >= LARGEST {
        return sign | 0x7c00;
    }
    if magnitude < SMALLEST_NORMAL {
        // The last bit of a float at one half has the value of the last bit of a subnormal f16.
        let rounded = f32::from_bits(magnitude) + 0.5;
        return sign | (rounded.to_bits() - 0.5f32.to_bits()) as u16;
    }
    let odd = magnitude >> 13 & 1;
    sign | ((magnitude + 0xfff + odd - (112 << 23)) >> 13) as u16
}

/// Returns the value of a `bf16`.
#[inline(always)]
pub fn brain(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Returns the value of a `tf32`: the low 13 bits are ignored.
#[inline(always)]
pub fn tensor32(bits: u32) -> f32 {
    f32::from_bits(bits & !0x1fff)
}

/// Returns the value of an `e4m3`: it has no infinities, and only the value with all bits set is NaN.
pub fn e4m3(bits: u8) -> f32 {
    if bits & 0x7f == 0x7f {
        return f32::NAN;
    }
    let magnitude = half(u16::from(bits & 0x7f) << 7) * 256.0;
    if bits & 0x80 != 0 { -magnitude } else { magnitude }
}

/// Returns the value of an `e5m2`: it is the upper half of an `f16`.
pub fn e5m2(bits: u8) -> f32 {
    half(u16::from(bits) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the value according to the definition of IEEE formats.
    fn defined(bits: u32, exponent_bits: u32, fraction_bits: u32) -> f64 {
        let fraction = f64::from(bits & ((1 << fraction_bits) - 1));
        let exponent = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
        let bias = (1 << (exponent_bits - 1)) - 1;
        let sign = if bits >> (exponent_bits + fraction_bits) & 1 == 1 { -1.0 } else { 1.0 };
        let unit = 2f64.powi(-(fraction_bits as i32));
        if exponent == 0 {
            sign * fraction * unit * 2f64.powi(1 - bias)
        } else {
            sign * (1.0 + fraction * unit) * 2f64.powi(exponent - bias)
        }
    }

    #[test]
    fn all_halves_are_as_defined() {
        for bits in 0..=u16::MAX {
            let value = half(bits);
            match (bits >> 10 & 31, bits & 0x3ff) {
                (31, 0) => assert!(value.is_infinite() && value.is_sign_negative() == (bits >> 15 == 1)),
                (31, _) => assert!(value.is_nan()),
                _ => {
                    assert_eq!(f64::from(value), defined(u32::from(bits), 5, 10));
                    assert_eq!(to_half(value), bits);
                }
            }
        }
    }

    #[test]
    fn all_bytes_are_as_defined() {
        for bits in 0..=u8::MAX {
            if bits & 0x7f != 0x7f {
                assert_eq!(f64::from(e4m3(bits)), defined(u32::from(bits), 4, 3));
            }
            if bits >> 2 & 31 != 31 {
                assert_eq!(f64::from(e5m2(bits)), defined(u32::from(bits), 5, 2));
            }
        }
        assert!(e4m3(0xff).is_nan() && e5m2(0x7c).is_infinite());
    }

    #[test]
    fn large_numbers_become_infinite_and_nan_stays() {
        assert_eq!(to_half(65519.996), 0x7bff);
        assert_eq!(to_half(-65520.0), 0xfc00);
        assert_eq!(to_half(f32::NAN), 0x7fff);
    }

    proptest! {
        #[test]
        fn the_nearest_half_is_taken(value in -65519.0f32..65519.0, small in -1e-4f32..1e-4) {
            for value in [value, small] {
                let bits = to_half(value);
                let error = |bits: u16| (f64::from(half(bits)) - f64::from(value)).abs();
                for other in [bits.wrapping_sub(1), bits.wrapping_add(1)] {
                    if half(other).is_finite() {
                        prop_assert!(error(bits) < error(other) || error(bits) == error(other) && bits & 1 == 0);
                    }
                }
            }
        }
    }
}
