//! Files, lines and call paths for people.

use crate::profile::Profile;
use crate::profile::model::{Frame, Kernel, Launch};

/// Whether a file is not the user's own.
pub(super) fn is_system(file: &str) -> bool {
    const PARTS: [&str; 5] = ["/include/crt/", "/nvidia/cu", "/lib/clang/", "/cuda_runtime", "/rustc/"];
    file.starts_with("/usr/include")
        || file.starts_with("/usr/lib")
        || file.starts_with("/usr/local/cuda")
        || PARTS.iter().any(|part| file.contains(part))
}

/// The file's name without its folders.
pub(super) fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// `file:line`, `?` where nothing is known.
pub(super) fn at(file: &str, line: u32) -> String {
    match (file.is_empty(), line) {
        (true, _) => "?".to_owned(),
        (false, 0) => short(file).to_owned(),
        (false, line) => format!("{}:{line}", short(file)),
    }
}

/// A kernel's name, told apart from others of that name: by its parameters, or else by its place.
pub fn label(profile: &Profile, kernel: &Kernel) -> String {
    let plain = plain_name(&kernel.name);
    let others = || profile.kernels.iter().filter(|other| other.id != kernel.id && plain_name(&other.name) == plain);
    if others().next().is_none() {
        plain.to_owned()
    } else if others().all(|other| other.name != kernel.name) {
        kernel.name.clone()
    } else {
        format!("{} ({})", plain, at(&kernel.file, kernel.line))
    }
}

/// A function's name without its parameters, template arguments kept. Names of templates have their result before them:
/// a kernel's, `void`, goes.
pub(in crate::report) fn plain_name(function: &str) -> &str {
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

/// `function (file:line)`; a place outside of functions, where variables are declared, has no function.
pub(super) fn frame(frame: &Frame) -> String {
    let function = plain_name(&frame.function);
    match (function.is_empty(), frame.file.is_empty()) {
        (true, _) => at(&frame.file, frame.line),
        (false, true) => function.to_owned(),
        (false, false) => format!("{function} ({})", at(&frame.file, frame.line)),
    }
}

/// The innermost frame of the user's own code.
pub(super) fn user_frame(path: &[Frame]) -> Option<&Frame> {
    path.iter().rev().find(|frame| !frame.file.is_empty() && !is_system(&frame.file)).or(path.last())
}

/// A host path, outermost first, without what lies inside the user's last frame.
pub(super) fn host_path(path: &[Frame]) -> Vec<String> {
    let end = path
        .iter()
        .rposition(|frame| !frame.file.is_empty() && !is_system(&frame.file))
        .map_or(path.len(), |last| last + 1);
    path[..end].iter().map(frame).collect()
}

/// `name<<<grid, block>>>`.
pub(super) fn launch(name: &str, launch: &Launch) -> String {
    format!("{}<<<{}, {}>>>", plain_name(name), sizes(launch.grid), sizes(launch.block))
}

fn sizes(sizes: [u32; 3]) -> String {
    match sizes {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("({x},{y})"),
        [x, y, z] => format!("({x},{y},{z})"),
    }
}

/// The text of a source line, if the profile has it.
pub(super) fn source<'a>(profile: &'a Profile, file: &str, line: u32) -> Option<&'a str> {
    profile.sources.get(file)?.get(&line).map(String::as_str)
}

/// Joins parts with ` > `, breaking lines at `width` columns; every line begins with `indent`.
pub(super) fn wrapped(parts: &[String], indent: &str, width: usize) -> String {
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
    fn names_lose_their_parameters_only() {
        assert_eq!(plain_name("bicg(float*, int)"), "bicg");
        assert_eq!(plain_name("void scan<int, (Op)1>(int*)"), "scan<int, (Op)1>");
        assert_eq!(plain_name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
        assert_eq!(plain_name("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}::operator()");
    }

    #[test]
    fn places_without_a_function_are_told_by_line() {
        let place = |function: &str, file: &str, line| {
            frame(&Frame { function: function.to_owned(), file: file.to_owned(), line, column: 0 })
        };
        assert_eq!(place("main", "/src/a.cu", 3), "main (a.cu:3)");
        assert_eq!(place("", "/src/a.cu", 3), "a.cu:3");
        assert_eq!(place("start", "", 0), "start");
        assert_eq!(place("", "", 0), "?");
    }
}
