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
