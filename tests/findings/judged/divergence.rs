//! Divergent branches.

use super::program::cure;
use super::programs::{
    EIGHTH_MORE, ELEVENTH, FIFTEENTH, FIFTH, FOURTEENTH, NINTH, SECOND, SEVENTH, SEVENTH_SERIES, SIXTH_LOSS, THIRD,
    THIRTEENTH, TWELFTH,
};
use serde_json::Value;

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
    let (_, _, cure) = THIRD.first("divergent-branch", "LEADER");
    assert!(cure.starts_with("one lane of each group"), "{cure}");
}

#[test]
fn names_of_the_threads_number_are_known() {
    let (_, _, cure) = FIFTH.first("divergent-branch", "BORDER");
    assert!(cure.starts_with("the thread's number decides here"), "{cure}");
    let (_, _, cure) = FIFTH.first("divergent-branch", "KIND");
    assert!(cure.starts_with("what each lane has computed or loaded decides here"), "{cure}");
}

#[test]
fn one_thread_of_a_block_is_no_border() {
    let (_, _, cure) = SIXTH_LOSS.first("divergent-branch", "ONE");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn instantiations_of_a_template_are_one_finding() {
    let all = SIXTH_LOSS.all("divergent-branch", "ONE");
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0]["other_kernels"].as_array().map(Vec::len), Some(1), "{:#}", all[0]);
    let reason = all[0]["reason"].as_str().expect("a reason");
    assert!(reason.ends_with("; the same in another instantiation of the kernel"), "{reason}");
}

#[test]
fn the_first_thread_of_a_block_does_not_alternate() {
    let (_, _, cure) = SEVENTH.first("divergent-branch", "FIRST");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn lanes_without_work_leave_no_loop() {
    let (_, _, cure) = SEVENTH_SERIES.first("divergent-branch", "ZERO");
    assert!(!cure.contains("loops of about the same length"), "{cure}");
}

#[test]
fn rows_that_are_shorter_than_a_warp_leave_lanes_out() {
    let (_, _, cure) = EIGHTH_MORE.first("divergent-branch", "SHORT ROWS");
    assert!(cure.contains("give the threads that are left out elements of their own"), "{cure}");
}

#[test]
fn short_loops_are_not_only_told_to_sort_the_work() {
    let (_, _, cure) = NINTH.first("divergent-branch", "BITS");
    assert!(cure.contains("a fixed number of iterations"), "{cure}");
}

#[test]
fn bounds_that_are_no_multiple_of_a_warp_are_no_halving_loop() {
    let (_, _, cure) = NINTH.first("divergent-branch", "HUNDRED");
    assert!(cure.contains("a bound that is no multiple of 32"), "{cure}");
}

#[test]
fn branches_of_a_library_that_a_line_calls_are_not_its_own() {
    assert!(NINTH.all("divergent-branch", "LARGEST").is_empty());
}

#[test]
fn less_than_a_warp_of_threads_has_no_border() {
    let (_, _, cure) = NINTH.first("divergent-branch", "FEW");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn data_that_gives_few_lanes_work_is_collected() {
    let (_, _, cure) = ELEVENTH.first("divergent-branch", "FLAG");
    assert!(cure.starts_with("the data decides which lanes have work"), "{cure}");
}

#[test]
fn rows_of_tiles_are_not_told_to_sort_the_work() {
    let (_, _, cure) = ELEVENTH.first("divergent-branch", "TILE ROW");
    assert!(cure.starts_with("the threads share this loop already"), "{cure}");
}

#[test]
fn a_few_threads_of_each_block_are_no_border() {
    let (_, _, cure) = ELEVENTH.first("divergent-branch", "NINE");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn lists_shorter_than_a_warp_are_shared_by_fewer_lanes() {
    let (_, _, cure) = TWELFTH.first("divergent-branch", "SHORT LISTS");
    assert!(cure.contains("let as many lanes share one as it has elements"), "{cure}");
}

#[test]
fn short_sides_that_data_decides_over_are_left_as_they_are() {
    assert!(TWELFTH.all("divergent-branch", "EITHER").is_empty());
}

#[test]
fn conditions_in_the_head_of_a_loop_end_it() {
    let (_, _, cure) = TWELFTH.first("divergent-branch", "HEAD");
    assert!(cure.contains("loops of about the same length"), "{cure}");
}

#[test]
fn steps_of_a_scan_leave_nobody_out() {
    let found = THIRTEENTH.alone("scans", "divergent-branch", "STEP OF A SCAN");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn half_a_warp_is_more_than_a_few_lanes() {
    let found = THIRTEENTH.alone("curves", "divergent-branch", "HALF A WARP");
    assert!(found.iter().all(|finding| cure(finding).starts_with("the thread's number decides here")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn long_sides_of_a_border_and_of_data_have_cures_of_their_own() {
    let found = THIRTEENTH.alone("narrow", "divergent-branch", "BORDER OF A FIELD");
    assert!(found.iter().all(|finding| cure(finding).contains("a kernel of its own do the border")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = THIRTEENTH.alone("cases", "divergent-branch", "CASES OF A FUNCTION");
    let is_fit = |finding: &Value| {
        let cure = cure(finding);
        cure.starts_with("what each lane has computed or loaded decides") && !cure.contains("threadIdx.x / 32")
    };
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn leaders_of_small_groups_are_not_numbered_anew() {
    let found = FOURTEENTH.alone("eight", "divergent-branch", "LEADER OF EIGHT");
    assert!(
        found.iter().all(|finding| cure(finding).starts_with("one lane of each group does this part")),
        "{found:#?}"
    );
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn loops_on_a_side_are_not_done_by_all_lanes() {
    let found = FOURTEENTH.alone("materials", "divergent-branch", "LOOP ON A SIDE");
    assert!(found.iter().all(|finding| cure(finding).contains("where one of them is a loop")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn branches_in_loops_may_be_their_end() {
    let found = FOURTEENTH.alone("rare", "divergent-branch", "RARE IN A STEP");
    assert!(
        found.iter().all(|finding| cure(finding).contains("in an iteration of the loop around this")),
        "{found:#?}"
    );
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn loops_that_wait_for_others_have_no_work_to_sort() {
    let found = FOURTEENTH.alone("waits", "divergent-branch", "WAITED FOR");
    assert!(found.iter().all(|finding| cure(finding).starts_with("the loop waits here")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn nobody_is_told_to_choose_results() {
    assert!(FIFTEENTH.alone("near", "divergent-branch", "MOST WARPS DIVERGE").is_empty());
    assert!(FIFTEENTH.alone("sites", "divergent-branch", "WHOLE WARPS GO BY").is_empty());
}

#[test]
fn a_side_of_a_division_is_not_as_long_as_a_search() {
    let found = FIFTEENTH.alone("bounds", "divergent-branch", "ONE SIDE IS LONG");
    assert!(found.iter().all(|finding| !cure(finding).contains("both sides are long")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn the_end_of_a_do_is_no_loop_on_a_side() {
    assert!(FIFTEENTH.alone("steps", "divergent-branch", "WITHIN A DO").is_empty());
}

#[test]
fn borders_that_come_once_have_no_last_steps() {
    let found = FIFTEENTH.alone("box", "divergent-branch", "BORDER OF A BOX");
    let is_fit = |finding: &Value| {
        cure(finding).contains("a bound that is no multiple of 32") && !cure(finding).contains("step to step")
    };
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}
