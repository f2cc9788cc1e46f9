//! The cases of the eighteenth round, a run for each.

use super::program::{cause, remedy};
use super::programs::SIXTEENTH;
use serde_json::Value;

/// The finding of a case, which is the only one of its id there.
fn only(case: &str, id: &str, words: &str) -> Value {
    let found = SIXTEENTH.alone(case, id, words);
    assert_eq!(found.len(), 1, "{case}: {found:#?}");
    found.into_iter().next().expect("a finding")
}

#[test]
fn loops_as_long_as_the_threads_number_are_reported_as_such() {
    let finding = only("seeds", "divergent-branch", "AS LONG AS THE NUMBER");
    assert_eq!(cause(&finding), "varying-trip-count", "{finding:#}");
    assert!(finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn lanes_that_share_a_loop_are_not_advised_to_share_it() {
    let finding = only("lists", "divergent-branch", "SHARED BY A WARP");
    assert_eq!(cause(&finding), "short-lists", "{finding:#}");
}

#[test]
fn arrays_of_unknown_length_are_not_taken_for_small() {
    let found = SIXTEENTH.alone("macro", "local-array", "READ BY A MACRO");
    let found = if found.is_empty() { SIXTEENTH.alone("macro", "local-array", "LENGTH BY A MACRO") } else { found };
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(remedy(&found[0]), "constant-indices-if-small", "{found:#?}");
}

#[test]
fn arrays_without_room_in_shared_memory_need_constant_indices() {
    let finding = only("wide", "local-array", "WIDE BLOCKS");
    assert_eq!(remedy(&finding), "constant-indices-if-small", "{finding:#}");
}

#[test]
fn elements_that_come_to_one_place_in_turn_are_no_redundant_copies() {
    assert!(SIXTEENTH.alone("scratch", "redundant-copy", "ONE AFTER THE OTHER").is_empty());
}

#[test]
fn what_the_launch_before_has_written_is_not_read_back() {
    let finding = only("gates", "cache-sweep", "HANDED ON");
    assert_eq!(finding["severity"], "warning", "{finding:#}");
    assert_eq!((cause(&finding), remedy(&finding)), ("producer-consumer", "fuse-kernels"), "{finding:#}");
    // Where a thread needs what others have made, launches stay apart.
    assert!(SIXTEENTH.alone("softmax", "cache-sweep", "NEEDS ALL").is_empty());
    assert!(SIXTEENTH.alone("relax", "cache-sweep", "NEIGHBOURS WANT IT").is_empty());
}

#[test]
fn distances_that_change_are_no_part_of_a_threads_own() {
    let finding = only("stages", "strided-access", "FACTORS OF UNROLLED STAGES");
    assert!(cause(&finding) == "changing-stride", "{finding:#}");
    let finding = only("distance", "strided-access", "LOADED DISTANCE");
    assert!(cause(&finding) == "changing-stride", "{finding:#}");
}

#[test]
fn entries_of_a_list_that_follow_each_other_are_in_order() {
    assert!(SIXTEENTH.alone("corners", "random-gather", "NEXT OF A LIST").is_empty());
    let found = SIXTEENTH.alone("corners", "struct-fields", "NEXT OF A LIST");
    assert!(found.iter().all(|finding| remedy(finding) == "align-structure"), "{found:#?}");
}

#[test]
fn loads_that_hit_hide_nothing_of_what_stores_bring() {
    let finding = only("particles", "struct-fields", "MEMBERS TOGETHER");
    let gain = finding["gain"]["factor"].as_f64().expect("a gain");
    assert!(gain > 3.0, "{finding:#}");
}

#[test]
fn blocks_that_run_at_once_have_their_data_each() {
    assert!(SIXTEENTH.alone("weights", "repeated-load", "ALL AT ONCE").is_empty());
}

#[test]
fn lines_of_one_array_are_one_finding() {
    let finding = only("points", "uniform-load", "COORDINATE");
    assert_eq!(finding["lines"].as_array().map(Vec::len), Some(2), "{finding:#}");
}

#[test]
fn borders_are_no_loops_of_other_lengths() {
    let found = SIXTEENTH.alone("few", "divergent-branch", "FEWER THAN THREADS");
    assert!(found.iter().all(|finding| cause(finding) != "varying-trip-count"), "{found:#?}");
}

#[test]
fn who_appends_to_a_list_collects_already() {
    assert!(SIXTEENTH.alone("append", "divergent-branch", "APPENDED").is_empty());
}

#[test]
fn columns_of_narrow_elements_share_banks() {
    let finding = only("quantiles", "bank-conflict", "SHORT COLUMNS");
    assert_eq!((cause(&finding), remedy(&finding)), ("data-dependent-index", "inspect-index"), "{finding:#}");
}

#[test]
fn parts_that_the_threads_number_gives_have_no_indices_to_sort() {
    let finding = only("maps", "strided-access", "MAPS OF THEIR OWN");
    assert_eq!(cause(&finding), "private-region", "{finding:#}");
}

#[test]
fn doubles_throughout_are_not_made_by_constants() {
    for finding in SIXTEENTH.alone("doubles", "double-precision", "DOUBLES THROUGHOUT") {
        assert_eq!(cause(&finding), "double-arithmetic", "{finding:#}");
    }
}

#[test]
fn records_are_taken_whole_by_several_statements() {
    let found = SIXTEENTH.alone("records", "strided-access", "RECORDS OF SEVEN");
    assert!(!found.is_empty(), "no finding");
    assert!(found.iter().all(|finding| cause(finding) != "column"), "{found:#?}");
}

#[test]
fn what_lies_between_is_not_read_at_once() {
    let finding = only("second", "strided-access", "EVERY SECOND ONE");
    assert!(remedy(&finding) != "wide-access", "{finding:#}");
}

#[test]
fn numbers_of_the_source_are_a_table() {
    for words in ["A TABLE", "A TABLE ON LINES"] {
        for finding in SIXTEENTH.alone("curves", "local-array", words) {
            assert_eq!(remedy(&finding), "constant-indices-if-small", "{finding:#}");
        }
    }
}
