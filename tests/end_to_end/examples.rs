//! Builds every example, runs it under `warpline run`, and compares what the profiles count with the closed forms of
//! `examples/expected.json`.

use super::programs::{profile, report};
use crate::support_programs::{build, counts, root, work_folder};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One test per entry of `examples/expected.json`, by position.
macro_rules! examples {
    ($($name:ident = $index:expr),* $(,)?) => {
        const EXAMPLES: &[(&str, usize)] = &[$((stringify!($name), $index)),*];
        mod example {
            $(#[test] fn $name() { super::example_program(stringify!($name), $index); })*
        }
    };
}

examples![
    saxpy = 0,
    saxpy_cut = 1,
    pointer_chase = 2,
    divergence = 3,
    bicg = 4,
    transpose = 5,
    matmul = 6,
    syrk = 7,
    bfs = 8,
    hotspot = 9,
    needleman_wunsch = 10,
    histogram = 11,
    scan = 12,
    spmv = 13,
    kmeans = 14,
    convolution = 15,
    raytracer = 16,
    downscale = 17,
    long_range_stencil = 18,
    lattice_boltzmann = 19,
];

fn expected() -> Value {
    let path = root().join("examples/expected.json");
    let text = std::fs::read_to_string(&path).expect("examples/expected.json can be read");
    serde_json::from_str(&text).expect("examples/expected.json is JSON")
}

fn example_program(test: &str, index: usize) {
    let expected = expected();
    let example = &expected["examples"][index];
    let folder = work_folder(&format!("example_{test}"));
    let examples = root().join("examples");
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let sources: Vec<PathBuf> = texts(&example["sources"]).iter().map(|source| examples.join(source)).collect();
    let executable = build(&sources, &["-O2".to_owned()], &folder);
    let mut wrong = Vec::new();
    for values in example["runs"].as_array().expect("an example has runs") {
        let values: BTreeMap<String, u64> = serde_json::from_value(values.clone()).expect("a run names its numbers");
        let arguments: Vec<String> = texts(&example["arguments"]).iter().map(|name| values[name].to_string()).collect();
        let outcome = profile(&executable, &arguments, &folder);
        assert!(outcome.status.success(), "{test} {arguments:?}: {}", outcome.describe());
        let profile = report(&folder);
        wrong.extend(counts::check(example, &values, &profile, &examples));
        widths_cover_all_requests(&profile);
    }
    assert!(wrong.is_empty(), "{} counts are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Requests by width are those of global and local memory, each once.
fn widths_cover_all_requests(profile: &Value) {
    for kernel in profile["kernels"].as_array().expect("kernels") {
        let of_space = |space: &str| kernel["metrics"][space]["requests"].as_u64().unwrap_or(0);
        let tables = kernel["tables"].as_array().map_or(&[][..], Vec::as_slice);
        let rows =
            tables.iter().filter(|table| table["id"] == "request-widths").filter_map(|table| table["rows"].as_array());
        let described: u64 = rows.flatten().filter_map(|row| row[3].as_u64()).sum();
        assert_eq!(described, of_space("global") + of_space("local"), "{}", kernel["name"]);
    }
}

#[test]
fn every_example_has_a_test() {
    let expected = expected();
    let entries = expected["examples"].as_array().expect("a list of examples");
    assert_eq!(entries.len(), EXAMPLES.len());
    let mut built = BTreeSet::new();
    for (entry, (test, index)) in entries.iter().zip(EXAMPLES) {
        assert_eq!(entries.get(*index), Some(entry), "{test} has another entry's number");
        let source = entry["sources"][0].as_str().expect("a source");
        let name = source.split('/').next().expect("a folder");
        assert!(test.starts_with(name), "{test} builds {source}");
        built.insert(name.to_owned());
    }
    let folders = std::fs::read_dir(root().join("examples")).expect("examples can be read");
    let there: BTreeSet<String> = folders
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        // `custom_analysis` is a crate with a test of its own; `tests/commands/cases.rs` follows the pages of `docs/cases` and `docs/tutorials`.
        .filter(|name| !matches!(&name[..], "common" | "cases" | "triton" | "sweep" | "tutorial" | "custom_analysis"))
        .collect();
    assert_eq!(there, built);
}
