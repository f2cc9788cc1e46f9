//! Copies between host and device.

use super::program::diagnosis;
use super::programs::{
    ELEVENTH, FIFTH, FIRST, FOUND_PLACES, FOURTEENTH, FOURTH, MANY_STARTS, PIECES, POWER_ITERATION, SECOND, THIRD,
    THIRTEENTH, TWELFTH,
};

#[test]
fn copies_that_bring_nothing_are_not_to_be_gathered() {
    FIRST.only("redundant-copy", "AGAIN");
    assert!(FIRST.all("small-copies", "AGAIN").is_empty());
    let (finding, ..) = FIRST.only("small-copies", "BACK");
    assert_eq!(diagnosis(finding), ("small-bus-copies", "batch-copies-to-host"));
}

#[test]
fn asynchronous_copies_want_pinned_memory() {
    let (finding, ..) = SECOND.first("pageable-copy", "NOT PINNED");
    assert_eq!((&finding["severity"], &finding["object"]), (&"warning".into(), &"pageable".into()));
    assert_eq!(diagnosis(finding), ("asynchronous-pageable-copy", "pin-host-memory"));
}

#[test]
fn single_values_may_be_the_same_by_chance() {
    assert!(THIRD.all("redundant-copy", "BY CHANCE").is_empty());
}

#[test]
fn ways_to_one_copy_are_one_place() {
    let found = FOURTH.all("small-copies", "TWO WAYS");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["evidence"]["copies"], 100.0, "{:#}", found[0]);
    // A few of a hundred are the same.
    assert!(FOURTH.all("redundant-copy", "TWO WAYS").is_empty());
}

#[test]
fn what_goes_to_the_host_and_back_unchanged_could_stay() {
    let (finding, ..) = FIFTH.first("redundant-copy", "FORTH");
    assert!(finding["evidence"]["unchanged_copies"].as_f64() >= Some(5.0), "{finding:#}");
    assert_eq!(diagnosis(finding), ("bytes-of-other-device-memory", "exchange-pointers"));
    assert!(FIFTH.all("redundant-copy", "CHANGED").is_empty());
}

#[test]
fn memory_of_a_helper_is_reported_once() {
    assert_eq!(FIFTH.all("untouched-copy", "MASK").len(), 1);
    let (finding, ..) = FIFTH.first("untouched-copy", "MASK");
    assert_eq!(finding["object"], "d_mask");
}

#[test]
fn what_lies_between_samples_cannot_be_left_out() {
    let (finding, ..) = ELEVENTH.first("untouched-copy", "SAMPLED");
    assert_eq!(diagnosis(finding), ("scattered", "pack-elements"));
    assert!(finding["severity"] == "note" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn first_copies_to_fresh_memory_are_needed() {
    assert!(ELEVENTH.all("redundant-copy", "FRESH").is_empty());
}

#[test]
fn flags_that_kernels_write_have_to_come_back() {
    assert!(TWELFTH.all("redundant-copy", "CHANGED").is_empty());
}

#[test]
fn few_of_many_copies_are_no_ones_loss() {
    let found = THIRTEENTH.alone("copies", "redundant-copy", "ROUNDS");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn parts_that_are_copied_again_are_no_more_than_a_part() {
    let found = FOURTEENTH.alone("copies", "untouched-copy", "PART COPIED AGAIN");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn results_of_each_launch_may_be_the_same_by_chance() {
    let found = FOURTEENTH.alone("matches", "redundant-copy", "RESULTS OF EACH");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(diagnosis(finding), ("unchanged-copy-to-host", "copy-back-once"));
}

#[test]
fn what_the_host_changes_between_launches_goes_back_to_other_memory() {
    let (finding, ..) = POWER_ITERATION.only("host-round-trip", "TO THE HOST");
    assert_eq!(diagnosis(finding), ("copied-there-and-back", "keep-on-device"));
    assert!(POWER_ITERATION.all("host-round-trip", "A PICTURE").is_empty());
}

#[test]
fn copies_of_single_elements_within_the_device_are_one() {
    let found = MANY_STARTS.alone("columns", "small-copies", "AN ELEMENT");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["evidence"]["copies"], 400.0, "{finding:#}");
    assert_eq!(diagnosis(finding), ("small-device-copies", "batch-device-copies"));
    assert!(finding["object"] == "right" && finding["severity"] == "warning", "{finding:#}");
    assert!(MANY_STARTS.alone("one-copy", "small-copies", "AN ELEMENT").is_empty());
}

#[test]
fn pieces_of_rows_are_copied_alone() {
    let found = PIECES.alone("pieces", "untouched-copy", "A PIECE OF EACH ROW");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert!(finding["severity"] == "warning" && diagnosis(finding).0 != "scattered", "{finding:#}");
    assert_eq!(finding["evidence"]["touched_bytes"], 4096.0 * 128.0 * 4.0, "{finding:#}");
    for finding in PIECES.alone("samples", "untouched-copy", "SAMPLES") {
        assert_eq!((&finding["severity"], diagnosis(&finding)), (&"note".into(), ("scattered", "pack-elements")));
    }
}

/// A user cannot gather copies that an algorithm of Thrust makes of its own memory.
#[test]
fn results_of_a_library_come_back_call_by_call() {
    let (finding, ..) = FOUND_PLACES.only("small-copies", "EACH CALL");
    assert_eq!(finding["object"], "thrust::find");
    assert_eq!(diagnosis(finding), ("library-result-per-call", "batch-library-calls"));
}
