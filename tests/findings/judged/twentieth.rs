//! The cases of the twenty-first round, a run for each, and those that the twentieth one fixed.

use super::program::{Judged, assumption, cause, diagnosis, remedy};
use super::programs::{TWENTIETH, TWENTIETH_KEPT};
use serde_json::Value;

/// The finding of a case, which is the only one of its id on these lines.
fn only(program: &Judged, case: &str, id: &str, words: &str) -> Value {
    let found = program.alone(case, id, words);
    assert_eq!(found.len(), 1, "{case}: {found:#?}");
    found.into_iter().next().expect("a finding")
}

fn lines(finding: &Value) -> usize {
    finding["lines"].as_array().map_or(0, Vec::len)
}

#[test]
fn padding_behind_rows_is_what_packing_saves() {
    let finding = only(&TWENTIETH, "padded", "untouched-copy", "PADDED TRACKS");
    assert_eq!((diagnosis(&finding), &finding["severity"]), (("pieces", "copy-pieces"), &"warning".into()));
    // Rows that data chooses are not known in advance.
    let finding = only(&TWENTIETH, "chosen", "untouched-copy", "CHOSEN ROWS");
    assert!(finding["severity"] == "note" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn one_padding_is_one_finding() {
    let finding = only(&TWENTIETH, "pyramid", "bank-conflict", "LEVELS");
    assert!(lines(&finding) == 3 && finding["evidence"]["padding_period"] == 32.0, "{finding:#}");
    assert_eq!((remedy(&finding), finding["verified"].as_bool()), ("pad-periodically", Some(true)), "{finding:#}");
}

#[test]
fn one_exchange_of_indices_is_one_finding() {
    let finding = only(&TWENTIETH, "scaled", "strided-access", "ONE EXCHANGE");
    assert!(lines(&finding) == 1 && remedy(&finding) == "exchange-indices", "{finding:#}");
    let finding = only(&TWENTIETH, "relief", "strided-access", "RELIEF");
    assert_eq!(remedy(&finding), "exchange-indices", "{finding:#}");
    assert!(lines(&finding) > 1 && finding["gain"]["factor"].as_f64() > Some(3.0), "{finding:#}");
}

#[test]
fn what_a_block_loads_again_is_reported_once() {
    let finding = only(&TWENTIETH, "results", "repeated-load", "EACH RESULT");
    assert_eq!(remedy(&finding), "tile-in-shared-memory", "{finding:#}");
    assert!(TWENTIETH.alone("results", "cache-thrash", "EACH RESULT").is_empty());
}

#[test]
fn small_arrays_that_constant_memory_holds_are_one_finding() {
    let finding = only(&TWENTIETH, "outside", "uniform-load", "BOUNDS");
    assert!(cause(&finding) == "constant-table" && lines(&finding) > 0, "{finding:#}");
}

#[test]
fn tables_that_a_kernel_looks_up_are_one_finding() {
    let finding = only(&TWENTIETH, "tables", "constant-serialised", "ONE OF TWO TABLES");
    assert!(lines(&finding) > 0 && finding["gain"]["factor"].as_f64() > Some(3.0), "{finding:#}");
}

#[test]
fn kernels_that_sweep_over_one_array_gain_together() {
    let found = TWENTIETH.alone("steps", "cache-sweep", "STEPS OF ONE");
    let finding = found.iter().find(|finding| finding["object"] == "slope").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(cause(finding), "elementwise-launches", "{finding:#}");
    assert!(assumption(finding).contains(" more of `"), "{finding:#}");
}

#[test]
fn what_data_spreads_over_many_counters_is_no_warning() {
    let finding = only(&TWENTIETH, "counted", "atomic-contention", "BY CHANCE");
    assert!(finding["severity"] == "note" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn lanes_within_a_structure_take_no_members_of_several() {
    for id in ["struct-fields", "random-gather"] {
        let found = TWENTIETH.alone("sites", id, "WITHIN A SITE");
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn what_is_changed_in_place_twice_is_one_kernel() {
    let finding = only(&TWENTIETH, "tracks", "cache-sweep", "CHANGED IN PLACE TWICE");
    assert_eq!(cause(&finding), "producer-consumer", "{finding:#}");
    assert!(assumption(&finding).contains("more of `foreseen`"), "{finding:#}");
}

#[test]
fn sides_of_a_switch_are_cases_however_long() {
    let finding = only(&TWENTIETH, "quantities", "divergent-branch", "FOUR LOOPS");
    assert_eq!((cause(&finding), remedy(&finding)), ("alternating-sides", "group-by-warp"), "{finding:#}");
}

#[test]
fn what_the_host_permutes_comes_and_goes() {
    let finding = only(&TWENTIETH, "bred", "host-round-trip", "BRED ON THE HOST");
    assert!(finding["severity"] == "warning" && finding["gain"].is_null(), "{finding:#}");
    assert_eq!(diagnosis(&finding), ("replaced-from-other-host-memory", "compute-on-device"));
}

#[test]
fn figures_of_one_place_are_combined_together() {
    let finding = only(&TWENTIETH, "regions", "atomic-contention", "FIGURES OF A REGION");
    assert!(finding["severity"] == "warning" && lines(&finding) == 2, "{finding:#}");
}

#[test]
fn windows_that_are_held_within_rows_have_neighbours() {
    let found = TWENTIETH.alone("window", "misaligned-access", "A WINDOW");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn members_that_no_one_uses_are_reported_where_they_are_made() {
    let finding = only(&TWENTIETH, "layers", "unused-allocation", "ROOM FOR MORE");
    assert_eq!(diagnosis(&finding), ("never-used", "remove-allocation"));
    assert!(TWENTIETH.alone("layers", "unused-allocation", "FIELDS").is_empty());
}

#[test]
fn kernels_that_are_repeated_make_no_steps() {
    for finding in TWENTIETH_KEPT.alone("benchmark", "cache-sweep", "REPEATED") {
        assert_eq!((cause(&finding), &finding["severity"]), ("independent-launches", &"note".into()), "{finding:#}");
    }
}

#[test]
fn what_is_made_anew_for_each_launch_is_handed_on() {
    let finding = only(&TWENTIETH_KEPT, "work", "cache-sweep", "HANDED ON EACH TIME");
    assert_eq!(cause(&finding), "producer-consumer", "{finding:#}");
}

#[test]
fn rows_that_begin_within_sectors_are_no_partial_stores() {
    let found = TWENTIETH.alone("odd", "partial-write", "ODD ROWS");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn memory_that_is_pinned_under_another_name_is_pinned() {
    let found = TWENTIETH.alone("pinned", "pageable-copy", "PINNED BY ANOTHER NAME");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn memory_of_members_is_reported_where_their_object_is_made() {
    only(&TWENTIETH, "targets", "allocation-churn", "A TARGET EACH");
    assert!(TWENTIETH.alone("targets", "allocation-churn", "FIELDS").is_empty());
}

#[test]
fn steps_through_tiles_need_their_neighbours() {
    for (case, words) in [("staged", "STAGED"), ("exchanged", "CHANGE PLACES")] {
        let found = TWENTIETH_KEPT.alone(case, "cache-sweep", words);
        assert!(!found.is_empty(), "{case}: no finding");
        for finding in &found {
            assert!(finding["severity"] == "note" && remedy(finding) == "temporal-blocking", "{finding:#}");
        }
    }
}

#[test]
fn what_the_host_clears_for_each_launch_hangs_on_none_before() {
    let finding = only(&TWENTIETH_KEPT, "cleared", "cache-sweep", "CLEARED EACH TIME");
    assert_eq!((cause(&finding), &finding["severity"]), ("independent-launches", &"note".into()), "{finding:#}");
}

#[test]
fn what_a_program_makes_for_itself_is_a_note() {
    let finding = only(&TWENTIETH_KEPT, "made", "cache-sweep", "MADE UP");
    assert_eq!(finding["severity"], "note", "{finding:#}");
}

#[test]
fn a_few_equal_copies_are_chance() {
    let found = TWENTIETH_KEPT.alone("copies", "redundant-copy", "TWO OF THIRTY");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn nothing_lies_between_two_branches() {
    let found = TWENTIETH_KEPT.alone("levels", "race", "OTHER BRANCH");
    let more = TWENTIETH_KEPT.alone("levels", "race", "ONE BRANCH");
    let found: Vec<&Value> = found.iter().chain(&more).collect();
    let both = found.iter().filter(|finding| finding["cause"] == "unordered-stores").collect::<Vec<_>>();
    assert!(!both.is_empty(), "{found:#?}");
    assert!(both.iter().all(|finding| finding["remedy"] == "order-stores"), "{both:#?}");
}
