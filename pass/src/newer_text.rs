//! Converts LLVM text from later versions to the syntax of this version. Triton 3.9 prints with LLVM 24, which has a
//! new syntax for floating-point literals: `f0x3FB8AA3B` contains the bits in the width of their type, decimals need
//! not be exact, and infinities and NaNs have names (LLVM Language Reference, "Simple Constants"). All other text is
//! unchanged.

/// A floating-point type in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Float {
    Half,
    Brain,
    Single,
    Double,
}

const TYPES: [(&str, Float); 4] =
    [("half", Float::Half), ("bfloat", Float::Brain), ("float", Float::Single), ("double", Float::Double)];

/// Returns the text with literals that LLVM 22 can read. Old literals keep their meaning; decimals of types smaller
/// than double become bits.
pub fn translate(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // Only these lines can contain literals of a floating-point type.
        let code = !line.trim_start().starts_with([';', '!']);
        if code && TYPES.iter().any(|(name, _)| line.contains(name)) {
            translate_line(line, &mut out);
        } else {
            out.push_str(line);
        }
    }
    out
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '%' | '@' | '$' | '-' | '+' | '!' | '#')
}

/// Converts one line. A literal has the type that precedes it in its line, as in `fmul float %a, 1.5` and `phi float [
/// 1.5, %b ]`.
fn translate_line(line: &str, out: &mut String) {
    let mut current = None;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            // A backslash in LLVM's strings is followed by two digits, so a quote always ends them.
            let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        if end == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(end);
        if let Some((_, ty)) = TYPES.iter().find(|(name, _)| *name == word) {
            current = Some(*ty);
        } else if ends_type(word) {
            current = None;
        }
        let payload = after.strip_prefix('(').and_then(|inside| inside.split_once(')'));
        match current.and_then(|ty| literal(word, payload.map(|(inside, _)| inside), ty)) {
            Some((made, took_payload)) => {
                out.push_str(&made);
                rest = if took_payload { payload.map_or(after, |(_, behind)| behind) } else { after };
            }
            None => {
                out.push_str(word);
                rest = after;
            }
        }
    }
}

/// Returns whether a word ends the validity of the type, because the following operand has an integer or pointer type,
/// as in `select i1 %c, float 1.0, float 2.0`.
fn ends_type(word: &str) -> bool {
    word == "ptr"
        || word.strip_prefix('i').is_some_and(|bits| !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns a literal in the syntax of this LLVM, and whether it includes the parentheses after it; `None` if the word
/// is not a floating-point literal.
fn literal(word: &str, payload: Option<&str>, ty: Float) -> Option<(String, bool)> {
    if let Some(digits) = word.strip_prefix("f0x") {
        return Some((of_bits(u64::from_str_radix(digits, 16).ok()?, ty), false));
    }
    let (negative, name) = match word.split_at_checked(1)? {
        ("+", name) => (false, name),
        ("-", name) => (true, name),
        _ => (false, word),
    };
    let (mantissa, exponent_mask) = match ty {
        Float::Half => (10, 0x1f),
        Float::Brain => (7, 0xff),
        Float::Single => (23, 0xff),
        Float::Double => (52, 0x7ff),
    };
    let (infinity, quiet) = (exponent_mask << mantissa, 1u64 << (mantissa - 1));
    let sign = u64::from(negative) << (mantissa + 64 - u64::leading_zeros(exponent_mask));
    let number = |text: Option<&str>| u64::from_str_radix(text?.strip_prefix("0x")?, 16).ok();
    match name {
        "inf" => return Some((of_bits(sign | infinity, ty), false)),
        "qnan" => return Some((of_bits(sign | infinity | quiet, ty), false)),
        "nan" => return Some((of_bits(sign | infinity | quiet | number(payload)?, ty), true)),
        "snan" => return Some((of_bits(sign | infinity | number(payload)?, ty), true)),
        _ => {}
    }
    let decimal = name.starts_with(|first: char| first.is_ascii_digit()) && name.contains('.');
    if !decimal {
        return None;
    }
    // This LLVM also rounds the decimal of a double; the decimal of a smaller type must be exact.
    match ty {
        Float::Double => None,
        Float::Single => Some((of_bits(u64::from(word.parse::<f32>().ok()?.to_bits()), ty), false)),
        Float::Half | Float::Brain => {
            let value: f64 = word.parse().ok()?;
            Some((of_bits(nearest(value, mantissa, exponent_mask), ty), false))
        }
    }
}

/// Returns the bits of the number in a small format that is nearest to a number, with ties to even.
fn nearest(value: f64, mantissa: u32, exponent_mask: u64) -> u64 {
    let width = mantissa + u64::BITS - exponent_mask.leading_zeros();
    let of = |bits: u64| to_double(bits, mantissa, exponent_mask);
    // Larger bit patterns have larger magnitudes. Infinity is used for numbers that exceed the largest number by more
    // than half a step.
    let infinity = exponent_mask << mantissa;
    let magnitude = value.abs();
    let (mut low, mut high) = (0, infinity);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if of(middle) <= magnitude { low = middle } else { high = middle - 1 }
    }
    let above = low + 1;
    let step = |bits: u64| if bits >= infinity { 2.0 * of(infinity - 1) - of(infinity - 2) } else { of(bits) };
    let chosen = match (magnitude - of(low)).partial_cmp(&(step(above) - magnitude)) {
        _ if low >= infinity => infinity,
        Some(std::cmp::Ordering::Less) => low,
        Some(std::cmp::Ordering::Greater) => above,
        _ => low + low % 2,
    };
    chosen | u64::from(value.is_sign_negative()) << width
}

fn to_double(bits: u64, mantissa: u32, exponent_mask: u64) -> f64 {
    let (exponent, fraction) = ((bits >> mantissa) & exponent_mask, bits & ((1 << mantissa) - 1));
    let bias = (exponent_mask >> 1) as i32;
    if exponent == exponent_mask {
        return if fraction == 0 { f64::INFINITY } else { f64::NAN };
    }
    let (whole, power) = match exponent {
        0 => (fraction, 1 - bias),
        _ => (fraction | 1 << mantissa, exponent as i32 - bias),
    };
    whole as f64 * 2f64.powi(power - mantissa as i32)
}

/// Returns the bits of a type in the form of this LLVM, which writes a float as the double of the same value.
fn of_bits(bits: u64, ty: Float) -> String {
    match ty {
        Float::Half => format!("0xH{bits:04X}"),
        Float::Brain => format!("0xR{bits:04X}"),
        Float::Double => format!("0x{bits:016X}"),
        Float::Single => format!("0x{:016X}", single_as_double(bits as u32)),
    }
}

/// Returns the bits of the double with a float's value. A NaN keeps its sign, its kind and its payload, which a
/// conversion by the processor would not preserve.
fn single_as_double(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if !value.is_nan() {
        return f64::from(value).to_bits();
    }
    let (sign, fraction) = (u64::from(bits >> 31), u64::from(bits & 0x7f_ffff));
    sign << 63 | 0x7ff << 52 | fraction << 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_literals_are_put_into_old_words() {
        for (new, old) in [
            ("%1 = fmul float %0, f0x3FB8AA3B, !dbg !2\n", "%1 = fmul float %0, 0x3FF7154760000000, !dbg !2\n"),
            ("%1 = fadd half %0, f0x3C00\n", "%1 = fadd half %0, 0xH3C00\n"),
            ("%1 = fadd bfloat %0, 1.1\n", "%1 = fadd bfloat %0, 0xR3F8D\n"),
            ("%1 = fadd half %0, 1.0e-01\n", "%1 = fadd half %0, 0xH2E66\n"),
            ("%1 = fadd double %0, f0x3FF0000000000000\n", "%1 = fadd double %0, 0x3FF0000000000000\n"),
            ("%1 = fadd double %0, 1.1\n", "%1 = fadd double %0, 1.1\n"),
            ("%1 = fcmp oge float %0, 1.002960e+00\n", "%1 = fcmp oge float %0, 0x3FF00C1FC0000000\n"),
            ("%1 = fcmp oge float %0, -1.5\n", "%1 = fcmp oge float %0, 0xBFF8000000000000\n"),
            ("store float +inf, ptr %0\n", "store float 0x7FF0000000000000, ptr %0\n"),
            ("store float -inf, ptr %0\n", "store float 0xFFF0000000000000, ptr %0\n"),
            ("store float +qnan, ptr %0\n", "store float 0x7FF8000000000000, ptr %0\n"),
            ("store float +nan(0x1), ptr %0\n", "store float 0x7FF8000020000000, ptr %0\n"),
            ("store half -snan(0x1), ptr %0\n", "store half 0xHFC01, ptr %0\n"),
            (
                "%1 = select i1 %c, float 1.1, float f0x00000000\n",
                "%1 = select i1 %c, float 0x3FF19999A0000000, float 0x0000000000000000\n",
            ),
            ("%f0x1 = fadd float %f0x2, %f0x3\n", "%f0x1 = fadd float %f0x2, %f0x3\n"),
            (
                "call void asm \"mul.f32 float, 1.1\", \"f\"(float 0.5)\n",
                "call void asm \"mul.f32 float, 1.1\", \"f\"(float 0x3FE0000000000000)\n",
            ),
            ("; float 1.1\n", "; float 1.1\n"),
            ("!7 = !{float 1.1}\n", "!7 = !{float 1.1}\n"),
        ] {
            assert_eq!(translate(new), old);
            assert_eq!(translate(old), old, "a second time");
        }
    }

    /// For every half and every bfloat, the nearest number is the number itself, also for inputs very close to it.
    #[test]
    fn small_formats_round_to_nearest() {
        for (mantissa, mask) in [(10, 0x1f), (7, 0xff)] {
            let infinity = mask << mantissa;
            for bits in 0..infinity {
                let value = to_double(bits, mantissa, mask);
                assert_eq!(nearest(value, mantissa, mask), bits);
                let next = to_double(bits + 1, mantissa, mask);
                if next.is_finite() {
                    assert_eq!(nearest(value + (next - value) * 0.4, mantissa, mask), bits);
                    assert_eq!(nearest(value + (next - value) * 0.6, mantissa, mask), bits + 1);
                    assert_eq!(nearest(value + (next - value) * 0.5, mantissa, mask), bits + bits % 2);
                }
            }
            assert_eq!(nearest(1e300, mantissa, mask), infinity);
        }
    }
}
