//! Parses inline assembly.

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The guard, which is a register or an argument, and whether it is negated.
    pub guard: Option<(Operand, bool)>,
    /// The parts of the operation, such as `["mad", "lo", "cc", "u32"]`.
    pub operation: Vec<String>,
    /// Operands.
    pub operands: Vec<Operand>,
    /// The text of the instruction, without comments and with single blanks.
    pub text: String,
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `$3` in LLVM's text.
    Argument(usize),
    /// A register that the text declares, or a special register, such as `p` or `%laneid`.
    Register(String),
    /// A number, as bits.
    Number(u64),
    /// `{a, b}`.
    Group(Vec<Operand>),
    /// `[a + 16]`.
    Memory(Box<Operand>, i64),
    /// `[a, {b, c}]`: the handle and coordinates of a texture or surface.
    Texture(Box<Operand>, Vec<Operand>),
    /// `a|p` for shuffles, `{a, b}|p` for fetches.
    Pair(Box<Operand>, Box<Operand>),
    /// `!p`: a negated predicate.
    Not(Box<Operand>),
}

/// Splits inline assembly into statements; returns `None` if it contains more than plain instructions.
pub fn parse(text: &str) -> Option<Vec<Statement>> {
    let plain = without_comments(text)?;
    // Braces around the whole text open a scope for registers; braces inside an instruction group operands.
    let mut statements = Vec::new();
    for piece in split_statements(&plain) {
        let piece = piece.trim();
        if piece.is_empty() {
            continue;
        }
        if piece.starts_with(".reg") || piece.starts_with(".pragma") {
            continue;
        }
        if piece.starts_with('.') || piece.contains(": ") || piece.ends_with(':') {
            return None;
        }
        statements.push(statement(piece)?);
    }
    Some(statements)
}

/// LLVM's placeholder for a number that differs in each copy of the assembly, which makes labels distinct (`%=` in
/// C++).
const COPY: &str = "${:uid}";

/// Returns the text on one line, without comments; `None` if a comment does not end.
pub(crate) fn without_comments(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/")?.1;
    }
    plain.push_str(rest);
    let lines = plain.lines().map(|line| line.split("//").next().unwrap_or(""));
    Some(lines.collect::<Vec<_>>().join(" ").replace('\t', " ").replace(COPY, "_copy"))
}

/// Splits text into statements, which end at a semicolon. A brace between statements is a scope.
pub(crate) fn split_statements(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    let mut current = String::new();
    let mut depth = 0;
    for c in text.chars() {
        match c {
            ';' => list.push(std::mem::take(&mut current)),
            '{' if current.trim().is_empty() => {}
            '}' if depth == 0 && current.trim().is_empty() => {}
            '{' => {
                depth += 1;
                current.push(c);
            }
            '}' => {
                depth -= 1;
                current.push(c);
            }
            _ => current.push(c),
        }
    }
    list.push(current);
    list
}

pub(crate) fn statement(text: &str) -> Option<Statement> {
    let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (guard, text) = match text.strip_prefix('@') {
        Some(rest) => {
            let rest = rest.trim_start();
            let (negated, rest) = rest.strip_prefix('!').map_or((false, rest), |rest| (true, rest.trim_start()));
            let (register, rest) = rest.split_once(char::is_whitespace)?;
            let guard =
                operand(register).filter(|guard| matches!(guard, Operand::Register(_) | Operand::Argument(_)))?;
            (Some((guard, negated)), rest.trim())
        }
        None => (None, text),
    };
    let (operation, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operation: Vec<String> = operation.replace("::", ".").split('.').map(str::to_string).collect();
    let mut list = Vec::new();
    for part in split_operands(operands) {
        list.push(operand(part.trim())?);
    }
    Some(Statement { guard, operation, operands: list, text: whole })
}

fn split_operands(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                list.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        list.push(&text[start..]);
    }
    list
}

fn operand(text: &str) -> Option<Operand> {
    if let Some(inner) = text.strip_prefix('!') {
        return Some(Operand::Not(Box::new(operand(inner.trim_start())?)));
    }
    if let Some((left, right)) = text.split_once('|') {
        return Some(Operand::Pair(Box::new(operand(left.trim())?), Box::new(operand(right.trim())?)));
    }
    if let Some(inner) = text.strip_prefix('{') {
        let parts = split_operands(inner.strip_suffix('}')?);
        return parts.into_iter().map(|part| operand(part.trim())).collect::<Option<_>>().map(Operand::Group);
    }
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']')?.trim();
        if let [handle, coordinates] = split_operands(inner)[..] {
            let Operand::Group(coordinates) = operand(coordinates.trim())? else { return None };
            return Some(Operand::Texture(Box::new(operand(handle.trim())?), coordinates));
        }
        // The sign of an offset belongs to the offset; a sign at the front would be that of an address without a base.
        let (base, offset) = match inner.char_indices().skip(1).find(|(_, c)| matches!(c, '+' | '-')) {
            Some((at, '+')) => (inner[..at].trim(), number(inner[at + 1..].trim())? as i64),
            Some((at, _)) => (inner[..at].trim(), number(inner[at..].trim())? as i64),
            None => (inner, 0),
        };
        return Some(Operand::Memory(Box::new(operand(base)?), offset));
    }
    if let Some(rest) = text.strip_prefix('$') {
        let digits = rest.trim_start_matches('{').trim_end_matches('}').split(':').next()?;
        return digits.parse().ok().map(Operand::Argument);
    }
    // `WARP_SZ` is the only constant with a name.
    if text == "WARP_SZ" {
        return Some(Operand::Number(32));
    }
    if let Some(value) = number(text) {
        return Some(Operand::Number(value));
    }
    let name = text.trim_start_matches('%');
    let good = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.'));
    (good && !name.is_empty()).then(|| Operand::Register(name.to_string()))
}

/// Returns a number in PTX's syntax: decimal, hexadecimal, octal (with a leading 0), binary, or the bits of a
/// floating-point number.
pub(crate) fn number(text: &str) -> Option<u64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text),
    };
    let text = text.trim_end_matches('U');
    let value = if let Some(hex) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()?
    } else if let Some(bits) = text.strip_prefix("0f").or(text.strip_prefix("0F")) {
        u64::from(u32::from_str_radix(bits, 16).ok()?)
    } else if let Some(bits) = text.strip_prefix("0d").or(text.strip_prefix("0D")) {
        u64::from_str_radix(bits, 16).ok()?
    } else if let Some(bits) = text.strip_prefix("0b").or(text.strip_prefix("0B")) {
        u64::from_str_radix(bits, 2).ok()?
    } else if text.len() > 1 && text.starts_with('0') {
        u64::from_str_radix(text, 8).ok()?
    } else {
        text.parse().ok()?
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// The operands of an assembly call, from LLVM's constraints, with outputs first. Each input is an argument of the
/// call, or it is tied to an output whose start value it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraints {
    /// The number of outputs.
    pub outputs: usize,
    /// For each input, the output to which it is tied.
    pub inputs: Vec<Option<usize>>,
}

/// Reads LLVM's constraint string; returns `None` for indirect operands.
pub fn constraints(text: &str) -> Option<Constraints> {
    let mut result = Constraints { outputs: 0, inputs: Vec::new() };
    for part in text.split(',').filter(|part| !part.is_empty() && !part.starts_with("~{")) {
        if part.contains('*') {
            return None;
        }
        if part.starts_with('=') {
            result.outputs += 1;
        } else {
            result.inputs.push(part.parse().ok());
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carry_chains_are_read() {
        let text = "{\n\tmad.lo.cc.u32   $0, $2, $3, $4;\n\tmadc.hi.u32     $1, $2, $3,  0;\n\t}";
        let list = parse(text).unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!(list[1].operation, ["madc", "hi", "u32"]);
        assert_eq!(list[1].operands[3], Operand::Number(0));
    }

    #[test]
    fn groups_guards_and_addresses_are_read() {
        let list = parse(
            "{.reg .pred p; setp.ne.b32 p, $2, 0; @!p ld.global.v2.u32 {$0,$1}, [$3+16]; mov.b64 $0, {%r1, %laneid};}",
        )
        .unwrap();
        assert_eq!(list.len(), 3);
        assert_eq!(list[1].guard, Some((Operand::Register("p".into()), true)));
        for (text, guard) in [
            ("@ p st.global.u32 [$0], $1;", (Operand::Register("p".into()), false)),
            ("@ ! %p st.global.u32 [$0], $1;", (Operand::Register("p".into()), true)),
            ("@$2 st.global.u32 [$0], $1;", (Operand::Argument(2), false)),
            ("@!${2:b} st.global.u32 [$0], $1;", (Operand::Argument(2), true)),
        ] {
            assert_eq!(parse(text).unwrap()[0].guard, Some(guard), "{text}");
        }
        for (text, offset) in
            [("[$0+8]", 8), ("[ $0 + -8 ]", -8), ("[$0-8]", -8), ("[$0 - 0x10]", -16), ("[$0+-0x4]", -4), ("[$0]", 0)]
        {
            let list = parse(&format!("st.global.u32 {text}, $1;")).unwrap();
            assert_eq!(list[0].operands[0], Operand::Memory(Box::new(Operand::Argument(0)), offset), "{text}");
        }
        assert_eq!(list[1].operands[1], Operand::Memory(Box::new(Operand::Argument(3)), 16));
        assert_eq!(
            list[2].operands[1],
            Operand::Group(vec![Operand::Register("r1".into()), Operand::Register("laneid".into())])
        );
    }

    #[test]
    fn shuffles_have_pairs() {
        let list = parse("shfl.sync.up.b32 r0|p, $1, $2, $3, $4;").unwrap();
        assert!(matches!(&list[0].operands[0], Operand::Pair(..)));
    }

    #[test]
    fn numbers_of_every_base_are_read() {
        let forms = ["16", "0x10", "0X10", "020", "0b10000", "0B10000", "16U", "0x10U", "020U"];
        assert_eq!(forms.map(number), [Some(16); 9]);
        assert_eq!(
            (number("0"), number("-0x10"), number("- 4")),
            (Some(0), Some(16u64.wrapping_neg()), Some(4u64.wrapping_neg()))
        );
        assert_eq!((number("08"), number("0x"), number("p"), number("")), (None, None, None, None));
    }

    #[test]
    fn the_warp_s_size_has_a_name() {
        assert_eq!(parse("{mov.u32 $0, WARP_SZ;\n}").unwrap()[0].operands[1], Operand::Number(32));
    }

    #[test]
    fn fetches_have_handles_and_coordinates() {
        let list = parse("tex.2d.v4.f32.f32 {$0, $1, $2, $3}|p0, [$4, {$5, $6}];").unwrap();
        let argument = |number| Operand::Argument(number);
        let wanted = Operand::Texture(Box::new(argument(4)), vec![argument(5), argument(6)]);
        assert_eq!(list[0].operands[1], wanted);
        assert!(matches!(&list[0].operands[0], Operand::Pair(group, _) if matches!(**group, Operand::Group(_))));
    }

    #[test]
    fn labels_and_directives_are_refused() {
        assert_eq!(parse("L1: bra L1;"), None);
        assert_eq!(parse(".shared .b32 x;"), None);
    }

    #[test]
    fn constraints_are_counted() {
        let read = constraints("=r,=l,r,0,~{memory}").unwrap();
        assert_eq!(read, Constraints { outputs: 2, inputs: vec![None, Some(0)] });
    }
}
