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

/// The text of a page without its blocks of code.
fn prose(page: &Path) -> String {
    let text = std::fs::read_to_string(page).expect("a page");
    text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// The anchors that GitHub and mdBook give to the headings of a page.
fn anchors(page: &Path) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(page).lines().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let name: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let repeated = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(repeated).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// The links of a page to files of the repository: the file's name, empty for the page itself, and the anchor.
fn links(page: &Path) -> Vec<(String, String)> {
    let link = Regex::new(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)").expect("a pattern");
    let text = prose(page);
    let all = link.captures_iter(&text).map(|found| {
        let anchor = found.get(2).map_or("", |anchor| anchor.as_str());
        (found[1].to_owned(), anchor.to_owned())
    });
    all.filter(|(file, _)| !file.contains("://")).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for (file, anchor) in links(&page) {
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(&file) };
            let page_of_anchors = target.extension().is_some_and(|extension| extension == "md") && !anchor.is_empty();
            if !target.exists() || page_of_anchors && !anchors(&target).contains(&anchor) {
                broken.push(format!("{}: {file}#{anchor}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn anchors_are_those_of_github() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.md");
    let text = "# One: `two`, three\n\n```sh\n# no heading\n```\n\n## `--memory`\n\n## 7. Tensor cores\n## Limits\n### Limits\n";
    std::fs::write(&page, text).expect("a page");
    let expected = ["one-two-three", "--memory", "7-tensor-cores", "limits", "limits-1"];
    assert_eq!(anchors(&page), BTreeSet::from(expected.map(str::to_owned)));
}

/// Each term of the glossary names a type that is declared in the file to which it is linked.
#[test]
fn terms_have_types() {
    let page = root().join("docs/glossary.md");
    let text = std::fs::read_to_string(&page).expect("the glossary");
    let row = Regex::new(r"(?m)^\| ([^|]+) \| [^|]+ \| \[`(\w+)`\]\(([^)]+)\) \|$").expect("a pattern");
    let mut terms = BTreeSet::new();
    for found in row.captures_iter(&text) {
        let (term, name, file) = (&found[1], &found[2], &found[3]);
        assert!(terms.insert(term.to_owned()), "{term} has two definitions");
        let source = std::fs::read_to_string(page.with_file_name(file)).expect(file);
        let declared = ["struct", "enum", "trait", "type"].iter().any(|kind| {
            source.lines().any(|line| {
                let rest = line.trim_start().split_once(&format!("{kind} {name}")).map(|(_, rest)| rest);
                rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
            })
        });
        assert!(declared, "{term}: {file} declares no {name}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term ")).count();
    assert_eq!(terms.len(), rows, "a row of the glossary has no type");
}

/// The site has every page.
#[test]
fn the_summary_lists_every_page() {
    let summary = root().join("docs/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(|(file, _)| summary.with_file_name(file)).collect();
    let there = pages().into_iter().filter(|page| page.starts_with(root().join("docs")) && *page != summary);
    let missing: Vec<_> = there.filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
