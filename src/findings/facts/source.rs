//! What lines of the source say of data.

use super::index::subscripts;

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
    use super::assigns_whole_element;

    #[test]
    fn whole_elements_are_no_members() {
        assert!(assigns_whole_element("frame[i] = make_float4(f(p.x), f(p.y), f(p.z), p.w);", Some("frame")));
        assert!(assigns_whole_element("  *to = value;", Some("to")));
        assert!(!assigns_whole_element("frame[i].x = p.x;", Some("frame")));
        assert!(!assigns_whole_element("if (frame[i].x == 1) x = 2;", Some("frame")));
    }
}
