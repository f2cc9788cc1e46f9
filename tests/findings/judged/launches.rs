//! Launches that do not fill the GPU.

use super::program::diagnosis;
use super::programs::{EIGHTH_MORE, FIRST, FOURTEENTH, FOURTH, MANY_STARTS, SIXTH, THIRD, THIRTEENTH, TWELFTH};

#[test]
fn a_single_warp_is_not_spread_over_all_sms() {
    // Nor is what takes less than its start worth a word.
    assert!(FIRST.all("small-launch", "ONE WARP").is_empty());
}

#[test]
fn launches_that_write_apart_could_be_one() {
    let (finding, ..) = THIRD.first("launch-overhead", "A LAUNCH PER ROW");
    assert_eq!(finding["severity"], "warning", "{finding:#}");
    assert_eq!(diagnosis(finding), ("independent-launches", "add-grid-dimension"));
    assert_eq!(finding["evidence"]["launches"], 64.0, "{finding:#}");
    // Each of these needs what the one before wrote.
    for id in ["small-launch", "launch-overhead"] {
        for finding in THIRD.all(id, "STEP BY STEP") {
            assert_eq!(finding["severity"], "note", "{finding:#}");
            assert_ne!(diagnosis(finding).1, "add-grid-dimension");
        }
    }
}

#[test]
fn few_blocks_exits_and_parts() {
    let profile = FOURTH.profiled("few", &["few"]);
    let all = profile["findings"].as_array().expect("findings");
    let of = |id: &str, kernel: &str| {
        let name = |number: &serde_json::Value| {
            profile["kernels"].as_array()?.iter().find(|one| one["id"] == *number)?["name"].as_str()
        };
        all.iter()
            .filter(|one| one["id"] == id && name(&one["kernel"]).is_some_and(|name| name.starts_with(kernel)))
            .collect::<Vec<_>>()
    };
    // A block is a warp, which is not divided.
    for finding in of("small-launch", "number") {
        assert!(finding["gain"].is_null() && finding["severity"] == "note", "{finding:#}");
    }
    let leaves = of("divergent-branch", "bisect");
    assert!(leaves.first().is_some_and(|one| one["cause"] == "varying-trip-count"), "{all:#?}");
    assert!(of("misaligned-access", "shift").is_empty(), "{all:#?}");
}

#[test]
fn short_launches_have_no_gain_and_steps_by_the_grid_are_seen() {
    for finding in SIXTH.all("small-launch", "SHORT") {
        assert!(finding["gain"].is_null(), "{finding:#}");
    }
    let (finding, ..) = SIXTH.first("small-launch", "STEPS");
    assert_eq!(finding["severity"], "warning", "{finding:#}");
}

#[test]
fn launches_that_another_kernel_feeds_are_not_one() {
    let all = EIGHTH_MORE.all("small-launch", "STEPS");
    for finding in &all {
        assert_ne!(diagnosis(finding).1, "add-grid-dimension");
        assert_eq!(finding["severity"], "note", "{finding:#}");
    }
}

#[test]
fn grids_that_cover_the_data_follow_from_it() {
    let (finding, ..) = TWELFTH.first("small-launch", "COVERED");
    assert_eq!(finding["severity"], "note", "{finding:#}");
}

#[test]
fn kernels_that_do_next_to_nothing_have_nothing_to_share() {
    for id in ["partial-warps", "small-launch"] {
        let found = THIRTEENTH.alone("nothing", id, "NEXT TO NOTHING");
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn last_steps_of_one_block_join_the_kernel_before() {
    let found = FOURTEENTH.alone("sums", "small-launch", "LAST STEP");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(diagnosis(finding), ("last-step", "last-block-of-previous-kernel"));
}

#[test]
fn steps_in_place_that_others_go_on_with_are_not_the_last() {
    let found = FOURTEENTH.alone("tiles", "small-launch", "FIRST STEP");
    assert!(found.iter().all(|finding| diagnosis(finding).0 != "last-step"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn launches_shorter_than_their_starts_could_be_one() {
    let found = MANY_STARTS.alone("pictures", "launch-overhead", "A LAUNCH PER PICTURE");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["severity"], "warning", "{finding:#}");
    assert_eq!(diagnosis(finding), ("independent-launches", "add-grid-dimension"));
    let starts = finding["evidence"]["start_seconds"].as_f64().expect("seconds");
    assert!((starts - 288e-6).abs() < 1e-9, "{finding:#}");
    let fixed = MANY_STARTS.profiled("one-launch", &["one-launch"]);
    assert!(fixed["findings"].as_array().is_some_and(Vec::is_empty), "{:#}", fixed["findings"]);
}

#[test]
fn launches_that_load_what_they_store_may_need_one_another() {
    let found = MANY_STARTS.alone("rows", "launch-overhead", "A LAUNCH PER ROW");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    // The starts dominate, whether or not the launches can be merged.
    assert!(finding["severity"] == "warning" && finding["gain"].is_null(), "{finding:#}");
    assert_eq!(diagnosis(finding), ("short-launches", "merge-launches-or-cuda-graph"));
    assert_eq!(finding["evidence"]["launches"], 1023.0, "{finding:#}");
}

#[test]
fn steps_by_the_grid_fill_the_gpu() {
    let found = MANY_STARTS.alone("few-blocks", "small-launch", "STEPS");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["severity"], "warning", "{finding:#}");
    assert_eq!(diagnosis(finding), ("few-blocks-of-grid-stride-loop", "launch-more-blocks"));
    let gain = finding["gain"]["factor"].as_f64().expect("a gain");
    assert!((2.5..2.8).contains(&gain), "{finding:#}");
    assert!(MANY_STARTS.alone("all-blocks", "small-launch", "STEPS").is_empty());
}

#[test]
fn several_blocks_share_a_plane() {
    let found = MANY_STARTS.alone("planes", "small-launch", "A BLOCK PER PLANE");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["severity"], "note", "{finding:#}");
    assert_eq!(diagnosis(finding), ("few-blocks", "fill-gpu"));
    assert!(finding["gain"]["factor"].as_f64() > Some(4.0), "{finding:#}");
}
