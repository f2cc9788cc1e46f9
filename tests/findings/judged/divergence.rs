//! Divergent branches.

use super::program::cause;
use super::programs::{
    EIGHTH_MORE, ELEVENTH, FIFTEENTH, FIFTH, FOURTEENTH, NINTH, SECOND, SEVENTH, SEVENTH_SERIES, SIXTH_LOSS, THIRD,
    THIRTEENTH, TWELFTH,
};

#[test]
fn what_costs_little_is_a_note() {
    for (id, words) in
        [("divergent-branch", "SHORT GUARD"), ("double-precision", "ONE PRODUCT"), ("atomic-contention", "PER WARP")]
    {
        for finding in SECOND.all(id, words) {
            assert_eq!(finding["severity"], "note", "{words}: {finding:#}");
        }
    }
}

#[test]
fn elected_lanes_are_no_numbers_to_compare() {
    let (finding, ..) = THIRD.first("divergent-branch", "LEADER");
    assert_eq!(cause(finding), "few-lanes", "{finding:#}");
}

#[test]
fn names_of_the_threads_number_are_known() {
    let (finding, ..) = FIFTH.first("divergent-branch", "BORDER");
    assert_eq!(cause(finding), "threads-left-out", "{finding:#}");
    let (finding, ..) = FIFTH.first("divergent-branch", "KIND");
    assert_eq!(cause(finding), "value-selects-side", "{finding:#}");
}

#[test]
fn one_thread_of_a_block_is_no_border() {
    let (finding, ..) = SIXTH_LOSS.first("divergent-branch", "ONE");
    assert_eq!(cause(finding), "few-lanes", "{finding:#}");
}

#[test]
fn instantiations_of_a_template_are_one_finding() {
    let all = SIXTH_LOSS.all("divergent-branch", "ONE");
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0]["other_kernels"].as_array().map(Vec::len), Some(1), "{:#}", all[0]);
}

#[test]
fn the_first_thread_of_a_block_does_not_alternate() {
    let (finding, ..) = SEVENTH.first("divergent-branch", "FIRST");
    assert_eq!(cause(finding), "few-lanes", "{finding:#}");
}

#[test]
fn lanes_without_work_leave_no_loop() {
    let (finding, ..) = SEVENTH_SERIES.first("divergent-branch", "ZERO");
    assert_ne!(cause(finding), "varying-trip-count", "{finding:#}");
}

#[test]
fn rows_that_are_shorter_than_a_warp_leave_lanes_out() {
    let (finding, ..) = EIGHTH_MORE.first("divergent-branch", "SHORT ROWS");
    assert_eq!(cause(finding), "threads-left-out", "{finding:#}");
}

#[test]
fn short_loops_are_not_only_told_to_sort_the_work() {
    let (finding, ..) = NINTH.first("divergent-branch", "BITS");
    assert_eq!(cause(finding), "varying-trip-count", "{finding:#}");
}

#[test]
fn bounds_that_are_no_multiple_of_a_warp_are_no_halving_loop() {
    let (finding, ..) = NINTH.first("divergent-branch", "HUNDRED");
    assert_eq!(cause(finding), "threads-left-out", "{finding:#}");
}

#[test]
fn branches_of_a_library_that_a_line_calls_are_not_its_own() {
    assert!(NINTH.all("divergent-branch", "LARGEST").is_empty());
}

#[test]
fn less_than_a_warp_of_threads_has_no_border() {
    let (finding, ..) = NINTH.first("divergent-branch", "FEW");
    assert_eq!(cause(finding), "few-lanes", "{finding:#}");
}

#[test]
fn data_that_gives_few_lanes_work_is_collected() {
    let (finding, ..) = ELEVENTH.first("divergent-branch", "FLAG");
    assert_eq!(cause(finding), "value-selects-lanes", "{finding:#}");
}

#[test]
fn rows_of_tiles_are_not_advised_to_sort_the_work() {
    let (finding, ..) = ELEVENTH.first("divergent-branch", "TILE ROW");
    assert_eq!(cause(finding), "varying-trip-count", "{finding:#}");
}

#[test]
fn a_few_threads_of_each_block_leave_others_out() {
    let (finding, ..) = ELEVENTH.first("divergent-branch", "NINE");
    assert_eq!(cause(finding), "threads-left-out", "{finding:#}");
}

#[test]
fn lists_shorter_than_a_warp_are_shared_by_fewer_lanes() {
    let (finding, ..) = TWELFTH.first("divergent-branch", "SHORT LISTS");
    assert_eq!(cause(finding), "short-lists", "{finding:#}");
}

#[test]
fn short_sides_that_data_decides_over_are_left_as_they_are() {
    assert!(TWELFTH.all("divergent-branch", "EITHER").is_empty());
}

#[test]
fn conditions_in_the_head_of_a_loop_end_it() {
    let (finding, ..) = TWELFTH.first("divergent-branch", "HEAD");
    assert_eq!(cause(finding), "varying-trip-count", "{finding:#}");
}

#[test]
fn steps_of_a_scan_leave_no_one_out() {
    let found = THIRTEENTH.alone("scans", "divergent-branch", "STEP OF A SCAN");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn half_a_warp_is_more_than_a_few_lanes() {
    let found = THIRTEENTH.alone("curves", "divergent-branch", "HALF A WARP");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "threads-left-out", "{finding:#}");
}

#[test]
fn long_sides_of_a_border_and_of_data_have_cures_of_their_own() {
    let found = THIRTEENTH.alone("narrow", "divergent-branch", "BORDER OF A FIELD");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "alternating-sides", "{finding:#}");
    let found = THIRTEENTH.alone("cases", "divergent-branch", "CASES OF A FUNCTION");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "value-selects-side", "{finding:#}");
}

#[test]
fn leaders_of_small_groups_are_not_numbered_anew() {
    let found = FOURTEENTH.alone("eight", "divergent-branch", "LEADER OF EIGHT");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "interleaved-threads", "{finding:#}");
}

#[test]
fn branches_in_loops_may_be_their_end() {
    let found = FOURTEENTH.alone("rare", "divergent-branch", "RARE IN A STEP");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "value-selects-lanes", "{finding:#}");
}

#[test]
fn loops_that_wait_for_others_have_no_work_to_sort() {
    let found = FOURTEENTH.alone("waits", "divergent-branch", "WAITED FOR");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "waiting-loop", "{finding:#}");
}

#[test]
fn nobody_is_reported_to_choose_results() {
    assert!(FIFTEENTH.alone("near", "divergent-branch", "MOST WARPS DIVERGE").is_empty());
    assert!(FIFTEENTH.alone("sites", "divergent-branch", "WHOLE WARPS GO BY").is_empty());
}

#[test]
fn a_side_of_a_division_is_not_as_long_as_a_search() {
    let found = FIFTEENTH.alone("bounds", "divergent-branch", "ONE SIDE IS LONG");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_ne!(cause(finding), "value-selects-side", "{finding:#}");
}

#[test]
fn the_end_of_a_do_is_no_loop_on_a_side() {
    assert!(FIFTEENTH.alone("steps", "divergent-branch", "WITHIN A DO").is_empty());
}

#[test]
fn borders_that_come_once_have_no_last_steps() {
    let found = FIFTEENTH.alone("box", "divergent-branch", "BORDER OF A BOX");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(cause(finding), "threads-left-out", "{finding:#}");
}
