//! Races.

use super::program::cure;
use super::programs::{NINTH, THIRTEENTH, TWELFTH};

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
