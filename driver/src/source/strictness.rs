//! Code for which clang is stricter than nvcc: member templates that are called without `template`, and static members
//! that a constant expression names by `this`.

use super::unit::code;

/// The replacement for `this->` in a constant expression; `warpline/compatibility.h` contains the template.
const CLASS: &str = "warpline_class<decltype(*this)>::type::";

/// Words before the parentheses of a constant expression.
const CONSTANT: [&[&str]; 2] = [&["if", "constexpr"], &["static_assert"]];

/// Operators in whose operands `this` needs no value, so that a member need not be static.
const UNEVALUATED: [&str; 3] = ["decltype", "sizeof", "noexcept"];

/// Returns the text in the form that clang accepts, or `None` if no change is necessary. Line numbers do not change.
pub fn respelled(text: &str) -> Option<String> {
    if !text.contains("operator") && !text.contains("this") {
        return None;
    }
    let bytes = text.as_bytes();
    let code = code(bytes);
    // Each change: the position, the number of replaced bytes, and the inserted text.
    let mut changes: Vec<(usize, usize, &str)> = Vec::new();
    for (at, _) in text.match_indices("operator").filter(|(at, _)| code[*at]) {
        if is_member_template(bytes, at) {
            changes.push((at, 0, "template "));
        }
    }
    for words in CONSTANT {
        for (start, _) in text.match_indices(words[0]).filter(|(at, _)| code[*at]) {
            let Some((open, close)) = condition(bytes, &code, start, words) else { continue };
            if UNEVALUATED.iter().any(|word| text[open..close].contains(word)) {
                continue;
            }
            let uses = text[open..close].match_indices("this").map(|(at, _)| open + at);
            changes.extend(uses.filter(|&at| code[at]).filter_map(|at| Some((at, arrow(bytes, at)?, CLASS))));
        }
    }
    if changes.is_empty() {
        return None;
    }
    changes.sort_unstable();
    changes.dedup();
    let (mut new, mut from) = (String::with_capacity(text.len() + changes.len() * CLASS.len()), 0);
    for (at, length, instead) in changes {
        new += &text[from..at];
        new += instead;
        from = at + length;
    }
    Some(new + &text[from..])
}

fn is_letter(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Returns the position after blanks.
fn skip(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns whether `operator` at a position is the member of an object and a call or subscript with template arguments.
fn is_member_template(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].trim_ascii_end();
    if !before.ends_with(b".") && !before.ends_with(b"->") {
        return false;
    }
    let open = skip(bytes, at + "operator".len());
    let closing = match bytes.get(open) {
        Some(b'(') => b')',
        Some(b'[') => b']',
        _ => return false,
    };
    let close = skip(bytes, open + 1);
    let next = skip(bytes, (close + 1).min(bytes.len()));
    bytes.get(close) == Some(&closing)
        && bytes.get(next) == Some(&b'<')
        && !matches!(bytes.get(next + 1), Some(b'<' | b'='))
}

/// Returns the parentheses after the words at a position.
fn condition(bytes: &[u8], code: &[bool], start: usize, words: &[&str]) -> Option<(usize, usize)> {
    if is_letter(bytes[..start].last()) {
        return None;
    }
    let mut at = start;
    for word in words {
        at = skip(bytes, at);
        if !bytes[at..].starts_with(word.as_bytes()) || is_letter(bytes.get(at + word.len())) {
            return None;
        }
        at += word.len();
    }
    let open = skip(bytes, at);
    let mut depth = 0usize;
    for place in (open..bytes.len()).filter(|&place| code[place]) {
        match bytes[place] {
            b'(' => depth += 1,
            b')' if depth <= 1 => return (depth == 1).then_some((open, place)),
            b')' => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns the length of `this->` at a position.
fn arrow(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at + "this".len();
    let sign = skip(bytes, end);
    let found = !is_letter(bytes[..at].last()) && bytes[sign..].starts_with(b"->");
    // A line break in between would be lost.
    (found && !bytes[end..sign].contains(&b'\n')).then_some(sign + 2 - at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_templates_get_their_keyword() {
        let text = "x = this->p.operator()<M::yes>(a) + q->operator [] <3>(b) + r . operator()(c);";
        let new = "x = this->p.template operator()<M::yes>(a) + q->template operator [] <3>(b) + r . operator()(c);";
        assert_eq!(respelled(text).as_deref(), Some(new));
        for text in [
            "p.template operator()<1>(a);",
            "template <int N> bool operator()(int a); bool operator<(X) const;",
            "a.operator()(b) < c; // p.operator()<1>(a)",
            "s.operator<<(x); o.operator<(y);",
            "p.operator",
            "p.operator(",
        ] {
            assert_eq!(respelled(text), None, "{text}");
        }
    }

    #[test]
    fn static_members_in_constant_expressions_are_named_by_the_class() {
        let new =
            respelled("if constexpr (this->pair && f(x)) return this->v; static_assert(this->n > 1, \"\");").unwrap();
        assert_eq!(
            new,
            format!("if constexpr ({CLASS}pair && f(x)) return this->v; static_assert({CLASS}n > 1, \"\");")
        );
        for text in [
            "if (this->pair) return;",
            "if constexpr (is_same<decltype(this->x), int>::value) return;",
            "static_assert(sizeof(this->data) == 4); my_static_assert(this->x);",
            "if constexpr (\"this->\") ; if constexpr",
            "static_assert(this->n",
        ] {
            assert_eq!(respelled(text), None, "{text}");
        }
    }
}
