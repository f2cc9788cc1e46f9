//! Writes the headers that a program passes in memory to files that clang finds. Also checks whether the files that a
//! source included are unchanged.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};

/// The folders for headers within the build's folder. Programs pass replacements for headers of the standard library,
/// because NVRTC does not have them. The system's own headers are more suitable, so clang finds them before those in
/// the second folder.
pub const FOLDERS: [&str; 2] = ["include", "include-last"];

/// The headers of C; the headers of C++ have no dot in their names.
const STANDARD: [&str; 24] = [
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "time.h",
    "wchar.h",
    "wctype.h",
];

/// Returns the path of a header below the build's folder, or `None` for names that lead out of it.
pub fn place(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let standard = STANDARD.contains(&name) || !name.contains(['.', '/']);
    (inside && path.file_name().is_some()).then(|| Path::new(FOLDERS[usize::from(standard)]).join(path))
}

/// Returns the folder whose headers a source finds without an option. As in NVRTC, this is the folder of the file that
/// the program names as the source. Returns `None` if an option excludes it.
pub fn source_folder(name: &str, options: &[String]) -> Option<PathBuf> {
    if options.iter().any(|option| option.trim_start_matches('-') == "no-source-include") {
        return None;
    }
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    std::path::absolute(Path::new(".").join(folder)).ok().filter(|folder| folder.is_dir())
}

/// Returns the files outside `folder` that a source includes, each with its checksum. They are read from the rule that
/// clang wrote for make.
pub fn outside(rule: &str, folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut names: Vec<String> = vec![String::new()];
    let mut letters = rule.split_once(": ").map_or("", |(_, files)| files).chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'\n') => {}
            '\\' if matches!(letters.peek(), Some(' ' | '#')) => {
                names.iter_mut().last().into_iter().for_each(|name| name.extend(letters.next()))
            }
            '$' if letters.peek() == Some(&'$') => {}
            letter if letter.is_whitespace() => names.push(String::new()),
            letter => names.iter_mut().last().into_iter().for_each(|name| name.push(letter)),
        }
    }
    let files = names.into_iter().filter(|name| !name.is_empty()).map(PathBuf::from);
    files
        .filter(|path| !path.starts_with(folder))
        .map(|path| {
            let sum = checksum(&path);
            (path, sum)
        })
        .collect()
}

/// Formats the list as lines that [`unchanged`] reads.
pub fn listed(files: &[(PathBuf, u64)]) -> String {
    files.iter().map(|(path, sum)| format!("{sum:016x} {}\n", path.display())).collect()
}

/// Returns whether all files of a list are unchanged.
pub fn unchanged(list: &str) -> bool {
    list.lines().all(|line| {
        let parts = line.split_once(' ').and_then(|(sum, path)| Some((u64::from_str_radix(sum, 16).ok()?, path)));
        parts.is_some_and(|(sum, path)| checksum(Path::new(path)) == sum)
    })
}

/// Returns the checksum of a file's content; a missing file has a checksum that differs from all others.
fn checksum(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    fs::read(path).ok().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_stay_in_the_folder() {
        assert_eq!(place("a/b.h"), Some("include/a/b.h".into()));
        assert_eq!(place("cstdint"), Some("include-last/cstdint".into()));
        assert_eq!(place("stdint.h"), Some("include-last/stdint.h".into()));
        for name in ["../a.h", "/etc/passwd", "", ".", "a/../../b"] {
            assert_eq!(place(name), None, "{name}");
        }
    }

    #[test]
    fn headers_beside_the_source_are_found_unless_excluded() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(source_folder("kernel.cu", &[]), Some(here.clone()));
        assert_eq!(source_folder("src/kernel.cu", &["-DX".into()]), Some(here.join("src")));
        assert_eq!(source_folder("/no/such/folder/kernel.cu", &[]), None);
        assert_eq!(source_folder("kernel.cu", &["--no-source-include".into()]), None);
    }

    #[test]
    fn rules_of_make_are_read() {
        let rule = "it: /cache/one.cu \\\n  /in/a\\ b.h /in/$$c.h /cache/include/x.h\n";
        let found: Vec<_> = outside(rule, Path::new("/cache")).into_iter().map(|(path, _)| path).collect();
        assert_eq!(found, [PathBuf::from("/in/a b.h"), "/in/$c.h".into()]);
    }

    #[test]
    fn changes_are_noticed() {
        let file = std::env::temp_dir().join(format!("warpline-includes-{}", std::process::id()));
        fs::write(&file, "one").unwrap();
        let list = listed(&outside(&format!("it: {}", file.display()), Path::new("/cache")));
        assert!(unchanged(&list));
        fs::write(&file, "two").unwrap();
        assert!(!unchanged(&list) && !unchanged("garbage"));
        fs::remove_file(&file).unwrap();
        assert!(!unchanged(&list));
    }
}
