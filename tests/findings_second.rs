//! Findings that were wrong or missing when a second set of planted programs was tried (`docs/design/findings.md`), each as a
//! small case in one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/second.cu", "findings-second");

#[test]
fn factors_have_their_whole_names() {
    let (_, reason, cure) = PROGRAM.first("strided-access", "MEMBER");
    assert!(reason.contains("threadIdx.x is multiplied by `m.cols`"), "{reason}");
    assert!(cure.contains("a warp per row"), "{cure}");
    let (_, reason, _) = PROGRAM.first("strided-access", "PRODUCT");
    assert!(reason.contains("threadIdx.x is multiplied by `ny * nz`"), "{reason}");
}

#[test]
fn channels_are_not_transposed() {
    let (_, _, cure) = PROGRAM.first("strided-access", "CHANNELS");
    assert!(cure.contains("a plane") && !cure.contains("transposed"), "{cure}");
}

#[test]
fn neighbours_and_loaded_indices_are_not_misaligned_rows() {
    assert!(PROGRAM.all("misaligned-access", "NEIGHBOURS").is_empty());
    assert!(PROGRAM.all("misaligned-access", "SPARSE ROW").is_empty());
}

#[test]
fn three_floats_have_no_wide_access() {
    let (_, _, cure) = PROGRAM.first("struct-fields", "THREE FLOATS");
    assert!(
        cure.contains("pad `float3` to 16 bytes and write it as a whole") && !cure.contains("4 bytes at a time"),
        "{cure}"
    );
}

#[test]
fn rows_of_a_threads_own_are_turned_round() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "OWN BINS");
    assert!(cure.contains("exchange the indices") && cure.contains("[threadIdx.x]"), "{cure}");
}

#[test]
fn arrays_keep_their_names_when_taken_apart() {
    let (finding, ..) = PROGRAM.first("local-array", "TAKEN APART");
    assert_eq!(finding["object"], "best");
}

#[test]
fn what_costs_little_is_a_note() {
    for (id, words) in
        [("divergent-branch", "SHORT GUARD"), ("double-precision", "ONE PRODUCT"), ("atomic-contention", "PER WARP")]
    {
        for finding in PROGRAM.all(id, words) {
            assert_eq!(finding["severity"], "note", "{words}: {finding:#}");
        }
    }
}

#[test]
fn sums_in_memory_belong_in_a_register() {
    let (finding, reason, cure) = PROGRAM.first("memory-accumulator", "ACCUMULATED");
    // 8 warps of 32 threads, 256 turns each; a store before the loop is another line's.
    assert_eq!(finding["evidence"]["turns"], 256.0, "{finding:#}");
    assert_eq!(finding["evidence"]["requests"], 8.0 * 256.0, "{finding:#}");
    assert_eq!(finding["object"], "y");
    assert!(reason.contains("another pointer could lead to it") && cure.contains("local variable"), "{cure}");
    assert!(PROGRAM.all("memory-accumulator", "IN A REGISTER").is_empty());
}

#[test]
fn unrolled_turns_are_one_place() {
    let (finding, reason, _) = PROGRAM.first("allocation-churn", "UNROLLED CHURN");
    assert_eq!(finding["evidence"]["allocations"], 12.0);
    assert!(reason.contains("at most 1 alive"), "{reason}");
    let (finding, reason, cure) = PROGRAM.first("redundant-copy", "BACK AND FORTH");
    assert_eq!(
        (&finding["evidence"]["copies"], &finding["evidence"]["unchanged_copies"]),
        (&12.0.into(), &12.0.into())
    );
    assert!(reason.contains("`data` and `other` are copied"), "{reason}");
    assert!(cure.contains("leave it on the device"), "{cure}");
    let (finding, ..) = PROGRAM.first("small-copies", "ROWS");
    assert_eq!(finding["evidence"]["copies"], 300.0);
}

#[test]
fn asynchronous_copies_want_pinned_memory() {
    let (finding, reason, cure) = PROGRAM.first("pageable-copy", "NOT PINNED");
    assert_eq!(finding["severity"], "warning");
    assert!(reason.contains("`pageable`") && cure.contains("cudaMallocHost"), "{reason} {cure}");
}

#[test]
fn memory_of_a_helper_belongs_to_its_caller() {
    let (finding, ..) = PROGRAM.first("unused-allocation", "FOR WHOM");
    assert_eq!(finding["object"], "workspace");
    assert!(PROGRAM.all("unused-allocation", "HELPER").is_empty());
}

#[test]
fn host_memory_says_how_often_it_is_used() {
    let (finding, reason, _) = PROGRAM.first("host-memory", "NEIGHBOURS");
    // Nine neighbours, three launches.
    assert!(reason.contains("lanes use each byte 27 times"), "{reason}");
    assert!(finding["evidence"]["uses"].as_f64().is_some_and(|uses| (26.9..=27.0).contains(&uses)), "{finding:#}");
}

#[test]
fn the_compiler_and_its_options_are_told() {
    let assumptions = &PROGRAM.document()["run"]["assumptions"];
    assert!(assumptions["compiler"].as_str().expect("a compiler").starts_with("LLVM 22."), "{assumptions:#}");
    assert!(assumptions["compiler_options"].as_str().expect("options").starts_with("-O3"), "{assumptions:#}");
}
