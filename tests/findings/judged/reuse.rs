//! Data that is loaded again, by warps, blocks or launches.

use super::program::{cause, remedy};
use super::programs::{
    EIGHTH, ELEVENTH, FIFTEENTH, FIFTH, FIRST, FOURTEENTH, IN_PLACE, LAYERS, NINTH, SIXTH_SWEEP, STATES, THIRD,
    THIRTEENTH, TWELFTH,
};

#[test]
fn constant_memory_is_advised_where_data_fits() {
    let (finding, ..) = FIRST.only("uniform-load", "SMALL");
    assert_eq!((cause(finding), remedy(finding)), ("constant-table", "use-constant-memory"));
    let (finding, ..) = FIRST.only("uniform-load", "LARGE");
    assert_eq!((cause(finding), remedy(finding)), ("broadcast-load", "load-once"));
}

#[test]
fn constant_passes_and_broadcasts_have_a_gain() {
    let (finding, ..) = THIRD.first("constant-serialised", "PALETTE");
    assert!(finding["gain"]["factor"].as_f64().is_some_and(|factor| factor > 2.0), "{finding:#}");
    // The kernel has a small share of this program's time, so it is no more than a note.
    let (finding, ..) = THIRD.first("uniform-load", "CENTROIDS");
    assert_eq!(finding["severity"], "note", "{finding:#}");
    assert!(finding["gain"]["factor"].as_f64().is_some_and(|factor| factor > 1.2), "{finding:#}");
}

#[test]
fn data_that_is_renewed_is_not_swept_again() {
    assert!(FIFTH.all("cache-sweep", "NEW DATA").is_empty());
}

#[test]
fn launches_on_other_memory_sweep_nothing() {
    for finding in SIXTH_SWEEP.all("cache-sweep", "SWEPT") {
        let of_input = finding["object"] == "in";
        let launches = if of_input { 3.0 } else { 6.0 };
        assert_eq!(finding["evidence"]["launches"], launches, "{finding:#}");
    }
    // One finding is about both arrays, or each has its own.
    let is_of_input = |finding: &&serde_json::Value| {
        finding["object"] == "in" || finding["lines"].as_array().is_some_and(|lines| !lines.is_empty())
    };
    assert!(SIXTH_SWEEP.all("cache-sweep", "SWEPT").iter().any(is_of_input));
}

#[test]
fn a_warp_that_walks_a_tree_together_loads_what_it_has_to() {
    assert!(EIGHTH.all("uniform-load", "WALK").is_empty());
    assert!(EIGHTH.all("uniform-load", "NEXT").is_empty());
}

#[test]
fn constant_memory_is_for_what_stays_small() {
    let (finding, ..) = NINTH.first("uniform-load", "STEPS");
    assert_eq!(remedy(finding), "use-constant-memory", "{finding:#}");
}

#[test]
fn constant_memory_is_not_for_what_lanes_read_apart() {
    let (finding, ..) = ELEVENTH.first("uniform-load", "CHOSEN");
    assert!(cause(finding) == "broadcast-load" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn one_block_shares_nothing_with_others() {
    let (finding, ..) = ELEVENTH.first("repeated-load", "AGAIN");
    assert_eq!(cause(finding), "reloaded-by-block", "{finding:#}");
}

#[test]
fn volatile_loads_go_past_l1_as_they_are_reported() {
    let (finding, ..) = TWELFTH.first("repeated-load", "VOLATILE");
    assert_eq!((cause(finding), remedy(finding)), ("loads-bypass-l1", "cache-loads"));
    assert_eq!(finding["severity"], "note");
}

#[test]
fn what_a_library_lays_out_is_no_finding() {
    for id in ["uniform-load", "struct-fields", "random-gather", "strided-access", "divergent-branch"] {
        assert!(TWELFTH.all(id, "SEEDED").is_empty(), "{id}: {:#}", TWELFTH.document()["findings"]);
    }
}

#[test]
fn a_few_points_are_not_loaded_again_in_vain() {
    let found = THIRTEENTH.alone("curves", "uniform-load", "POINTS");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_each_lane_stores_once_is_no_sum() {
    let found = THIRTEENTH.alone("waits", "memory-accumulator", "RAISED ONCE");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn who_loads_again_is_reported_by_the_reuse_of_blocks() {
    let found = FOURTEENTH.alone("again", "repeated-load", "AGAIN BY ONE");
    assert!(found.first().is_some_and(|finding| cause(finding) == "reloaded-by-block"), "{found:#?}");
    let found = FOURTEENTH.alone("chase", "repeated-load", "CHASE");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn launches_before_an_allocation_do_not_load_it() {
    let found = FIFTEENTH.alone("weights", "repeated-load", "WEIGHTS OF A LAUNCH");
    let times = |finding: &serde_json::Value| finding["evidence"]["times"].as_f64().unwrap_or(0.0);
    // A block for each SM and a few more, each of which goes through all of it.
    let is_fit = |finding: &serde_json::Value| (100.0..=120.0).contains(&times(finding));
    assert!(!found.is_empty() && found.iter().all(is_fit), "{found:#?}");
}

#[test]
fn what_is_changed_in_place_and_read_back_is_one_kernel() {
    let found = IN_PLACE.alone("before", "cache-sweep", "READ BACK");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((cause(finding), remedy(finding)), ("producer-consumer", "fuse-kernels"), "{finding:#}");
    assert!(finding["gain"]["factor"].as_f64() > Some(1.5), "{finding:#}");
    assert!(IN_PLACE.alone("after", "cache-sweep", "READ BACK").is_empty());
}

#[test]
fn steps_that_need_results_from_anywhere_stay_apart() {
    let found = IN_PLACE.alone("sparse", "cache-sweep", "A MATRIX");
    assert!(!found.is_empty());
    for finding in &found {
        assert!(finding["severity"] == "note" && finding["gain"].is_null(), "{finding:#}");
        assert_eq!((cause(finding), remedy(finding)), ("global-dependence", "shrink-data"), "{finding:#}");
    }
}

/// Fusing the launches keeps all three arrays, so that one finding has the gain of all.
#[test]
fn arrays_that_launches_sweep_together_are_one_finding() {
    let document = STATES.profiled("swept", &["swept"]);
    let all = document["findings"].as_array().expect("findings");
    let found: Vec<_> = all.iter().filter(|finding| finding["id"] == "cache-sweep").collect();
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((cause(finding), remedy(finding)), ("elementwise-launches", "fuse-launches"), "{finding:#}");
    assert!(finding["lines"].as_array().is_some_and(|lines| !lines.is_empty()), "{finding:#}");
    assert!(finding["gain"]["factor"].as_f64() > Some(3.0), "{finding:#}");
}

#[test]
fn what_no_loop_goes_over_is_no_loop_to_be_blocked() {
    let (finding, ..) = LAYERS.first("cache-sweep", "LAYERS");
    assert_eq!((cause(finding), remedy(finding)), ("distant-blocks", "iterate-within-block"), "{finding:#}");
}

#[test]
fn launches_that_repeat_each_other_are_no_steps() {
    let found = LAYERS.alone("again", "cache-sweep", "THE SAME AGAIN");
    for finding in &found {
        assert!(finding["severity"] == "note" && finding["gain"].is_null(), "{finding:#}");
        assert_eq!((cause(finding), remedy(finding)), ("independent-launches", "merge-launches"), "{finding:#}");
    }
    assert!(!found.is_empty());
}
