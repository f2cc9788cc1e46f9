//! Races.

use super::program::diagnosis;
use super::programs::{FOURTEENTH, NINTH, RACING_INDEX, THIRTEENTH, TWELFTH};

#[test]
fn what_warps_update_on_one_line_no_barrier_orders() {
    let (finding, ..) = NINTH.first("race", "UPDATE");
    assert_eq!(diagnosis(finding), ("unordered-update", "atomic-update"));
}

#[test]
fn blocks_that_store_one_after_the_other_are_split() {
    let races = TWELFTH.all("race", "TWO STORES");
    assert_eq!(races.len(), 1, "{races:#?}");
    assert_eq!(diagnosis(races[0]), ("unordered-stores", "split-kernel"));
}

#[test]
fn bounds_that_only_rise_are_no_race() {
    assert!(TWELFTH.all("race", "BOUND").is_empty());
}

#[test]
fn stores_beside_atomic_operations_are_reported_as_such() {
    let (finding, ..) = TWELFTH.first("race", "WHOLE WORDS");
    assert_eq!(diagnosis(finding), ("store-and-atomic", "atomic-store"));
}

#[test]
fn entries_that_threads_share_by_mistake_may_want_another_index() {
    let found = THIRTEENTH.alone("entries", "race", "OWN ENTRIES");
    assert!(found.iter().any(|finding| diagnosis(finding).1 == "barrier-between-accesses"), "{found:#?}");
}

#[test]
fn a_pair_of_lines_is_one_race_in_however_many_allocations() {
    let found = FOURTEENTH.alone("memory", "race", "IN EACH MEMORY");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn loads_that_the_compiler_makes_early_may_be_no_race() {
    let found = FOURTEENTH.alone("choose", "race", "EARLY LOAD");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((&finding["severity"], diagnosis(finding)), (&"note".into(), ("early-load", "check-threads")));
}

#[test]
fn a_place_past_the_end_may_come_of_a_race() {
    RACING_INDEX.only("race", "STORED");
    let (finding, ..) = RACING_INDEX.only("fault", "PAST");
    assert_eq!(diagnosis(finding).1, "fix-race-first");
}
