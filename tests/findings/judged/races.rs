//! Races.

use super::program::cure;
use super::programs::{FOURTEENTH, NINTH, RACING_INDEX, THIRTEENTH, TWELFTH};

#[test]
fn what_warps_update_on_one_line_no_barrier_orders() {
    let (_, _, cure) = NINTH.first("race", "UPDATE");
    assert!(cure.contains("make the update atomic") && !cure.contains("__syncthreads()"), "{cure}");
}

#[test]
fn accesses_that_the_compiler_merged_are_near_their_line() {
    let (_, reason, _) = TWELFTH.first("race", "HANDED ON");
    assert!(reason.contains("the store on line") && reason.contains("the load on or near line"), "{reason}");
}

#[test]
fn blocks_that_store_one_after_the_other_are_split() {
    let races = TWELFTH.all("race", "TWO STORES");
    assert_eq!(races.len(), 1, "{races:#?}");
    let (_, reason, cure) = TWELFTH.first("race", "TWO STORES");
    assert!(reason.starts_with("blocks reach") && cure.contains("split the kernel there"), "{reason}\n{cure}");
    assert!(!cure.contains("atomic") && !cure.contains("__syncthreads"), "{cure}");
}

#[test]
fn bounds_that_only_rise_are_no_race() {
    assert!(TWELFTH.all("race", "BOUND").is_empty());
}

#[test]
fn stores_beside_atomic_operations_are_told_as_such() {
    let (_, _, cure) = TWELFTH.first("race", "WHOLE WORDS");
    assert!(cure.starts_with("make the store atomic, too") && cure.contains("as an `or` of 0"), "{cure}");
}

#[test]
fn entries_that_threads_share_by_mistake_may_want_another_index() {
    let found = THIRTEENTH.alone("entries", "race", "OWN ENTRIES");
    assert!(found.iter().any(|finding| cure(finding).contains("its index leads to others' as well")), "{found:#?}");
}

#[test]
fn a_pair_of_lines_is_one_race_in_however_many_allocations() {
    let found = FOURTEENTH.alone("memory", "race", "IN EACH MEMORY");
    assert_eq!(found.len(), 1, "{found:#?}");
    let reason = found[0]["reason"].as_str().expect("a reason");
    assert!(reason.ends_with("; the same in 3 other allocations"), "{reason}");
}

#[test]
fn loads_that_the_compiler_makes_early_may_be_no_race() {
    let found = FOURTEENTH.alone("choose", "race", "EARLY LOAD");
    let is_fit = |finding: &serde_json::Value| finding["severity"] == "note" && cure(finding).contains("thrown away");
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_place_past_the_end_may_come_of_a_race() {
    let (race, ..) = RACING_INDEX.only("race", "STORED");
    let (_, _, cure) = RACING_INDEX.only("fault", "PAST");
    let first = format!("put the race on line {} of this kernel right first", race["line"]);
    assert!(cure.starts_with(&first) && cure.contains("that is the cause; else check the index"), "{cure}");
}
