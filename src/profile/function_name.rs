//! Names of functions, shortened.

/// A function's name without its parameters, template arguments kept. Names of templates have their result before them:
/// a kernel's, `void`, goes.
pub(crate) fn plain_name(function: &str) -> &str {
    let function = function.strip_prefix("void ").unwrap_or(function);
    let mut depth = 0i32;
    for (index, character) in function.char_indices() {
        match character {
            '<' | '{' => depth += 1,
            '>' | '}' => depth -= 1,
            // `operator()` and `(anonymous namespace)` do not begin a parameter list.
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

/// The class that a copy constructor copies objects of: `State` of `State::State(State const&)`, template arguments kept.
pub(crate) fn copied_class(function: &str) -> Option<&str> {
    let name = plain_name(function);
    let (class, constructor) = name.rsplit_once("::")?;
    let of_template = class.split('<').next().unwrap_or(class);
    let own = of_template.rsplit("::").next()?;
    let taken = function.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(" const&)")?;
    (own == constructor && taken == class).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::copied_class;

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
    }
}
