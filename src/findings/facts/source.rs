//! Information about data from source lines.

use super::super::prelude::*;
use std::collections::BTreeMap;

/// Returns the known lines of a file.
pub fn lines_of<'a>(facts: &Facts<'a>, file: &str) -> Option<&'a BTreeMap<u32, String>> {
    facts.profile.sources.get(file)
}

/// Returns the source line of an access.
pub fn line_of<'a>(facts: &Facts<'a>, access: &Access<'_>) -> Option<&'a str> {
    Some(lines_of(facts, access.file)?.get(&access.line)?)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether a source line contains this word.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_whole = |at: usize| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word);
    !word.is_empty() && text.match_indices(word).any(|(at, _)| is_whole(at))
}

/// Returns whether a subscript contains a name, and is not a number.
pub fn has_name(subscript: &str) -> bool {
    subscript.contains(char::is_alphabetic)
}

/// Returns the text in each pair of brackets that follows a variable's name in a line.
pub fn subscripts<'a>(text: &'a str, variable: &'a str) -> impl Iterator<Item = &'a str> {
    let behind = text.match_indices(variable).map(move |(at, _)| &text[at + variable.len()..]);
    behind.filter_map(|rest| {
        let mut open = 0i32;
        let end = rest.char_indices().find(|&(_, letter)| {
            open += i32::from(letter == '[') - i32::from(letter == ']');
            open == 0
        });
        end.filter(|&(at, _)| at > 0).map(|(at, _)| &rest[..at])
    })
}

/// Returns the names that precede brackets.
pub fn subscripted_names(text: &str) -> impl Iterator<Item = &str> {
    let before = text.match_indices('[').map(move |(at, _)| &text[..at]);
    before.map(|before| &before[before.trim_end_matches(is_word).len()..]).filter(|name| !name.is_empty())
}

/// Returns whether the line declares a variable: a type precedes its name.
pub fn is_declared(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        before.len() < at && !word.is_empty() && !["return", "else", "case", "do"].contains(&word)
    })
}

/// Returns whether the line contains the word `name`, followed by `what`.
pub fn follows(text: &str, name: &str, what: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_word) && text[at + name.len()..].trim_start().starts_with(what))
}

/// Returns whether a line assigns to an element or through a pointer, and not to a member of the element.
pub fn assigns_whole_element(text: &str, name: Option<&str>) -> bool {
    let code = text.split("//").next().unwrap_or_default();
    let Some((target, _)) = code.split_once('=').filter(|(_, value)| !value.starts_with('=')) else { return false };
    let target = target.trim_end();
    let last = name.map(|name| name.rsplit(['.', '>']).next().unwrap_or(name)).unwrap_or_default();
    target.ends_with(']') && subscripts(target, last).count() == 1
        || target.trim_start().starts_with('*') && !target.contains("->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_brackets_are_subscripted() {
        let names = |text| subscripted_names(text).collect::<Vec<_>>();
        assert_eq!(names("r[k * n] = best.item[k] + (x)[0];"), ["r", "item"]);
        assert_eq!(names("größe[1] + f(x)[2]; [k]"), ["größe"]);
    }

    #[test]
    fn subscripts_are_those_of_the_variable() {
        let all = |text, variable| subscripts(text, variable).collect::<Vec<_>>();
        assert_eq!(all("list[place] = values[i] + values[next[i] + 1];", "values"), ["[i", "[next[i] + 1"]);
        assert_eq!(all("*values = list[i]; values[", "values"), <[&str; 0]>::default());
    }

    #[test]
    fn whole_elements_are_no_members() {
        assert!(assigns_whole_element("frame[i] = make_float4(f(p.x), f(p.y), f(p.z), p.w);", Some("frame")));
        assert!(assigns_whole_element("  *to = value;", Some("to")));
        assert!(!assigns_whole_element("frame[i].x = p.x;", Some("frame")));
        assert!(!assigns_whole_element("if (frame[i].x == 1) x = 2;", Some("frame")));
    }

    #[test]
    fn names_are_whole_words() {
        assert!(follows("int bins [8];", "bins", "[") && follows("x = a.bins[i]", "bins", "["));
        assert!(!follows("pre_range[i] = ge.x;", "ge", "[") && follows("pre_range[i] = ge.x;", "ge", "."));
        assert!(follows("u = a->x;", "a", "->") && has_word("a + b", "b") && !has_word("ab + c", "b"));
    }
}
