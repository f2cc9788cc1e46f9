//! Findings that were wrong or doubtful in a fourteenth round of public programs (`docs/design/findings.md`), each as a small case.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;
use serde_json::Value;

static PROGRAM: Judged = Judged::new("tests/judged/twelfth.cu", "findings-twelfth");

/// What a finding's gain rests on.
fn assumption(finding: &Value) -> &str {
    finding["gain"]["assumption"].as_str().unwrap_or_else(|| panic!("no gain: {finding:#}"))
}

#[test]
fn words_of_padded_vectors_are_taken_at_once() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "HALVES OF WORDS");
    assert!(cure.starts_with("take 16 bytes of `staged` with one access"), "{cure}");
}

#[test]
fn accesses_that_the_compiler_merged_are_near_their_line() {
    let (_, reason, _) = PROGRAM.first("race", "HANDED ON");
    assert!(reason.contains("the store on line") && reason.contains("the load on or near line"), "{reason}");
}

#[test]
fn gains_of_short_launches_are_told_with_their_start() {
    let (finding, ..) = PROGRAM.first("strided-access", "SHORT");
    let said = assumption(finding);
    assert!(said.contains(" x with 3 us more for each launch"), "{said}");
}

#[test]
fn layouts_of_trees_may_bring_nothing() {
    let walks = [PROGRAM.all("random-gather", "WALKED"), PROGRAM.all("random-gather", "ON ITS WAY")].concat();
    let gains: Vec<&str> = walks.iter().filter(|one| !one["gain"].is_null()).map(|one| assumption(one)).collect();
    assert!(!gains.is_empty(), "{:#}", PROGRAM.document()["findings"]);
    assert!(gains.iter().all(|said| said.contains("another layout may bring nothing")), "{gains:?}");
}

#[test]
fn blocks_that_store_one_after_the_other_are_split() {
    let races = PROGRAM.all("race", "TWO STORES");
    assert_eq!(races.len(), 1, "{races:#?}");
    let (_, reason, cure) = PROGRAM.first("race", "TWO STORES");
    assert!(reason.starts_with("blocks reach") && cure.contains("split the kernel there"), "{reason}\n{cure}");
    assert!(!cure.contains("atomic") && !cure.contains("__syncthreads"), "{cure}");
}

#[test]
fn bounds_that_only_rise_are_no_race() {
    assert!(PROGRAM.all("race", "BOUND").is_empty());
}

#[test]
fn flags_that_kernels_write_have_to_come_back() {
    assert!(PROGRAM.all("redundant-copy", "CHANGED").is_empty());
}

#[test]
fn volatile_variables_stay_in_memory() {
    let (_, reason, cure) = PROGRAM.first("local-array", "VOLATILE");
    assert!(reason.contains("or it is volatile") && cure.contains("without `volatile`"), "{reason}\n{cure}");
}

#[test]
fn lists_that_data_ends_are_lists() {
    let (_, _, cure) = PROGRAM.first("random-gather", "LATER STORE");
    assert!(cure.contains("share one list"), "{cure}");
}

#[test]
fn lists_shorter_than_a_warp_are_shared_by_fewer_lanes() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "SHORT LISTS");
    assert!(cure.contains("let as many lanes share one as it has elements"), "{cure}");
}

#[test]
fn what_each_thread_adds_once_needs_no_copy() {
    let (_, _, cure) = PROGRAM.first("atomic-contention", "ONCE");
    assert!(cure.starts_with("each thread does this once"), "{cure}");
}

#[test]
fn volatile_loads_go_past_l1_as_they_are_told() {
    let (finding, reason, cure) = PROGRAM.first("repeated-load", "VOLATILE");
    assert!(reason.contains("its loads go past L1") && cure.contains("without `volatile`"), "{reason}\n{cure}");
    assert_eq!(finding["severity"], "note");
}

#[test]
fn stores_beside_atomic_operations_are_told_as_such() {
    let (_, _, cure) = PROGRAM.first("race", "WHOLE WORDS");
    assert!(cure.starts_with("make the store atomic, too") && cure.contains("as an `or` of 0"), "{cure}");
}

#[test]
fn mapped_memory_that_is_used_once_may_stay() {
    let (finding, _, cure) = PROGRAM.first("host-memory", "MAPPED");
    assert!(cure.starts_with("each byte crosses the bus about once") && finding["severity"] == "note", "{finding:#}");
}

#[test]
fn second_conditions_are_not_worth_collecting_elements() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "EITHER");
    assert!(cure.starts_with("no side is long enough"), "{cure}");
}

#[test]
fn what_a_library_lays_out_is_no_finding() {
    for id in ["uniform-load", "struct-fields", "random-gather", "strided-access", "divergent-branch"] {
        assert!(PROGRAM.all(id, "SEEDED").is_empty(), "{id}: {:#}", PROGRAM.document()["findings"]);
    }
}

#[test]
fn neighbours_of_nodes_are_no_part_of_a_thread() {
    let (_, _, cure) = PROGRAM.first("random-gather", "HEAD");
    assert!(!cure.contains("has a part of"), "{cure}");
}

#[test]
fn conditions_in_the_head_of_a_loop_end_it() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "HEAD");
    assert!(cure.contains("loops of about the same length"), "{cure}");
}

#[test]
fn grids_that_cover_the_data_follow_from_it() {
    let (finding, ..) = PROGRAM.first("small-launch", "COVERED");
    assert_eq!(finding["severity"], "note", "{finding:#}");
}

#[test]
fn elements_of_an_array_are_alive_beside_each_other() {
    assert!(PROGRAM.all("allocation-churn", "PIECES").is_empty());
    let unused = PROGRAM.all("unused-allocation", "PIECES");
    assert_eq!(unused.len(), 1, "{unused:#?}");
    assert!(
        unused[0]["reason"]
            .as_str()
            .expect("a reason")
            .starts_with("`pieces[0]` (1.0 KiB) and others of its array, 256")
    );
}
