//! The pages that lead through the code name files that are there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below the folders that hold code and documentation, with their paths from the root.
fn files() -> BTreeSet<String> {
    fn walk(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                walk(&entry, found);
            } else {
                found.insert(entry.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned());
            }
        }
    }
    let mut found = BTreeSet::new();
    for folder in ["benches", "docs", "driver", "examples", "format", "models", "pass", "runtime", "src", "tests"] {
        walk(&root().join(folder), &mut found);
    }
    found
}

fn pages() -> Vec<PathBuf> {
    let below = files().into_iter().filter(|file| file.starts_with("docs/") && file.ends_with(".md"));
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    below.chain(top).map(|file| root().join(file)).collect()
}

#[test]
fn files_that_are_named_are_there() {
    let files = files();
    let name = Regex::new(r"`([\w./-]+\.(?:rs|toml|cu|h|json))`").expect("a pattern");
    let mut missing = Vec::new();
    for page in pages().into_iter().filter(|page| !page.to_string_lossy().contains("benchmarks")) {
        let text = std::fs::read_to_string(&page).expect("a page");
        for found in name.captures_iter(&text) {
            let named = found[1].trim_start_matches("../");
            // Names that stand for a file of the reader's have no folder.
            let ours = named.contains('/') || page.ends_with("ARCHITECTURE.md");
            let suffix = format!("/{named}");
            if ours
                && !files.iter().any(|file| file == named || file.ends_with(&suffix))
                && !root().join(named).is_file()
            {
                missing.push(format!("{}: {}", page.display(), &found[1]));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("a pattern");
    let mut broken = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a folder");
        for found in link.captures_iter(&text).filter(|found| !found[1].contains("://")) {
            if !folder.join(&found[1]).exists() {
                broken.push(format!("{}: {}", page.display(), &found[1]));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
