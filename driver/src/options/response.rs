//! Options from other sources: `@file`, nvcc's `--options-file`, and the variables `NVCC_PREPEND_FLAGS` and
//! `NVCC_APPEND_FLAGS`.

use super::Dialect;
use std::path::PathBuf;

/// A file of options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResponseError {
    /// The file cannot be read.
    #[error("cannot read the options file '{}': {cause}", .path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The system's error message.
        cause: std::io::Error,
    },
    /// Files that include each other.
    #[error("options files are nested more than {LIMIT} deep at '{}': does a file name itself?", .0.display())]
    TooDeep(PathBuf),
    /// Files include each other too often.
    #[error("more than {MOST_FILES} options files are named, at last '{}': do they name each other?", .0.display())]
    TooMany(PathBuf),
}

const LIMIT: usize = 16;
/// The maximum number of files. Each file may name others twice, so their number can double with each level.
const MOST_FILES: usize = 1000;

/// Returns the complete command line: variables are added for nvcc, and files replace their names.
pub fn expand(arguments: &[String], dialect: Dialect) -> Result<Vec<String>, ResponseError> {
    let mut whole = Vec::new();
    let variable = |name| std::env::var(name).map(|text| split(&text)).unwrap_or_default();
    if dialect == Dialect::Nvcc {
        whole.extend(variable("NVCC_PREPEND_FLAGS"));
    }
    whole.extend(arguments.iter().cloned());
    if dialect == Dialect::Nvcc {
        whole.extend(variable("NVCC_APPEND_FLAGS"));
    }
    let mut result = Vec::new();
    expand_into(&whole, dialect, 0, &mut 0, &mut result)?;
    Ok(result)
}

fn expand_into(
    arguments: &[String],
    dialect: Dialect,
    depth: usize,
    files_read: &mut usize,
    result: &mut Vec<String>,
) -> Result<(), ResponseError> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if let Some(name) = argument.strip_prefix('@') {
            // As with clang and gcc, an argument that names no file is passed on unchanged.
            let path = PathBuf::from(name);
            if path.is_file() {
                read_into(path, dialect, depth, files_read, result)?;
                continue;
            }
        }
        let names = ["-optf", "--optf", "-options-file", "--options-file"];
        let joined = argument.split_once('=').filter(|(name, _)| names.contains(name)).map(|(_, files)| files);
        let files = match joined {
            Some(files) => Some(files.to_string()),
            None if names.contains(&argument.as_str()) => rest.next().cloned(),
            None => None,
        };
        match files.filter(|_| dialect == Dialect::Nvcc) {
            Some(files) => {
                for name in files.split(',') {
                    read_into(PathBuf::from(name), dialect, depth, files_read, result)?;
                }
            }
            None => result.push(argument.clone()),
        }
    }
    Ok(())
}

fn read_into(
    path: PathBuf,
    dialect: Dialect,
    depth: usize,
    files_read: &mut usize,
    result: &mut Vec<String>,
) -> Result<(), ResponseError> {
    if depth == LIMIT {
        return Err(ResponseError::TooDeep(path));
    }
    *files_read += 1;
    if *files_read > MOST_FILES {
        return Err(ResponseError::TooMany(path));
    }
    let text = std::fs::read(&path).map_err(|cause| ResponseError::Unreadable { path, cause })?;
    expand_into(&split(&String::from_utf8_lossy(&text)), dialect, depth + 1, files_read, result)
}

/// Splits text as a shell would, without expansion: blanks separate, quotes and backslashes protect.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('\''), letter) => word.get_or_insert_default().push(letter),
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Quotes a word for a POSIX shell, if necessary.
pub fn quote(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-+=./,:@%^#".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_protect() {
        assert_eq!(split(r#"-DA="b c" 'd e'\ f "" g\"h"#), ["-DA=b c", "d e f", "", "g\"h"]);
    }

    #[test]
    fn files_stand_for_their_options() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let inner = write("inner.rsp", "-DB -I\"with blank\"".into());
        let outer = write("outer.rsp", format!("-DA @{inner}\n-DC"));
        let arguments = [format!("@{outer}"), "x.cu".into()];
        assert_eq!(expand(&arguments, Dialect::Clang).unwrap(), ["-DA", "-DB", "-Iwith blank", "-DC", "x.cu"]);
        let arguments = ["--options-file".into(), inner.clone(), "x.cu".into()];
        assert_eq!(expand(&arguments, Dialect::Nvcc).unwrap(), ["-DB", "-Iwith blank", "x.cu"]);
        let own = folder.path().join("own.rsp").display().to_string();
        write("own.rsp", format!("@{own}"));
        assert!(matches!(expand(&[format!("@{own}")], Dialect::Clang), Err(ResponseError::TooDeep(_))));
        // Ten files, each of which names the next ten times.
        let many: Vec<String> =
            (0..10).map(|number| folder.path().join(format!("{number}.rsp")).display().to_string()).collect();
        for (number, next) in (0..9).zip(&many[1..]) {
            write(&format!("{number}.rsp"), format!("@{next} ").repeat(10));
        }
        write("9.rsp", "-DA".into());
        assert!(matches!(expand(&[format!("@{}", many[0])], Dialect::Clang), Err(ResponseError::TooMany(_))));
        assert_eq!(expand(&["@absent".into()], Dialect::Clang).unwrap(), ["@absent"]);
        let error = expand(&["--options-file=absent".into()], Dialect::Nvcc).unwrap_err().to_string();
        assert!(error.contains("'absent'"), "{error}");
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec(".{0,8}", 0..5)) {
            let line: Vec<String> = words.iter().map(|word| quote(word)).collect();
            prop_assert_eq!(split(&line.join(" ")), words);
        }
    }
}
