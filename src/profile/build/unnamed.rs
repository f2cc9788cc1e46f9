//! Handles allocations without a name: Warpline's compiler did not compile the code that requests them.

use std::collections::BTreeMap;

use crate::model::{Allocation, Frame, Profile};

/// Maximum number of source positions in one note.
const MOST_PLACES: usize = 3;

/// Returns a note on how to get names for allocations in code from other compilers. `makers` returns the main source
/// files of the program, each with a flag for clang (and therefore probably Warpline's compiler). It is called only if
/// needed.
pub(super) fn notes(profile: &Profile, makers: impl FnOnce() -> BTreeMap<String, bool>) -> Option<String> {
    // Only allocations by the program's own code are considered. Variables and the device's heap have other names.
    let unnamed = |row: &&Allocation| row.name.is_none() && row.kind.starts_with("cuda") && !row.path.is_empty();
    let rows: Vec<&Allocation> = profile.allocations.iter().filter(unnamed).collect();
    if rows.is_empty() {
        return None;
    }
    let makers = makers();
    let mut places: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        if let Some(place) = foreign(&row.path, &makers) {
            *places.entry(place).or_default() += row.count;
        }
    }
    let count: u64 = places.values().sum();
    let first = places.keys().next()?;
    let mut named: Vec<&str> = places.keys().take(MOST_PLACES).map(String::as_str).collect();
    let more = format!("{} more", places.len().saturating_sub(MOST_PLACES));
    if places.len() > MOST_PLACES {
        named.push(&more);
    }
    let (allocations, have) = if count == 1 { ("allocation", "has") } else { ("allocations", "have") };
    let what = match (places.len(), first.contains('(')) {
        (1, false) => "it",
        (1, true) => "its file",
        _ => "them",
    };
    Some(format!(
        "{count} {allocations} {have} no name: names are read off the source by warpline-cc, which did not compile {}; compile {what} with \
         warpline-cc (it takes C++ as g++ does), or call warpline_name of warpline.h",
        named.join(", ")
    ))
}

/// Returns the innermost position of a path that another compiler compiled: a source file, or a function without debug
/// information. Returns `None` if Warpline's compiler compiled the code and found no name.
fn foreign(path: &[Frame], makers: &BTreeMap<String, bool>) -> Option<String> {
    for frame in path.iter().rev() {
        if frame.file.is_empty() {
            // Warpline's compiler always generates debug information.
            return (!frame.function.is_empty()).then(|| frame.function.clone());
        }
        match makers.get(&frame.file) {
            Some(true) => return None,
            Some(false) => return Some(frame.file.clone()),
            // This is a header; the including file is further out in the path.
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str) -> Frame {
        Frame { function: function.into(), file: file.into(), line: 1, column: 1 }
    }

    #[test]
    fn the_innermost_code_decides() {
        let makers = BTreeMap::from([("/a/main.cu".to_owned(), true), ("/a/host.cpp".to_owned(), false)]);
        let (main, host) = (frame("main", "/a/main.cu"), frame("make", "/a/host.cpp"));
        let (header, bare) = (frame("cudaMalloc<int>", "/cuda/cuda_runtime.h"), frame("make(int)", ""));
        let of = |path: &[&Frame]| foreign(&path.iter().map(|&frame| frame.clone()).collect::<Vec<_>>(), &makers);
        assert_eq!(of(&[&main, &host]).as_deref(), Some("/a/host.cpp"));
        assert_eq!(of(&[&main, &host, &header]).as_deref(), Some("/a/host.cpp"));
        assert_eq!(of(&[&main, &bare]).as_deref(), Some("make(int)"));
        assert_eq!(of(&[&host, &main, &header]), None, "ours, and without a name all the same");
        assert_eq!(of(&[]), None);
    }
}
