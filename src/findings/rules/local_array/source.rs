//! What the source says of a variable in local memory: how its lines declare, index and fill it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::facts::access::Access;
use super::super::super::facts::index;
use super::super::super::facts::{Facts, has_word};

/// Whether the access's line indexes the array by something that has a name, and does not declare it.
pub(super) fn has_variable_index(facts: &Facts<'_>, name: &str, access: &Access<'_>) -> bool {
    let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
    let has_name = |subscript: &str| subscript.contains(char::is_alphabetic);
    text.is_some_and(|text| !is_declared(text, name) && index::subscripts(text, name).any(has_name))
}

/// Whether the line declares the array: a type stands before its name.
pub(super) fn is_declared(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        before.len() < at && !word.is_empty() && !["return", "else", "case", "do"].contains(&word)
    })
}

/// Whether a line of the kernel hands the array on as a whole, so that others may fill it under another name.
fn is_handed_on(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let Some(first) = accesses.first() else { return false };
    let lines = facts.profile.sources.get(&first.kernel.file);
    let lines = lines.into_iter().flat_map(|lines| lines.range(first.kernel.line..));
    let mut lines = lines.take_while(|(_, text)| !text.starts_with('}'));
    lines.any(|(_, text)| {
        let code = text.split("//").next().unwrap_or_default();
        is_named_whole(code, name)
    })
}

/// Whether a line has the name of the array without brackets behind it, and not as that of a member (`threadIdx.x`).
fn is_named_whole(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&code[..at], &code[at + name.len()..]);
        !before.ends_with(|c: char| is_part(c) || c == '.')
            && !before.ends_with("->")
            && !behind.starts_with(is_part)
            && !behind.trim_start().starts_with('[')
    })
}

/// What the compiler itself keeps in memory to launch a kernel from this one.
pub(super) fn is_launch(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
    text.is_some_and(|text| text.contains("<<<"))
}

/// Whether a line of the source indexes or declares it with brackets; a single value has none, and a structure has members.
pub(super) fn is_array(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let text_of = |access: &&Access<'_>| facts.profile.sources.get(access.file)?.get(&access.line);
    let follows = |text: &String, what: &str| follows(text, name, what);
    let mut own = accesses.iter().filter_map(text_of);
    if own.clone().any(|text| follows(text, "[")) {
        return true;
    }
    if own.any(|text| follows(text, "->") || follows(text, ".")) {
        return false;
    }
    let files: BTreeSet<&str> = accesses.iter().map(|access| access.file).collect();
    let mut sources = files.into_iter().filter_map(|file| facts.profile.sources.get(file)).peekable();
    // Without its source it is what the rule is about.
    sources.peek().is_none() || sources.any(|lines| lines.values().any(|text| follows(text, "[")))
}

/// Whether the word `name` stands in the line with `what` behind it.
fn follows(text: &str, name: &str, what: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after.starts_with(what)
    })
}

/// Whether no line that reaches it has its name: functions do, which have a pointer to it.
pub(super) fn is_reached_elsewhere(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let text_of = |access: &&Access<'_>| facts.profile.sources.get(access.file)?.get(&access.line);
    let mut lines = accesses.iter().filter_map(text_of).peekable();
    lines.peek().is_some() && !lines.any(|text| has_word(text, name))
}

/// Bytes of the array, where a line that is known declares it with numbers.
pub(super) fn declared_bytes(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> Option<u64> {
    // Compilers fill and copy an array in pieces of other sizes: most requests are of one element.
    let mut requests: BTreeMap<u32, u64> = BTreeMap::new();
    for access in accesses {
        let of_size = requests.entry(access.bytes).or_default();
        *of_size = of_size.saturating_add(access.sums.requests);
    }
    let element = requests.into_iter().max_by_key(|&(_, requests)| requests)?.0;
    let files: BTreeSet<&str> = accesses.iter().map(|access| access.file).collect();
    let mut lines = files.into_iter().filter_map(|file| facts.profile.sources.get(file)).flat_map(BTreeMap::values);
    let elements = lines.find_map(|text| is_declared(text, name).then(|| declared_elements(text, name)).flatten())?;
    Some(elements.saturating_mul(element.into()))
}

/// Elements of `name[3][1000]`.
fn declared_elements(text: &str, name: &str) -> Option<u64> {
    let is_word = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let mut behind = text
        .match_indices(name)
        .filter(|&(at, _)| is_word(&text[..at]))
        .map(|(at, _)| text[at + name.len()..].trim_start());
    let mut rest = behind.find(|rest| rest.starts_with('['))?;
    let mut elements: Option<u64> = None;
    while let Some((size, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        elements = Some(elements.unwrap_or(1).saturating_mul(size.trim().parse().ok()?));
        rest = behind.trim_start();
    }
    elements
}

/// Whether all that is stored in it are numbers of the source: a table, the same for all threads.
pub(super) fn is_table(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let mut stores = accesses.iter().filter(|access| access.op == "store").peekable();
    stores.peek().is_some()
        && !is_handed_on(facts, name, accesses)
        && stores.all(|access| {
            let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
            text.and_then(|text| text.split("//").next()?.split_once('='))
                .is_some_and(|(target, value)| follows(target, name, "[") && is_constant(value))
        })
}

/// Whether all that is stored in it stands in braces behind its declaration, on lines that the profile does not have.
pub(super) fn may_be_table(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let mut stores = accesses.iter().filter(|access| access.op == "store").peekable();
    stores.peek().is_some()
        && !is_handed_on(facts, name, accesses)
        && stores.all(|access| {
            let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
            let code = text.and_then(|text| text.split("//").next()).unwrap_or_default();
            is_declared(code, name) && code.trim_end().ends_with('{')
        })
}

/// Whether a value, or all that braces hold, is text or a number of the source.
fn is_constant(value: &str) -> bool {
    let value = value.trim_start();
    let mut words =
        value.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).filter(|word| !word.is_empty());
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    value.starts_with('"')
        || value.contains(|c: char| c.is_ascii_digit()) && !value.contains(['[', '(']) && words.all(is_number)
}

/// The arrays within the structure that a line indexes by something that has a name.
pub(super) fn running_members<'a>(facts: &Facts<'_>, accesses: &[&Access<'a>]) -> Vec<&'a str> {
    let found = accesses.iter().filter_map(|access| {
        let member = access.operand?.member.as_deref()?.strip_suffix("[]")?;
        let name = member.rsplit(['.', ']']).next().filter(|name| !name.is_empty())?;
        let text = facts.profile.sources.get(access.file)?.get(&access.line)?;
        let has_name = |subscript: &str| subscript.contains(char::is_alphabetic);
        index::subscripts(text, name).any(has_name).then_some(name)
    });
    found.collect::<BTreeSet<&str>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{declared_elements, follows, is_constant, is_named_whole};

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
