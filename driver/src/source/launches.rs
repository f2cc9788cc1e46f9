//! Launches in the form `kernel << <grid, block>> >(…)`, as some editors format them. nvcc accepts `<<<` with blanks
//! between the signs; clang does not. The replacement does not change any line or column.

use super::unit::code;

/// Returns the text with `<<<` and `>>>` of launches written without blanks, or `None` if nothing has to change.
pub fn respelled(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let code = code(&bytes);
    let mut changed = false;
    let mut at = 0;
    while at < bytes.len() {
        if let Some(open) = triple(&bytes, &code, at, b'<')
            && !follows_operator(&bytes, at)
            && let Some(close) = closing(&bytes, &code, open[2] + 1)
        {
            for places in [open, close] {
                changed |= places[2] != places[0] + 2;
                let sign = bytes[places[0]];
                bytes[places[0]..=places[2]].fill(b' ');
                bytes[places[0]..places[0] + 3].fill(sign);
            }
            at = close[2];
        }
        at += 1;
    }
    // Only ASCII characters that are not part of other characters were replaced.
    changed.then(|| String::from_utf8(bytes).ok())?
}

/// Returns the positions of three `sign`s from `at` on, with only blanks between them, all on one line.
fn triple(bytes: &[u8], code: &[bool], at: usize, sign: u8) -> Option<[usize; 3]> {
    let mut places = [at; 3];
    let mut next = at;
    for place in &mut places {
        while next > at && matches!(bytes.get(next), Some(b' ' | b'\t')) {
            next += 1;
        }
        if bytes.get(next) != Some(&sign) || !code[next] {
            return None;
        }
        *place = next;
        next += 1;
    }
    (bytes.get(next) != Some(&sign)).then_some(places)
}

/// Returns whether the signs follow `operator`: `operator<< <char>` is not a launch.
fn follows_operator(bytes: &[u8], at: usize) -> bool {
    bytes[..at].trim_ascii_end().ends_with(b"operator")
}

/// Returns the `>>>` that ends a launch's configuration: it is outside parentheses, and an opening parenthesis follows.
/// Template arguments may have the same form (`f<A<B<int>> >(1)`), so the last one of the statement is used.
fn closing(bytes: &[u8], code: &[bool], from: usize) -> Option<[usize; 3]> {
    let mut depth = 0usize;
    let mut found = None;
    for at in (from..bytes.len()).filter(|&at| code[at]) {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' if depth == 0 => break,
            b')' | b']' => depth -= 1,
            b';' | b'{' | b'}' => break,
            b'<' if depth == 0 && triple(bytes, code, at, b'<').is_some() => break,
            b'>' if depth == 0 => {
                let ended = |places: &[usize; 3]| {
                    let next = bytes[places[2] + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
                    next == Some(&b'(')
                };
                found = triple(bytes, code, at, b'>').filter(ended).or(found);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_with_blanks_are_written_together() {
        let new =
            respelled("a << <g, b>> >(x);\n b<< < dim3(1, 2), c < d ? 1 : 2 >> > (y); c<<<1, 2>> > (z);").unwrap();
        assert_eq!(new, "a <<< g, b>>> (x);\n b<<<  dim3(1, 2), c < d ? 1 : 2 >>>  (y); c<<<1, 2>>>  (z);");
    }

    #[test]
    fn all_keeps_its_place() {
        let text = "k << <vector<vector<int> > (3).size(), 1>> >(\n  x); // ü << <1, 2>> >(3)\nf();";
        let new = respelled(text).unwrap();
        assert_eq!(new.len(), text.len());
        assert_eq!(new.lines().last(), text.lines().last());
        assert!(new.ends_with("// ü << <1, 2>> >(3)\nf();"), "{new}");
    }

    #[test]
    fn what_is_no_launch_stays() {
        for text in [
            "k<<<1, 2>>>(x);",
            "k<<<f<A<B<int>> >(1), 2>>>(x);",
            "friend ostream &operator<< <T>(ostream &, A<B<C<T>> >(x));",
            "cout << a < b; vector<vector<vector<int>> > (x);",
            "char c = '\"'; puts(\"<< <1, 2>> >(3)\"); /* << <1, 2>> >(3) */",
            "int n = 1'000; x << y;",
            "<< <",
            "/",
            "\"",
        ] {
            assert_eq!(respelled(text), None, "{text}");
        }
    }
}
