//! Compiled fixtures by content, below the target folder: a program that several tests use is compiled once, and one that
//! did not change since the last run is not compiled again.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// File name endings of what a fixture may include.
const HEADERS: [&str; 5] = ["h", "cuh", "hpp", "inc", "inl"];

/// Where the executable that `compiler` makes of `sources` with `flags` is kept. The name covers the compiler, the flags,
/// the sources, and every header below `tests/` and `examples/`. A program of which a test writes parts is not kept.
pub fn kept(compiler: &Path, sources: &[PathBuf], flags: &[String], root: &Path) -> Option<PathBuf> {
    let written = env!("CARGO_TARGET_TMPDIR");
    let is_written = |text: &str| text.contains(written);
    if sources.iter().any(|source| is_written(&source.to_string_lossy())) || flags.iter().any(|flag| is_written(flag)) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    let built = fs::metadata(compiler).ok()?;
    (compiler, built.len(), built.modified().ok()?, flags).hash(&mut hasher);
    for source in sources {
        (source, fs::read(source).ok()?).hash(&mut hasher);
    }
    let mut headers = Vec::new();
    for folder in ["tests", "examples"] {
        find_headers(&root.join(folder), &mut headers).ok()?;
    }
    headers.sort();
    for header in headers {
        (&header, fs::read(&header).ok()?).hash(&mut hasher);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join(format!("{:016x}", hasher.finish())))
}

fn find_headers(folder: &Path, headers: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match entry.file_type()? {
            kind if kind.is_dir() => find_headers(&path, headers)?,
            kind if kind.is_file() && HEADERS.contains(&ending) => headers.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// Keeps an executable under its name; whole or not at all, because tests run in parallel, as processes and as threads of
/// one process. Every call therefore writes a file of its own and renames it.
pub fn keep(executable: &Path, kept: &Path) {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let part = kept.with_extension(format!("{}-{}", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed)));
    if fs::copy(executable, &part).is_ok() {
        _ = fs::rename(&part, kept);
    }
}
