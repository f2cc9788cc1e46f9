//! Allocations and host memory.

use super::program::cure;
use super::programs::{FIRST, FOURTH, SECOND, STATES, THIRD, THIRTEENTH, TWELFTH};

#[test]
fn ways_to_one_allocation_are_one_finding() {
    let (finding, reason, _) = FIRST.only("allocation-churn", "CHURN");
    assert_eq!(finding["evidence"]["allocations"], 50.0);
    assert!(reason.contains("allocated 50 times here"), "{reason}");
}

#[test]
fn unrolled_turns_are_one_place() {
    let (finding, reason, _) = SECOND.first("allocation-churn", "UNROLLED CHURN");
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    assert!(reason.contains("at most 1 alive"), "{reason}");
    let (finding, reason, cure) = SECOND.first("redundant-copy", "BACK AND FORTH");
    assert_eq!(
        (&finding["evidence"]["copies"], &finding["evidence"]["unchanged_copies"]),
        (&12.0.into(), &12.0.into())
    );
    assert!(reason.contains("`data` and `other` are copied"), "{reason}");
    assert!(cure.contains("leave it on the device"), "{cure}");
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
    let (finding, reason, _) = SECOND.first("host-memory", "NEIGHBOURS");
    // Nine neighbours, three launches.
    assert!(reason.contains("lanes use each byte 27 times"), "{reason}");
    assert!(finding["evidence"]["uses"].as_f64().is_some_and(|uses| (26.9..=27.0).contains(&uses)), "{finding:#}");
}

#[test]
fn elements_of_containers_are_told_apart() {
    let (_, reason, _) = THIRD.first("unused-allocation", "LAYERS");
    assert!(reason.contains("number 5 of 5"), "{reason}");
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
fn host_memory_that_caches_keep_is_told() {
    let (_, reason, _) = FOURTH.first("host-memory", "DELAY LINE");
    assert!(reason.contains("lanes use each byte 8 times"), "{reason}");
}

#[test]
fn scratch_memory_of_an_algorithm_is_the_allocator_s() {
    let (_, reason, cure) = FOURTH.first("allocation-churn", "SCRATCH");
    assert!(
        reason.contains("scratch memory of `thrust::reduce`") && cure.contains("thrust::cuda::par("),
        "{reason} {cure}"
    );
}

#[test]
fn mapped_memory_that_is_used_once_may_stay() {
    let (finding, _, cure) = TWELFTH.first("host-memory", "MAPPED");
    assert!(cure.starts_with("each byte crosses the bus about once") && finding["severity"] == "note", "{finding:#}");
}

#[test]
fn elements_of_an_array_are_alive_beside_each_other() {
    assert!(TWELFTH.all("allocation-churn", "PIECES").is_empty());
    let unused = TWELFTH.all("unused-allocation", "PIECES");
    assert_eq!(unused.len(), 1, "{unused:#?}");
    assert!(
        unused[0]["reason"]
            .as_str()
            .expect("a reason")
            .starts_with("`pieces[0]` (1.0 KiB) and others of its array, 256")
    );
}

#[test]
fn members_of_elements_of_an_array_are_one_finding() {
    let unused = THIRTEENTH.alone("members", "unused-allocation", "SPARE");
    assert_eq!(unused.len(), 1, "{unused:#?}");
    let reason = unused[0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("`members[0].spare` (64.0 KiB) and others of its array, 16 allocations"), "{reason}");
    assert!(reason.contains("are never used"), "{reason}");
}

#[test]
fn memory_of_a_copied_object_is_told_where_the_copy_is_made() {
    let found = STATES.alone("by_value", "allocation-churn", "HANDED BY VALUE");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    let reason = finding["reason"].as_str().expect("a reason");
    assert!(
        reason.contains(
            "allocated 12 times for the copy of a `Owned<float>` that is made here (by line 11 of states.cu)"
        ),
        "{reason}"
    );
    assert!(cure(finding).starts_with("hand the `Owned<float>` on by reference"), "{finding:#}");
    assert!(STATES.alone("by_value", "allocation-churn", "ALLOCATED").is_empty());
    let found = STATES.alone("returned", "allocation-churn", "RETURNED");
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    assert!(STATES.alone("returned", "allocation-churn", "ALLOCATED").is_empty());
}
