//! `docs/cuda-functions.md` lists the functions of CUDA's runtime that are offered. `make docs` writes it anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runtime is a folder of the workspace").to_path_buf()
}

/// Functions by the first sentence of the file that defines them.
fn offered() -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("runtime/src/api")).expect("the folder is there") {
        let text = std::fs::read_to_string(entry.expect("readable").path()).expect("source text");
        let about = text.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
        let about = about.split(['.', ':']).next().unwrap_or_default();
        let names = text.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("pub unsafe extern \"C\" ").unwrap_or(line);
            let name = line.strip_prefix("fn ")?.split(['(', '<']).next()?;
            let own = name.starts_with("cuda") && name.chars().nth(4).is_some_and(char::is_uppercase);
            (own && !name.ends_with("_ptsz") && !name.ends_with("_ptds")).then(|| name.to_owned())
        });
        groups.entry(about.to_owned()).or_default().extend(names);
    }
    groups.retain(|_, names| !names.is_empty());
    groups.values_mut().for_each(|names| names.sort());
    groups
}

fn page() -> String {
    let groups = offered();
    let count: usize = groups.values().map(Vec::len).sum();
    let mut text = format!(
        "# Functions of CUDA's runtime that are offered\n\nWritten by `make docs` from `runtime/src/api`. {count} functions, each also in its \
         per-thread form where CUDA has one. A program that needs another is refused by the linker, which names it.\n"
    );
    for (group, names) in groups {
        let list: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("\n## {group}\n\n{}\n", list.join(", "));
    }
    text
}

#[test]
fn the_page_lists_what_is_offered() {
    let file = root().join("docs/cuda-functions.md");
    if std::env::var_os("WARPLINE_WRITE_DOCS").is_some() {
        std::fs::write(&file, page()).expect("docs can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == page(), "docs/cuda-functions.md is not what runtime/src/api offers: run `make docs`");
}
