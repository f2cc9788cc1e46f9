//! A source and its includes from the same folder, and the parts of a text that are code.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The maximum number of files that are read for one source.
const MOST_FILES: usize = 1000;

/// Returns a source, the files that are included before it, and the files that these include, directly or indirectly,
/// by `#include "…"` from their own folders or else from `folders`, with their texts. For a file that cannot be read,
/// clang prints an error, or it is not text.
pub fn files(roots: &[PathBuf], folders: &[PathBuf]) -> Vec<(PathBuf, String)> {
    follow(roots, folders, false)
}

/// Returns these files and the files that they include by `#include <…>` from `folders`, including the headers of
/// libraries that a project contains.
pub fn all_files(roots: &[PathBuf], folders: &[PathBuf]) -> Vec<(PathBuf, String)> {
    follow(roots, folders, true)
}

/// Returns the folders that clang's and gcc's variables name for every C++ source.
pub fn folders_of_environment() -> Vec<PathBuf> {
    let variables = ["CPATH", "CPLUS_INCLUDE_PATH"].into_iter().filter_map(std::env::var_os);
    // An empty entry is the working folder.
    let folder = |path: PathBuf| if path.as_os_str().is_empty() { ".".into() } else { path };
    variables.flat_map(|value| std::env::split_paths(&value).map(folder).collect::<Vec<_>>()).collect()
}

/// Returns a file that is included by this name: in the folder of the including file, or in one of the folders.
pub fn find(name: &Path, beside: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    let mut places = std::iter::once(beside).chain(folders.iter().map(PathBuf::as_path));
    places.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
}

fn follow(roots: &[PathBuf], folders: &[PathBuf], libraries: bool) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut left: Vec<_> = roots.iter().map(|root| std::path::absolute(root).unwrap_or_else(|_| root.into())).collect();
    while let Some(path) = left.pop() {
        // If the file is a pipe and is read here, clang cannot read it any more.
        if seen.len() == MOST_FILES || !path.is_file() || !seen.insert(path.clone()) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let beside = path.parent().unwrap_or(Path::new("/"));
        let named = included(&text).filter(|(_, quoted)| *quoted || libraries);
        left.extend(named.filter_map(|(name, quoted)| match quoted {
            true => find(Path::new(name), beside, folders),
            false => folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()),
        }));
        found.push((path, text));
    }
    found
}

/// Returns the names in `#include "…"` and `#include <…>`, and whether they are in quotation marks.
pub fn included(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        match rest.strip_prefix('"') {
            Some(rest) => rest.split('"').next().map(|name| (name, true)),
            None => rest.strip_prefix('<')?.split('>').next().map(|name| (name, false)),
        }
    })
}

/// Returns whether a text declares texture references: it contains `texture<…>` in code, and no template of that name.
pub fn has_texture_references(text: &str) -> bool {
    if !text.contains("texture") {
        return false;
    }
    let bytes = text.as_bytes();
    let code = code(bytes);
    let mut uses = false;
    for (at, _) in text.match_indices("texture").filter(|(at, _)| code[*at]) {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b':';
        let before = bytes[..at].trim_ascii_end();
        let after = bytes[at + "texture".len()..].trim_ascii_start();
        if bytes[..at].last().is_some_and(is_name) {
            continue;
        }
        if before.ends_with(b"struct") || before.ends_with(b"class") {
            return false;
        }
        uses |= after.starts_with(b"<") && !after.starts_with(b"<<");
    }
    uses
}

/// Returns for each byte whether it is code, that is, not in a comment or in quotation marks.
pub fn code(bytes: &[u8]) -> Vec<bool> {
    let mut code = vec![true; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let find = |end: &[u8]| rest[2..].windows(end.len()).position(|part| part == end).map(|place| place + 2);
        let length = if rest.starts_with(b"//") {
            find(b"\n").unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            find(b"*/").map_or(rest.len(), |place| place + 2)
        } else if rest[0] == b'"' || (rest[0] == b'\'' && !digit_separator(bytes, at)) {
            let mut escaped = false;
            let end = rest[1..].iter().position(|&byte| {
                let ends = !escaped && (byte == rest[0] || byte == b'\n');
                escaped = !escaped && byte == b'\\';
                ends
            });
            end.map_or(rest.len(), |place| place + 2)
        } else {
            at += 1;
            continue;
        };
        code[at..at + length].fill(false);
        at += length;
    }
    code
}

/// Returns whether the sign separates digits, as in `1'000`.
fn digit_separator(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1].is_ascii_hexdigit() && bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::has_texture_references;

    #[test]
    fn texture_references_are_found_in_code() {
        for text in
            ["texture<float, 2> t;", "static texture <uchar4, 1, cudaReadModeElementType> t;", "x;texture<int>t;"]
        {
            assert!(has_texture_references(text), "{text}");
        }
        for text in [
            "// texture<float> t;",
            "my_texture<float> t; ns::texture<int> u;",
            "cudaTextureObject_t texture; f(texture < 3);".replace("texture < 3", "texture << 3").as_str(),
            "template <class T> struct texture { }; texture<int> t;",
            "puts(\"texture<float>\");",
        ] {
            assert!(!has_texture_references(text), "{text}");
        }
    }
}
