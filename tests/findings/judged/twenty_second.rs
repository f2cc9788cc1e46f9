//! The cases of the twenty-second round, a run for each.

use super::program::{cause, remedy};
use super::programs::TWENTY_SECOND;
use serde_json::Value;

/// The finding of a case, which is the only one of its id on these lines.
fn only(case: &str, id: &str, words: &str) -> Value {
    let found = TWENTY_SECOND.alone(case, id, words);
    assert_eq!(found.len(), 1, "{case}: {found:#?}");
    found.into_iter().next().expect("a finding")
}

fn reason(finding: &Value) -> &str {
    finding["reason"].as_str().unwrap_or_else(|| panic!("no reason: {finding:#}"))
}

fn lines(finding: &Value) -> usize {
    finding["lines"].as_array().map_or(0, Vec::len)
}

#[test]
fn rows_that_begin_on_sectors_by_turns_are_reported_their_length() {
    let finding = only("rows", "misaligned-access", "ROWS OF 2000");
    assert_eq!((cause(&finding), remedy(&finding)), ("row-start", "pad-rows"), "{finding:#}");
}

#[test]
fn rows_of_a_constant_length_are_no_border() {
    let finding = only("constant", "misaligned-access", "ROWS OF A CONSTANT LENGTH");
    assert_eq!(remedy(&finding), "pad-rows", "{finding:#}");
}

#[test]
fn nothing_aligns_the_element_before() {
    let found = TWENTY_SECOND.alone("before", "misaligned-access", "THE ONE BEFORE");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn loads_are_counted_by_the_launches_that_make_them() {
    let finding = only("layers", "repeated-load", "WEIGHTS OF A LAYER");
    assert_eq!(cause(&finding), "l1-limited-loads", "{finding:#}");
    assert_eq!(finding["evidence"]["times"], 2048.0, "{finding:#}");
}

#[test]
fn who_adds_nothing_reads() {
    let finding = only("limit", "atomic-contention", "READS BY ADDING");
    assert_eq!((cause(&finding), remedy(&finding)), ("atomic-read", "load-instead"), "{finding:#}");
}

#[test]
fn elements_of_two_bytes_are_padded_by_a_word() {
    let finding = only("shorts", "bank-conflict", "STEPS OF SHORTS");
    assert_eq!((cause(&finding), remedy(&finding)), ("changing-stride", "pad-periodically"), "{finding:#}");
    let evidence = &finding["evidence"];
    assert_eq!(
        (&evidence["padding_elements"], &evidence["padding_period"]),
        (&2.0.into(), &64.0.into()),
        "{finding:#}"
    );
    assert_eq!((&evidence["worst_passes"], &evidence["padded_passes"]), (&8.0.into(), &1.0.into()), "{finding:#}");
}

#[test]
fn lists_of_one_begin_are_one_finding() {
    let found = TWENTY_SECOND.alone("lists", "random-gather", "A LIST EACH");
    let of_lists: Vec<&Value> = found.iter().filter(|finding| cause(finding) == "row-per-thread").collect();
    assert_eq!(of_lists.len(), 1, "{found:#?}");
    let reason = reason(of_lists[0]);
    assert!(reason.contains("`weight`") && reason.contains("`place`"), "{reason}");
}

#[test]
fn small_tables_of_a_kernel_are_one_finding() {
    let finding = only("tables", "random-gather", "TWO SMALL TABLES");
    assert!(reason(&finding).matches('`').count() >= 4 && cause(&finding) == "small-table", "{finding:#}");
}

#[test]
fn lines_side_by_side_race_once() {
    let finding = only("parts", "race", "THREE RESULTS");
    assert_eq!(lines(&finding), 2, "{finding:#}");
}

#[test]
fn figures_that_gain_together_are_one_finding() {
    let finding = only("figures", "atomic-contention", "FOUR FIGURES");
    assert!(lines(&finding) == 3 && finding["gain"]["factor"].as_f64() > Some(1.0), "{finding:#}");
}

#[test]
fn loops_that_ask_for_others_results_wait() {
    let finding = only("tree", "divergent-branch", "UNTIL BOTH ARE THERE");
    assert_eq!(cause(&finding), "waiting-loop", "{finding:#}");
}

#[test]
fn what_a_caller_hands_over_is_left_out() {
    assert!(TWENTY_SECOND.alone("aligned", "divergent-branch", "HOW IT IS ALIGNED").is_empty());
}

#[test]
fn parts_of_each_thread_are_transposed_wherever_data_leads_in_them() {
    let finding = only("behind", "random-gather", "THE ELEMENT BEHIND");
    assert_eq!(cause(&finding), "private-region", "{finding:#}");
}

#[test]
fn shapes_are_compared_by_traffic_of_dram_alone() {
    let found = TWENTY_SECOND.profiled("upwards", &["upwards"]);
    let found = found["findings"].as_array().expect("findings");
    assert!(found.iter().all(|one| one["id"] != "block-shape"), "{found:#?}");
}

#[test]
fn parts_of_l1_are_not_modelled() {
    assert!(TWENTY_SECOND.alone("standard", "cache-thrash", "THREE TIMES OVER").is_empty());
}

#[test]
fn what_takes_most_of_the_time_is_no_last_step() {
    for finding in TWENTY_SECOND.profiled("recurrence", &["recurrence"])["findings"].as_array().expect("findings") {
        assert_ne!(finding["cause"], "last-step", "{finding:#}");
    }
}

#[test]
fn two_parts_of_a_number_are_one_access() {
    let finding = only("complex", "strided-access", "TWO PARTS");
    assert_eq!(remedy(&finding), "wide-access", "{finding:#}");
    assert_eq!(lines(&finding), 1, "{finding:#}");
}

#[test]
fn steps_in_place_are_short_launches() {
    let finding = only("days", "launch-overhead", "DAY BY DAY");
    let diagnosed = (cause(&finding), remedy(&finding));
    assert_eq!(diagnosed, ("short-launches", "merge-launches-or-cuda-graph"), "{finding:#}");
    assert_eq!(finding["evidence"]["launches"], 64.0, "{finding:#}");
}

#[test]
fn what_another_array_has_is_handed_on() {
    let finding = only("stages", "redundant-copy", "WHAT THE STAGE BEFORE MADE");
    assert_eq!(finding["evidence"]["unchanged_copies"], 4.0, "{finding:#}");
    assert_eq!(finding["remedy"], "exchange-pointers", "{finding:#}");
    assert!(finding["gain"]["factor"].is_number(), "{finding:#}");
}

#[test]
fn what_the_host_scales_comes_and_goes() {
    let finding = only("scaled", "host-round-trip", "SCALED ON THE HOST");
    assert_eq!(finding["cause"], "replaced-from-other-host-memory", "{finding:#}");
    assert!(finding["severity"] == "warning" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn loops_that_end_where_others_have_decided_wait() {
    for finding in TWENTY_SECOND.alone("decided", "divergent-branch", "UNTIL ALL ARE DECIDED") {
        assert_eq!(cause(&finding), "waiting-loop", "{finding:#}");
    }
}

#[test]
fn one_request_is_nothing_to_gather() {
    let found = TWENTY_SECOND.alone("rooted", "partial-write", "THE ROOT");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_is_left_by_several_kernels_is_no_step() {
    let found = TWENTY_SECOND.alone("ways", "cache-sweep", "TWO WAYS");
    assert!(!found.is_empty(), "no finding");
    for finding in &found {
        assert_eq!((cause(finding), &finding["severity"]), ("independent-launches", &"note".into()), "{finding:#}");
    }
}

#[test]
fn no_order_helps_indices_that_are_in_order() {
    let found = TWENTY_SECOND.alone("listed", "random-gather", "ONE OF EIGHT");
    assert!(found.is_empty(), "{found:#?}");
}
