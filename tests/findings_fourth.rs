//! Findings that were wrong or missing in a fourth round of planted and public programs (`docs/design/findings.md`), each as a small
//! case in one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/fourth.cu", "findings-fourth");

#[test]
fn a_structure_with_an_array_is_no_array_of_structures() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "TILE OF A STRUCTURE");
    assert!(cure.starts_with("pad the rows of `staging` by 1 element"), "{cure}");
}

#[test]
fn an_index_of_the_grid_runs_along_what_lies_side_by_side() {
    let (_, _, cure) = PROGRAM.first("strided-access", "PLANES");
    assert!(cure.contains("exchange threadIdx.x and blockIdx.z") && !cure.contains("transposed"), "{cure}");
}

#[test]
fn block_wide_loads_and_stores_have_other_algorithms() {
    let (_, _, cure) = PROGRAM.first("strided-access", "BLOCK LOAD");
    assert!(cure.contains("BLOCK_LOAD_WARP_TRANSPOSE"), "{cure}");
    let (_, _, cure) = PROGRAM.first("strided-access", "BLOCK STORE");
    assert!(cure.contains("BLOCK_STORE_WARP_TRANSPOSE"), "{cure}");
}

#[test]
fn a_structure_of_which_all_is_used_is_read_as_a_whole() {
    let (_, reason, cure) = PROGRAM.first("struct-fields", "WHOLE JOINT");
    assert!(reason.contains("all of its 16 bytes") && cure.starts_with("read `Joint` as a whole"), "{reason} {cure}");
}

#[test]
fn chance_meetings_that_cost_no_time_are_left_out() {
    assert!(PROGRAM.all("bank-conflict", "TABLE").is_empty());
}

#[test]
fn host_memory_that_caches_keep_is_told() {
    let (_, reason, _) = PROGRAM.first("host-memory", "DELAY LINE");
    assert!(reason.contains("lanes use each byte 8 times"), "{reason}");
}

#[test]
fn ways_to_one_copy_are_one_place() {
    let found = PROGRAM.all("small-copies", "TWO WAYS");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["evidence"]["copies"], 100.0, "{:#}", found[0]);
    // A few of a hundred are the same.
    assert!(PROGRAM.all("redundant-copy", "TWO WAYS").is_empty());
}

#[test]
fn scratch_memory_of_an_algorithm_is_the_allocator_s() {
    let (_, reason, cure) = PROGRAM.first("allocation-churn", "SCRATCH");
    assert!(
        reason.contains("scratch memory of `thrust::reduce`") && cure.contains("thrust::cuda::par("),
        "{reason} {cure}"
    );
}

#[test]
fn few_blocks_exits_and_parts() {
    let profile = PROGRAM.profiled("few", &["few"]);
    let all = profile["findings"].as_array().expect("findings");
    let of = |id: &str, kernel: &str| {
        let name = |number: &serde_json::Value| {
            profile["kernels"].as_array()?.iter().find(|one| one["id"] == *number)?["name"].as_str()
        };
        all.iter()
            .filter(|one| one["id"] == id && name(&one["kernel"]).is_some_and(|name| name.starts_with(kernel)))
            .collect::<Vec<_>>()
    };
    // A block is a warp, which is not divided.
    for finding in of("small-launch", "number") {
        assert!(finding["gain"].is_null() && finding["severity"] == "note", "{finding:#}");
    }
    let leaves = of("divergent-branch", "bisect");
    let cure = leaves.first().map(|one| one["cure"].as_str().expect("a cure"));
    assert!(cure.is_some_and(|cure| cure.starts_with("give the threads of a warp loops")), "{all:#?}");
    assert!(of("misaligned-access", "shift").is_empty(), "{all:#?}");
}
