//! Formats files, lines and call paths.

use super::names;
use warpline_profile::Profile;
use warpline_profile::model::{Frame, Launch, is_system};

/// Returns the file's name without folders.
pub(crate) fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Returns `file:line`, or `?` if unknown.
pub(crate) fn at(file: &str, line: u32) -> String {
    match (file.is_empty(), line) {
        (true, _) => "?".to_owned(),
        (false, 0) => short(file).to_owned(),
        (false, line) => format!("{}:{line}", short(file)),
    }
}

/// Returns `function (file:line)`. A position outside of functions, such as a variable's declaration, has no function.
pub(crate) fn frame(frame: &Frame) -> String {
    let function = names::short(names::plain_name(&frame.function));
    match (function.is_empty(), frame.file.is_empty()) {
        (true, _) => at(&frame.file, frame.line),
        (false, true) => function,
        (false, false) => format!("{function} ({})", at(&frame.file, frame.line)),
    }
}

/// Returns a host path, outermost frame first, without frames inside the user's last frame.
pub(crate) fn host_path(path: &[Frame]) -> Vec<String> {
    let end = path
        .iter()
        .rposition(|frame| !frame.file.is_empty() && !is_system(&frame.file))
        .map_or(path.len(), |last| last + 1);
    path[..end].iter().map(frame).collect()
}

/// Returns `name<<<grid, block>>>`.
pub(crate) fn launch(name: &str, launch: &Launch) -> String {
    format!("{}<<<{}, {}>>>", names::short(names::plain_name(name)), sizes(launch.grid), sizes(launch.block))
}

/// Returns `64`, `(8,8)` or `(4,4,4)`.
pub(crate) fn sizes(sizes: [u32; 3]) -> String {
    match sizes {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("({x},{y})"),
        [x, y, z] => format!("({x},{y},{z})"),
    }
}

/// Returns the text of a source line, if the profile has it.
pub(crate) fn source<'a>(profile: &'a Profile, file: &str, line: u32) -> Option<&'a str> {
    profile.sources.get(file)?.get(&line).map(String::as_str)
}

/// Joins parts with ` > `, and breaks lines at `width` columns. Every line starts with `indent`.
pub(crate) fn wrapped(parts: &[String], indent: &str, width: usize) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (number, part) in parts.iter().enumerate() {
        let length = part.chars().count() + 3;
        if number == 0 {
            text.push_str(part);
            column = indent.len() + length;
        } else if column + length > width {
            text.push_str(" >\n");
            text.push_str(indent);
            text.push_str(part);
            column = indent.len() + length;
        } else {
            text.push_str(" > ");
            text.push_str(part);
            column += length;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_without_a_function_are_reported_by_line() {
        let place = |function: &str, file: &str, line| {
            frame(&Frame { function: function.to_owned(), file: file.to_owned(), line, column: 0 })
        };
        assert_eq!(place("main", "/src/a.cu", 3), "main (a.cu:3)");
        assert_eq!(place("", "/src/a.cu", 3), "a.cu:3");
        assert_eq!(place("start", "", 0), "start");
        assert_eq!(place("", "", 0), "?");
    }
}
