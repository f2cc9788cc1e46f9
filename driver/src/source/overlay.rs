//! Rewritten texts that clang reads instead of files whose code nvcc accepts and clang does not.

use super::{asm_strings, compiler_macro, launches, percent_signs, pragmas, strictness};
use crate::error::DriverError;
use crate::options::Dialect;
use std::path::{Path, PathBuf};

/// Returns the files that clang must receive with another text, with their new texts. `files` are a source and the
/// files that it includes ([`files`](super::unit::files)).
pub fn respelled_files(files: &[(PathBuf, String)], dialect: Dialect) -> Vec<(PathBuf, String)> {
    files.iter().filter_map(|(path, text)| Some((path.clone(), respelled(text, dialect)?))).collect()
}

/// Returns the changed texts of headers in `libraries`, which are libraries that a project contains: their pragmas, and
/// code that clang refuses. (Their tests of the compiler are not changed.)
pub fn respelled_libraries(
    libraries: &[(PathBuf, String)],
    own: &[(PathBuf, String)],
    dialect: Dialect,
) -> Vec<(PathBuf, String)> {
    let others = libraries.iter().filter(|(path, _)| !own.iter().any(|(other, _)| other == path));
    let new = |text: &str| {
        let nvccs = (dialect == Dialect::Nvcc).then(|| nvccs(text)).flatten();
        pragmas::respelled(nvccs.as_deref().unwrap_or(text)).or(nvccs)
    };
    others.filter_map(|(path, text)| Some((path.clone(), new(text)?))).collect()
}

/// Returns a file for clang's `-ivfsoverlay` that replaces files by other texts, or `None` if there are none.
/// Intermediate files go to `folder`.
pub fn overlay(source: &Path, texts: &[(PathBuf, String)], folder: &Path) -> Result<Option<PathBuf>, DriverError> {
    let mut entries = Vec::new();
    for (path, text) in texts {
        let file = folder.join(format!("respelled-{}", entries.len()));
        std::fs::write(&file, text).map_err(DriverError::writing(&file))?;
        let [name, contents] = [path, &file].map(|path| quoted(&path.to_string_lossy()));
        entries.push(format!("{{\"type\": \"file\", \"name\": {name}, \"external-contents\": {contents}}}"));
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let stem = source.file_stem().map_or("source".into(), |stem| stem.to_string_lossy());
    let file = folder.join(format!("{stem}.respelled.yaml"));
    let roots = entries.join(", ");
    let text = format!("{{\"version\": 0, \"use-external-names\": false, \"roots\": [{roots}]}}\n");
    std::fs::write(&file, text).map_err(DriverError::writing(&file))?;
    Ok(Some(file))
}

/// Returns a text as a JSON string, which YAML reads too.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns a text in the form that clang accepts, or `None` if no change is necessary.
fn respelled(text: &str, dialect: Dialect) -> Option<String> {
    let answered = (dialect == Dialect::Nvcc).then(|| compiler_macro::answered(text)).flatten();
    let nvccs = match dialect {
        Dialect::Nvcc => nvccs(answered.as_deref().unwrap_or(text)).or(answered),
        Dialect::Clang => answered,
    };
    let launches = launches::respelled(nvccs.as_deref().unwrap_or(text)).or(nvccs);
    let percent_signs = percent_signs::doubled(launches.as_deref().unwrap_or(text)).or(launches);
    pragmas::respelled(percent_signs.as_deref().unwrap_or(text)).or(percent_signs)
}

/// Rewrites code that nvcc accepts and clang refuses.
fn nvccs(text: &str) -> Option<String> {
    let lenient = strictness::respelled(text);
    asm_strings::inserted(lenient.as_deref().unwrap_or(text)).or(lenient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::unit::files;

    #[test]
    fn included_files_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.cu"), "#include \"b.h\"\n#  include \"missing.h\"\nint main() {}").unwrap();
        std::fs::write(path("b.h"), "#include \"a.cu\"\nvoid f() { k << <1, 2 >> > (); }").unwrap();
        let respelled = |name: &str| respelled_files(&files(&[path(name)], &[]), Dialect::Clang);
        let file = overlay(&path("a.cu"), &respelled("a.cu"), folder.path()).unwrap().expect("b.h is respelled");
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("b.h\"") && !text.contains("a.cu"), "{text}");
        std::fs::write(path("b.h"), "void f() { k<<<1, 2>>>(); }").unwrap();
        assert_eq!(overlay(&path("a.cu"), &respelled("a.cu"), folder.path()).unwrap(), None);
    }

    #[test]
    fn sources_take_us_for_nvcc_in_its_dialect_alone() {
        let text = "#ifdef __NVCC__\n#endif\nk << <1, 2>> >(x);";
        let new = respelled(text, Dialect::Nvcc).unwrap();
        assert_eq!(new, "#ifdef __CUDA__\n#endif\nk <<< 1, 2>>> (x);");
        assert!(respelled(text, Dialect::Clang).unwrap().contains("__NVCC__"));
        assert!(respelled("#ifdef __NVCC__", Dialect::Nvcc).is_some());
    }

    #[test]
    fn both_respellings_are_applied() {
        let text = "asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x)); k << <1, 2>> >(x);";
        assert_eq!(
            respelled(text, Dialect::Clang).unwrap(),
            "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); k <<< 1, 2>>> (x);"
        );
        assert_eq!(respelled("k<<<1, 2>>>(x);", Dialect::Nvcc), None);
    }
}
