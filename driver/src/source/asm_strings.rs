//! The constraint `"C"` of nvcc's inline assembly: an operand that is a constant array of characters, whose text
//! becomes part of the assembly. clang does not have this constraint, but accepts a constant expression for the whole
//! text. `warpline_asm_text` of `warpline/compatibility.h` composes this text from its parts.

use super::unit::code;
use std::ops::Range;

/// Returns the text with such operands inserted into the assembly, or `None` if there are none. Line numbers do not
/// change.
pub fn inserted(text: &str) -> Option<String> {
    if !text.contains("\"C\"") {
        return None;
    }
    let bytes = text.as_bytes();
    let code = code(bytes);
    let (mut new, mut from) = (String::with_capacity(text.len()), 0);
    for (start, _) in text.match_indices("asm").filter(|(at, _)| code[*at]) {
        let before = text[..start].strip_suffix("__").unwrap_or(&text[..start]);
        if before.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_') {
            continue;
        }
        if start < from {
            continue;
        }
        let Some((inner, instead)) = Statement::parse(text, &code, start).and_then(|statement| statement.respelled())
        else {
            continue;
        };
        new += &text[from..inner.start];
        new += &instead;
        from = inner.end;
    }
    (from > 0).then(|| new + &text[from..])
}

/// An operand of a statement.
struct Operand<'t> {
    /// The operand with the blanks around it.
    whole: &'t str,
    name: Option<&'t str>,
    /// The expression of an operand with the constraint `"C"`.
    constant: Option<&'t str>,
}

/// An assembly statement with operands.
struct Statement<'t> {
    /// The range between the parentheses.
    inner: Range<usize>,
    /// The text of the assembly, as literals.
    template: &'t str,
    outputs: Vec<Operand<'t>>,
    inputs: Vec<Operand<'t>>,
    /// The rest of the statement, from its colon on.
    rest: &'t str,
}

impl<'t> Statement<'t> {
    fn parse(text: &'t str, code: &[bool], start: usize) -> Option<Statement<'t>> {
        let open = start + text[start..].find(['(', ';', '{', '}'])?;
        let mut words = text[start..open].split_whitespace();
        let is_keyword = words.next().is_some_and(|word| word == "asm" || word == "asm__");
        if !is_keyword || !text[open..].starts_with('(') || words.any(|word| !is_qualifier(word)) {
            return None;
        }
        let (close, colons) = borders(text.as_bytes(), code, open, b':')?;
        let (first, second) = (*colons.first()?, *colons.get(1)?);
        let end = colons.get(2).copied().unwrap_or(close);
        let operands = |range: Range<usize>| operands(text, code, range);
        Some(Statement {
            inner: open + 1..close,
            template: &text[open + 1..first],
            outputs: operands(first + 1..second)?,
            inputs: operands(second + 1..end)?,
            rest: &text[end..close],
        })
    }

    /// Returns the range of the parentheses' content, and its replacement.
    fn respelled(&self) -> Option<(Range<usize>, String)> {
        self.inputs.iter().find(|operand| operand.constant.is_some())?;
        let all: Vec<&Operand<'_>> = self.outputs.iter().chain(&self.inputs).collect();
        let template = literals(self.template, &all)?;
        let listed = |operands: &[Operand<'_>]| {
            let kept: Vec<&str> = operands.iter().filter(|one| one.constant.is_none()).map(|one| one.whole).collect();
            let gone = operands.iter().filter(|one| one.constant.is_some());
            let lines: usize = gone.map(|one| one.whole.matches('\n').count()).sum();
            kept.join(",") + &"\n".repeat(lines)
        };
        let (outputs, inputs) = (listed(&self.outputs), listed(&self.inputs));
        Some((self.inner.clone(), format!("(warpline_asm_text({template})) :{outputs}:{inputs}{}", self.rest)))
    }
}

fn is_qualifier(word: &str) -> bool {
    ["volatile", "__volatile__", "__volatile", "inline", "goto"].contains(&word)
}

/// Returns the closing parenthesis for the one at `open`, and the positions of a sign directly between the two.
fn borders(bytes: &[u8], code: &[bool], open: usize, sign: u8) -> Option<(usize, Vec<usize>)> {
    let (mut depth, mut places) = (0usize, Vec::new());
    for at in (open..bytes.len()).filter(|&at| code[at]) {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth <= 1 => return (bytes[at] == b')').then_some((at, places)),
            b')' | b']' | b'}' => depth -= 1,
            byte if byte == sign && depth == 1 => places.push(at),
            b';' => return None,
            _ => {}
        }
    }
    None
}

/// Returns the operands in a range, which commas separate.
fn operands<'t>(text: &'t str, code: &[bool], range: Range<usize>) -> Option<Vec<Operand<'t>>> {
    if text[range.clone()].trim().is_empty() {
        return Some(Vec::new());
    }
    let (mut depth, mut starts) = (0usize, vec![range.start]);
    for at in range.clone().filter(|&at| code[at]) {
        match text.as_bytes()[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => starts.push(at + 1),
            _ => {}
        }
    }
    let ends = starts[1..].iter().map(|start| start - 1).chain([range.end]);
    Some(starts.iter().zip(ends).map(|(&start, end)| operand(&text[start..end])).collect())
}

fn operand(whole: &str) -> Operand<'_> {
    let trimmed = whole.trim();
    let named = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (name, rest) = named.map_or((None, trimmed), |(name, rest)| (Some(name.trim()), rest.trim_start()));
    let constant = rest.strip_prefix("\"C\"").map(str::trim);
    Operand { whole, name, constant: constant.filter(|value| value.starts_with('(') && value.ends_with(')')) }
}

/// Returns the arguments that compose the assembly: the literals, split at constant operands, with other operands by
/// their new numbers. Returns `None` if a part is not a literal.
fn literals(template: &str, operands: &[&Operand<'_>]) -> Option<String> {
    let mut new = String::new();
    let mut letters = template.char_indices();
    let mut is_first = true;
    while let Some((at, letter)) = letters.next() {
        if letter != '"' {
            if !letter.is_whitespace() {
                return None;
            }
            new.push(letter);
            continue;
        }
        new += if is_first { "\"" } else { ", \"" };
        is_first = false;
        let end = literal_end(&template[at + 1..])?;
        new += &content(&template[at + 1..at + 1 + end], operands)?;
        new.push('"');
        // The position after the closing quotation mark.
        letters = template.char_indices();
        letters.nth(template[..at + 1 + end].chars().count());
    }
    Some(new)
}

fn literal_end(rest: &str) -> Option<usize> {
    let mut escaped = false;
    rest.find(|letter| {
        let ends = letter == '"' && !escaped;
        escaped = !escaped && letter == '\\';
        ends
    })
}

/// Returns the content of a literal, in which constant operands are separate arguments.
fn content(text: &str, operands: &[&Operand<'_>]) -> Option<String> {
    let mut new = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        new += &rest[..at];
        let after = &rest[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let (number, length) = if digits > 0 {
            (after[..digits].parse::<usize>().ok(), digits)
        } else if let Some(end) = after.strip_prefix('[').and_then(|rest| rest.find(']')) {
            (operands.iter().position(|one| one.name == Some(&after[1..=end])), end + 2)
        } else {
            // This is a doubled sign, or a register.
            let length = usize::from(after.starts_with('%'));
            new += &rest[at..=at + length];
            rest = &after[length..];
            continue;
        };
        let number = number.filter(|&number| number < operands.len())?;
        match operands[number].constant {
            Some(value) => new += &format!("\", {value}, \""),
            None if digits > 0 => {
                let before = operands[..number].iter().filter(|one| one.constant.is_none()).count();
                new += &format!("%{before}");
            }
            None => new += &rest[at..=at + length],
        }
        rest = &after[length..];
    }
    Some(new + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_texts_are_put_into_the_assembly() {
        let text = "asm(\"mul%1.u32 %0, %2, %3;\" : \"=r\"(r) : \"C\"(Mode<W>::text), \"r\"(a), \"r\"(f(b, c)));";
        let new = "asm((warpline_asm_text(\"mul\", (Mode<W>::text), \".u32 %0, %1, %2;\" )) : \"=r\"(r) : \"r\"(a), \"r\"(f(b, c)));";
        assert_eq!(inserted(text).as_deref(), Some(new));
        let text = "x; __asm__ volatile (\"st\"\n \"%[how].b32 [%1], %%r, %3;\" :: [how] \"C\"(A::t),\n\"l\"(p), \"C\"(B),\"r\"(v) : \"memory\"); y;";
        let new = inserted(text).unwrap();
        let wanted = "x; __asm__ volatile ((warpline_asm_text(\"st\"\n , \"\", (A::t), \".b32 [%0], %%r, %1;\" )) ::\n\
                      \"l\"(p),\"r\"(v) : \"memory\"); y;";
        assert_eq!(new, wanted);
        assert_eq!(new.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn other_statements_stay() {
        for text in [
            "asm(\"mov.u32 %0, 1;\" : \"=r\"(x)); f(\"C\");",
            "asm(TEXT : : \"C\"(a));",
            "asm(\"x %7;\" : : \"C\"(a));",
            "asm(\"x %0\" : : \"C\"(a)",
            "// asm(\"x %0\" : : \"C\"(a));",
            "asm",
        ] {
            assert_eq!(inserted(text), None, "{text}");
        }
    }
}
