//! Allocations and host memory.

use super::program::diagnosis;
use super::programs::{FIRST, FOURTH, SECOND, STATES, THIRD, THIRTEENTH, TWELFTH};

#[test]
fn ways_to_one_allocation_are_one_finding() {
    let (finding, ..) = FIRST.only("allocation-churn", "CHURN");
    assert_eq!(finding["evidence"]["allocations"], 50.0);
}

#[test]
fn unrolled_turns_are_one_place() {
    let (finding, ..) = SECOND.first("allocation-churn", "UNROLLED CHURN");
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    assert_eq!(finding["evidence"]["live_at_once"], 1.0);
    let (finding, ..) = SECOND.first("redundant-copy", "BACK AND FORTH");
    assert_eq!(
        (&finding["evidence"]["copies"], &finding["evidence"]["unchanged_copies"]),
        (&12.0.into(), &12.0.into())
    );
    assert_eq!(diagnosis(finding), ("unchanged-input-of-written-memory", "keep-on-device"));
    let (finding, ..) = SECOND.first("small-copies", "ROWS");
    assert_eq!(finding["evidence"]["copies"], 300.0);
}

#[test]
fn memory_of_a_helper_belongs_to_its_caller() {
    let (finding, ..) = SECOND.first("unused-allocation", "FOR WHOM");
    assert_eq!(finding["object"], "workspace");
    assert!(SECOND.all("unused-allocation", "HELPER").is_empty());
}

#[test]
fn host_memory_says_how_often_it_is_used() {
    let (finding, ..) = SECOND.first("host-memory", "NEIGHBOURS");
    assert_eq!(diagnosis(finding), ("reused-host-memory", "copy-to-device"));
    // Nine neighbours, three launches.
    assert!(finding["evidence"]["uses"].as_f64().is_some_and(|uses| (26.9..=27.0).contains(&uses)), "{finding:#}");
}

#[test]
fn elements_of_containers_are_distinguished() {
    let (finding, ..) = THIRD.first("unused-allocation", "LAYERS");
    let ids: Vec<&serde_json::Value> = THIRD.document()["allocations"]
        .as_array()
        .expect("allocations")
        .iter()
        .filter(|row| row["name"] == finding["object"])
        .map(|row| &row["id"])
        .collect();
    assert_eq!((ids.len(), ids.last()), (5, Some(&&finding["allocation"])));
}

#[test]
fn pools_are_used_where_their_parts_are() {
    assert!(THIRD.all("unused-allocation", "POOL").is_empty());
}

#[test]
fn memory_of_programs_that_launch_nothing_is_not_unused() {
    let profile = THIRD.profiled("nothing", &["nothing"]);
    assert_eq!(profile["kernels"].as_array().map(Vec::len), Some(0));
    assert_eq!(profile["findings"].as_array().map(Vec::len), Some(0), "{:#}", profile["findings"]);
}

#[test]
fn host_memory_that_caches_keep_is_reported() {
    let (finding, ..) = FOURTH.first("host-memory", "DELAY LINE");
    assert!(finding["evidence"]["uses"].as_f64().is_some_and(|uses| uses.round() == 8.0), "{finding:#}");
}

#[test]
fn scratch_memory_of_an_algorithm_is_the_allocator_s() {
    let (finding, ..) = FOURTH.first("allocation-churn", "SCRATCH");
    assert_eq!(diagnosis(finding), ("library-scratch-per-call", "caching-allocator"));
}

#[test]
fn mapped_memory_that_is_used_once_may_stay() {
    let (finding, ..) = TWELFTH.first("host-memory", "MAPPED");
    assert_eq!((&finding["severity"], diagnosis(finding).1), (&"note".into(), "keep-mapped"));
}

#[test]
fn elements_of_an_array_are_alive_beside_each_other() {
    assert!(TWELFTH.all("allocation-churn", "PIECES").is_empty());
    let unused = TWELFTH.all("unused-allocation", "PIECES");
    assert_eq!(unused.len(), 1, "{unused:#?}");
    assert_eq!(unused[0]["evidence"]["bytes"], 256.0 * 1024.0, "{unused:#?}");
}

#[test]
fn members_of_elements_of_an_array_are_one_finding() {
    let unused = THIRTEENTH.alone("members", "unused-allocation", "SPARE");
    assert_eq!(unused.len(), 1, "{unused:#?}");
    assert_eq!(unused[0]["evidence"]["bytes"], 16.0 * 65536.0, "{unused:#?}");
}

#[test]
fn memory_of_a_copied_object_is_reported_where_the_copy_is_made() {
    let found = STATES.alone("by_value", "allocation-churn", "HANDED BY VALUE");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    assert_eq!(diagnosis(finding), ("allocated-per-object", "allocate-once"));
    assert!(STATES.alone("by_value", "allocation-churn", "ALLOCATED").is_empty());
    let found = STATES.alone("returned", "allocation-churn", "RETURNED");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    assert!(STATES.alone("returned", "allocation-churn", "ALLOCATED").is_empty());
}
