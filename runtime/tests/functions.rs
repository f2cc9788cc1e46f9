//! `docs/cuda-functions.md` lists the functions of CUDA's runtime and of its driver and of NVRTC that are offered.
//! `make docs` writes it anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runtime is a folder of the workspace").to_path_buf()
}

/// Functions whose names begin so, by the first sentence of the file of the folder that defines them; those of the
/// driver have a folder of their own.
fn offered(folder: &str, beginning: &str) -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(root().join(folder)).expect("the folder is there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            if !path.ends_with("driver") {
                for (about, names) in
                    offered(&format!("{folder}/{}", path.file_name().expect("a name").display()), beginning)
                {
                    groups.entry(about).or_default().extend(names);
                }
            }
            continue;
        }
        let text = std::fs::read_to_string(path).expect("source text");
        let about = text.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
        let about = about.split(['.', ':']).next().unwrap_or_default();
        let names = text.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line.strip_prefix("pub unsafe extern \"C\" ").unwrap_or(line);
            let name = line.strip_prefix("fn ")?.split(['(', '<']).next()?;
            let own = name.strip_prefix(beginning).is_some_and(|rest| rest.starts_with(char::is_uppercase));
            (own && !name.ends_with("_ptsz") && !name.ends_with("_ptds")).then(|| name.to_owned())
        });
        groups.entry(about.to_owned()).or_default().extend(names);
    }
    groups.retain(|_, names| !names.is_empty());
    groups.values_mut().for_each(|names| names.sort());
    groups
}

fn list(groups: BTreeMap<String, Vec<String>>, level: &str) -> String {
    let mut text = String::new();
    for (group, names) in groups {
        let list: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("\n{level} {group}\n\n{}\n", list.join(", "));
    }
    text
}

fn page() -> String {
    let runtime = offered("runtime/src/api", "cuda");
    let driver = offered("runtime/src/api/driver", "cu");
    let nvrtc = offered("runtime/src/api", "nvrtc");
    let count = |groups: &BTreeMap<String, Vec<String>>| groups.values().map(Vec::len).sum::<usize>();
    format!(
        "# Functions of CUDA that are offered\n\nWritten by `make docs` from `runtime/src/api`. {} functions of the runtime and {} of the \
         driver, each also in its per-thread form where CUDA has one. A program that needs another is refused by the linker, which names it.\n\
         {}\n## The driver's\n\nModules are LLVM IR, or what `warpline-cc --warpline-module`, warpline-nvcc or NVRTC made; other PTX is refused. The names are those \
         of the symbols: `cuda.h` calls `cuMemAlloc_v2` `cuMemAlloc`. On a GPU, what kernels do in a context of the program's own \
         (`cuCtxCreate`) is not recorded, and a note reports it.\n{}\n## NVRTC's\n\nCUDA source is compiled by `warpline-cc` and clang ([how](design/triton.md#nvrtc)).\n{}",
        count(&runtime),
        count(&driver),
        list(runtime, "##"),
        list(driver, "###"),
        list(nvrtc, "###")
    )
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
