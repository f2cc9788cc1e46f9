//! Findings that were wrong or missing in a third round of planted programs and when more public programs were judged
//! (`docs/design/findings.md`), each as a small case in one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/third.cu", "findings-third");

#[test]
fn shapes_that_would_cover_other_elements_are_not_compared() {
    let (_, reason, _) = PROGRAM.first("strided-access", "SWAPPED");
    // Loaded together with the height, as the members lie side by side.
    assert!(reason.contains("multiplied by `input.width`"), "{reason}");
    let findings = PROGRAM.document()["findings"].as_array().expect("findings");
    let shapes: Vec<_> = findings.iter().filter(|finding| finding["id"] == "block-shape").collect();
    assert!(shapes.is_empty(), "{shapes:#?}");
}

#[test]
fn joined_words_are_padded_in_bytes() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "JOINED WORDS");
    assert!(cure.contains("144 bytes instead of 128 bytes apart") && cure.contains("padding enough"), "{cure}");
}

#[test]
fn members_around_a_ring_are_kept_in_arrays() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "RING");
    assert!(cure.starts_with("keep an array of each member") && !cure.contains("changes"), "{cure}");
}

#[test]
fn places_in_a_queue_are_taken_for_a_warp() {
    let (_, _, cure) = PROGRAM.first("atomic-contention", "QUEUE");
    assert!(cure.contains("__popc(m)") && cure.contains("below it"), "{cure}");
    let (_, _, cure) = PROGRAM.first("atomic-contention", "HOT WORD");
    assert!(cure.contains("shuffles") && cure.contains("for integers"), "{cure}");
}

#[test]
fn attempts_are_neither_exchanges_nor_loops_of_work() {
    let (_, _, cure) = PROGRAM.first("atomic-contention", "ATTEMPTS");
    assert!(cure.contains("try again") && !cure.contains("cannot be combined"), "{cure}");
    assert!(PROGRAM.all("divergent-branch", "ATTEMPTS").is_empty());
    assert!(PROGRAM.all("uniform-load", "READ ONCE").is_empty());
}

#[test]
fn pairs_of_floats_are_no_doubles() {
    let (_, reason, cure) = PROGRAM.first("double-precision", "LITERALS");
    assert!(reason.contains("loads and stores floats") && cure.contains("0.5f"), "{reason} {cure}");
}

#[test]
fn single_values_may_be_the_same_by_chance() {
    assert!(PROGRAM.all("redundant-copy", "BY CHANCE").is_empty());
}

#[test]
fn launches_that_write_apart_could_be_one() {
    let (finding, _, cure) = PROGRAM.first("small-launch", "A LAUNCH PER ROW");
    assert_eq!(finding["severity"], "warning", "{finding:#}");
    assert!(cure.contains("make one launch of the 64 launches"), "{cure}");
    // Each of these needs what the one before wrote.
    let (finding, _, cure) = PROGRAM.first("small-launch", "STEP BY STEP");
    assert_eq!(finding["severity"], "note", "{finding:#}");
    assert!(!cure.contains("make one launch"), "{cure}");
}

#[test]
fn constant_passes_and_broadcasts_have_a_gain() {
    let (finding, ..) = PROGRAM.first("constant-serialised", "PALETTE");
    assert!(finding["gain"]["factor"].as_f64().is_some_and(|factor| factor > 2.0), "{finding:#}");
    // The kernel has a small share of this program's time, so it is no more than a note.
    let (finding, ..) = PROGRAM.first("uniform-load", "CENTROIDS");
    assert_eq!(finding["severity"], "note", "{finding:#}");
    assert!(finding["gain"]["factor"].as_f64().is_some_and(|factor| factor > 1.2), "{finding:#}");
}

#[test]
fn records_are_no_rows() {
    let (_, _, cure) = PROGRAM.first("strided-access", "RECORDS");
    assert!(cure.contains("a field of a record of 32 bytes") && !cure.contains("transposed"), "{cure}");
}

#[test]
fn elected_lanes_are_no_numbers_to_compare() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "LEADER");
    assert!(cure.starts_with("one lane of each group"), "{cure}");
}

#[test]
fn objects_have_no_indices() {
    let (finding, reason, cure) = PROGRAM.first("local-array", "BY REFERENCE");
    assert_eq!(finding["object"], "scaled");
    assert!(reason.contains("by reference") && cure.contains("__forceinline__"), "{reason} {cure}");
    assert!(!cure.contains("constant indices"), "{cure}");
}

#[test]
fn elements_of_containers_are_told_apart() {
    let (_, reason, _) = PROGRAM.first("unused-allocation", "LAYERS");
    assert!(reason.contains("number 5 of 5"), "{reason}");
}

#[test]
fn pools_are_used_where_their_parts_are() {
    assert!(PROGRAM.all("unused-allocation", "POOL").is_empty());
}

#[test]
fn memory_of_programs_that_launch_nothing_is_not_unused() {
    let profile = PROGRAM.profiled("nothing", &["nothing"]);
    assert_eq!(profile["kernels"].as_array().map(Vec::len), Some(0));
    assert_eq!(profile["findings"].as_array().map(Vec::len), Some(0), "{:#}", profile["findings"]);
}
