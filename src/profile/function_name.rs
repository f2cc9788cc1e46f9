//! Shortens names of functions.

/// Returns a function's name without its parameters but with template arguments. The names of templates start with
/// their result type, which is removed (`void` for a kernel).
pub fn plain_name(function: &str) -> &str {
    let function = function.strip_prefix("void ").unwrap_or(function);
    let mut depth = 0i32;
    for (index, character) in function.char_indices() {
        match character {
            '<' | '{' => depth += 1,
            '>' | '}' => depth -= 1,
            // `operator()` and `(anonymous namespace)` do not start a parameter list.
            '(' if depth <= 0
                && index > 0
                && !function[..index].ends_with("operator")
                && !function[index..].starts_with("(anonymous") =>
            {
                return function[..index].trim_end();
            }
            _ => {}
        }
    }
    function
}

/// Returns the class of a constructor with template arguments: `State` for `State::State(int)`.
pub fn constructed_class(function: &str) -> Option<&str> {
    let (class, constructor) = plain_name(function).rsplit_once("::")?;
    let of_template = class.split('<').next().unwrap_or(class);
    (of_template.rsplit("::").next()? == constructor).then_some(class)
}

/// Returns the class of a copy constructor: `State` for `State::State(State const&)`.
pub fn copied_class(function: &str) -> Option<&str> {
    let class = constructed_class(function)?;
    let taken = function.strip_prefix(plain_name(function))?.strip_prefix('(')?.strip_suffix(" const&)")?;
    (taken == class).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::{constructed_class, copied_class};

    #[test]
    fn copies_are_made_by_constructors_that_take_their_own_class() {
        assert_eq!(copied_class("State::State(State const&)"), Some("State"));
        assert_eq!(copied_class("a::Buffer<b::T>::Buffer(a::Buffer<b::T> const&)"), Some("a::Buffer<b::T>"));
        let others = [
            "State::State(int)",
            "State::State(State&&)",
            "State::copy(State const&)",
            "Other::Other(State const&)",
            "copy(State const&)",
            "State::State(State const&, int)",
        ];
        assert!(others.iter().all(|name| copied_class(name).is_none()));
        let classes: Vec<Option<&str>> = others.iter().map(|name| constructed_class(name)).collect();
        assert_eq!(classes, [Some("State"), Some("State"), None, Some("Other"), None, Some("State")]);
    }
}
