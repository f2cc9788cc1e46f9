//! Atomic operations that collide.

use super::program::{Judged, cause, remedy};
use super::programs::{ELEVENTH, FIFTEENTH, FIFTH, FIRST, SEVENTEENTH, SEVENTH, THIRD, THIRTEENTH, TUNED, TWELFTH};
use crate::planted_program::document;
use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;
use std::process::Command;

/// Cause and remedy of the first finding there.
fn first(program: &'static Judged, words: &str) -> (&'static str, &'static str) {
    let (finding, ..) = program.first("atomic-contention", words);
    (cause(finding), remedy(finding))
}

/// The only finding of a run of one case.
fn alone(case: &str, words: &str) -> Value {
    let found = FIFTEENTH.alone(case, "atomic-contention", words);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().expect("a finding")
}

#[test]
fn atomics_on_several_addresses_gain_together_alone() {
    for (words, expected) in
        [("ADD", "single-address"), ("EXCHANGE", "exchange-without-result"), ("MAX", "single-address")]
    {
        // Those with one remedy are one finding, with a gain that all lines together have.
        let found = FIRST.about("atomic-contention", words);
        let [finding] = found[..] else { panic!("{words}: {found:#?}") };
        assert_eq!(cause(finding), expected, "{finding:#}");
        assert!(finding["gain"]["factor"].as_f64() > Some(1.0), "{finding:#}");
    }
}

#[test]
fn exchanges_are_not_reduced() {
    assert_eq!(first(&FIRST, "EXCHANGE"), ("exchange-without-result", "plain-store"));
    assert_eq!(first(&THIRTEENTH, "FLAG"), ("exchange-without-result", "plain-store"));
    let found = FIRST.about("atomic-contention", "MAX");
    assert!(found.len() == 1 && remedy(found[0]) == "reduce-within-block", "{found:#?}");
}

#[test]
fn slots_of_a_queue_are_taken_for_a_warp() {
    assert_eq!(first(&THIRD, "QUEUE"), ("slot-per-lane", "warp-aggregated-slots"));
    assert_eq!(first(&FIFTH, "POP"), ("slot-per-lane", "warp-aggregated-slots"));
    assert_eq!(first(&THIRD, "HOT WORD"), ("collisions-in-shared-memory", "combine-or-replicate"));
}

#[test]
fn attempts_are_neither_exchanges_nor_loops_of_work() {
    assert_eq!(first(&THIRD, "ATTEMPTS"), ("compare-and-swap-loop", "native-atomic-or-combine"));
    assert!(THIRD.all("divergent-branch", "ATTEMPTS").is_empty());
    assert!(THIRD.all("uniform-load", "READ ONCE").is_empty());
}

#[test]
fn attempts_without_retry_are_no_loops() {
    let expected = ("compare-and-swap-without-retry", "test-before-compare-and-swap");
    assert_eq!(first(&SEVENTEENTH, "NOT REPEATED"), expected);
}

#[test]
fn tickets_are_no_sums() {
    assert_eq!(first(&SEVENTH, "TICKET"), ("shared-slot-counter", "reserve-several-slots"));
}

#[test]
fn lanes_that_collide_in_shared_memory_combine_or_have_copies() {
    assert_eq!(first(&ELEVENTH, "BITS"), ("collisions-in-shared-memory", "combine-or-replicate"));
    assert_eq!(first(&TUNED, "CLUSTERS"), ("collisions-in-shared-memory", "combine-or-replicate"));
}

#[test]
fn arrays_of_sums_are_privatised() {
    assert_eq!(first(&TWELFTH, "ONCE"), ("small-array", "privatise-in-shared-memory"));
    let finding = alone("bins", "BINS OF ALL");
    assert_eq!(remedy(&finding), "privatise-in-shared-memory", "{finding:#}");
    assert!(finding["gain"]["factor"].as_f64() > Some(2.0), "{finding:#}");
}

#[test]
fn gains_of_merged_operations_are_evidence() {
    let (finding, ..) = THIRTEENTH.first("atomic-contention", "COLLIDES");
    assert_eq!(finding["evidence"]["gain_if_merged"], 4.0, "{finding:#}");
}

#[test]
fn arrays_larger_than_shared_memory_have_no_copies_there() {
    let finding = alone("large", "TOO LARGE TO COPY");
    assert_eq!((cause(&finding), remedy(&finding)), ("large-array", "combine-or-sort"), "{finding:#}");
}

#[test]
fn slots_of_several_lists_are_not_only_counted() {
    let finding = alone("kinds", "PLACES IN LISTS");
    assert_eq!(
        (cause(&finding), remedy(&finding)),
        ("slots-of-several-lists", "reserve-slots-per-block"),
        "{finding:#}"
    );
    let finding = alone("places", "PLACES OF A BLOCK");
    assert_eq!(
        (cause(&finding), remedy(&finding)),
        ("slots-of-several-lists", "aggregate-matching-lanes"),
        "{finding:#}"
    );
}

/// Arrivals at a barrier object update no data; the counter next to them does.
#[test]
fn arrivals_at_barriers_are_no_contention() {
    let folder = work_folder("findings-barrier_arrivals");
    let program = root().join("tests/findings/judged/barrier_arrivals.cu");
    let text = std::fs::read_to_string(&program).expect("the program's source");
    let counter = 1 + text.lines().position(|line| line.ends_with("// COUNTER")).expect("a marked line");
    let executable = build(&[program], &["-O3", "-g", "-arch=sm_80"].map(str::to_owned), &folder);
    let mut command = Command::new(warpline());
    command.arg("run").arg("-o").arg(folder.join("profile.wlprof")).arg("--").arg(executable);
    assert!(run(&mut command, &folder, "run").status.success());
    let document = document(&folder);
    let findings = document["findings"].as_array().expect("findings");
    let found: Vec<&Value> = findings.iter().filter(|finding| finding["id"] == "atomic-contention").collect();
    assert!(matches!(found[..], [one] if one["line"] == counter), "{found:#?}");
    assert_eq!(remedy(found[0]), "combine-or-replicate", "{found:#?}");
}

/// The largest group of lanes at one address is no mean over the addresses.
#[test]
fn lanes_of_an_address_are_counted_over_all_addresses() {
    let evidence = &alone("bins", "BINS OF ALL")["evidence"];
    let (largest, mean) = (evidence["lanes_on_one_address"].as_f64(), evidence["lanes_per_address"].as_f64());
    assert!(mean >= Some(1.0) && mean < largest, "{evidence:#}");
}
