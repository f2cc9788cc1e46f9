//! Reads an arbitrary file of options.

use warpline_driver::options::Dialect;
use warpline_driver::options::response::{expand, quote, split};

/// Splits the input, quotes its words, and replaces names of files by their content (one of the files is the input).
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let words = split(&text);
    let line: Vec<String> = words.iter().map(|word| quote(word)).collect();
    assert_eq!(split(&line.join(" ")), words);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a");
    // The file's own name is as likely as any other name.
    let named = text.replace("SELF", &file.display().to_string());
    std::fs::write(&file, named).expect("a file");
    for dialect in [Dialect::Nvcc, Dialect::Clang] {
        let arguments = [format!("@{}", file.display()), "x.cu".to_owned()];
        _ = expand(&arguments, dialect);
    }
}
