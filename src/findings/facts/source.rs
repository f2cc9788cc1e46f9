//! What lines of the source say of data.

use super::Facts;
use super::access::Access;
use super::index::subscripts;

/// The line of the source that makes an access.
pub(in super::super) fn line_of<'a>(facts: &Facts<'a>, access: &Access<'_>) -> Option<&'a str> {
    Some(facts.profile.sources.get(access.file)?.get(&access.line)?)
}

/// A line without its comment.
pub(in super::super) fn code_of(text: &str) -> &str {
    text.split("//").next().unwrap_or_default()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A subscript has a name in it, and is no number.
pub(in super::super) fn has_name(subscript: &str) -> bool {
    subscript.contains(char::is_alphabetic)
}

/// The names that stand before brackets.
pub(in super::super) fn subscripted_names(text: &str) -> impl Iterator<Item = &str> {
    let name = |before: &'_ str| {
        before.rfind(|c| !is_word(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    };
    text.match_indices('[').map(move |(at, _)| &text[name(&text[..at])..at]).filter(|name| !name.is_empty())
}

/// The line declares a variable: a type stands before its name.
pub(in super::super) fn is_declared(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        before.len() < at && !word.is_empty() && !["return", "else", "case", "do"].contains(&word)
    })
}

/// Elements of `name[3][1000]`.
pub(in super::super) fn declared_elements(text: &str, name: &str) -> Option<u64> {
    let mut behind = text
        .match_indices(name)
        .filter(|&(at, _)| !text[..at].ends_with(is_word))
        .map(|(at, _)| text[at + name.len()..].trim_start());
    let mut rest = behind.find(|rest| rest.starts_with('['))?;
    let mut elements: Option<u64> = None;
    while let Some((size, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        elements = Some(elements.unwrap_or(1).saturating_mul(size.trim().parse().ok()?));
        rest = behind.trim_start();
    }
    elements
}

/// A line has the name of an array without brackets behind it, and not as that of a member (`threadIdx.x`).
pub(in super::super) fn is_named_whole(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&code[..at], &code[at + name.len()..]);
        !before.ends_with(|c: char| is_word(c) || c == '.')
            && !before.ends_with("->")
            && !behind.starts_with(is_word)
            && !behind.trim_start().starts_with('[')
    })
}

/// The word `name` stands in the line with `what` behind it.
pub(in super::super) fn follows(text: &str, name: &str, what: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_word) && text[at + name.len()..].trim_start().starts_with(what))
}

/// A value, or all that braces hold, is text or a number of the source.
pub(in super::super) fn is_constant(value: &str) -> bool {
    let value = value.trim_start();
    let mut words = value.split(|c: char| !(is_word(c) || c == '.')).filter(|word| !word.is_empty());
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    value.starts_with('"')
        || value.contains(|c: char| c.is_ascii_digit()) && !value.contains(['[', '(']) && words.all(is_number)
}

/// Whether a line assigns to an element or to what a pointer leads to, and not to a member of it.
pub(in super::super) fn assigns_whole_element(text: &str, name: Option<&str>) -> bool {
    let code = text.split("//").next().unwrap_or_default();
    let Some((target, _)) = code.split_once('=').filter(|(_, value)| !value.starts_with('=')) else { return false };
    let target = target.trim_end();
    let last = name.map(|name| name.rsplit(['.', '>']).next().unwrap_or(name)).unwrap_or_default();
    target.ends_with(']') && subscripts(target, last).count() == 1
        || target.trim_start().starts_with('*') && !target.contains("->")
}

#[cfg(test)]
mod tests {
    use super::{assigns_whole_element, declared_elements, follows, is_constant, is_named_whole, subscripted_names};

    #[test]
    fn names_before_brackets_are_subscripted() {
        let names = |text| subscripted_names(text).collect::<Vec<_>>();
        assert_eq!(names("r[k * n] = best.item[k] + (x)[0];"), ["r", "item"]);
        assert_eq!(names("größe[1] + f(x)[2]; [k]"), ["größe"]);
    }

    #[test]
    fn whole_elements_are_no_members() {
        assert!(assigns_whole_element("frame[i] = make_float4(f(p.x), f(p.y), f(p.z), p.w);", Some("frame")));
        assert!(assigns_whole_element("  *to = value;", Some("to")));
        assert!(!assigns_whole_element("frame[i].x = p.x;", Some("frame")));
        assert!(!assigns_whole_element("if (frame[i].x == 1) x = 2;", Some("frame")));
    }

    #[test]
    fn sizes_are_those_that_are_declared() {
        assert_eq!(declared_elements("short row[3000] = {0}, other[2];", "row"), Some(3000));
        assert_eq!(declared_elements("float tile[4] [17];", "tile"), Some(68));
        assert_eq!(declared_elements("int narrow[8], row[rows + 1];", "row"), None);
    }

    #[test]
    fn constants_are_text_and_numbers() {
        assert!([" 0.5f;", " -1e-3;", " \"ABC+/\";", " { 1, 0x1F, .5f };"].into_iter().all(is_constant));
        assert!([" n;", " { 1, n };", " 2 * table[3];", " f(1);", " {"].into_iter().all(|value| !is_constant(value)));
    }

    #[test]
    fn members_are_not_the_array() {
        assert!(is_named_whole("fill(x, 3);", "x") && is_named_whole("float *p = x;", "x"));
        assert!(!is_named_whole("int i = threadIdx.x + x[i] + p->x + max;", "x"));
    }

    #[test]
    fn names_are_whole_words() {
        assert!(follows("int bins [8];", "bins", "[") && follows("x = a.bins[i]", "bins", "["));
        assert!(!follows("pre_range[i] = ge.x;", "ge", "[") && follows("pre_range[i] = ge.x;", "ge", "."));
        assert!(follows("u = a->x;", "a", "->"));
    }
}
