//! Findings that were wrong or missing in a fifth and a sixth round of planted and public programs (`docs/design/findings.md`), each
//! as a small case in one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/fifth.cu", "findings-fifth");

#[test]
fn what_a_kernel_takes_of_a_structure_elsewhere_is_used() {
    let (_, reason, cure) = PROGRAM.first("struct-fields", "ONE MEMBER FIRST");
    assert!(
        reason.contains("uses all of its 16 bytes") && cure.starts_with("read `float4` as a whole"),
        "{reason} {cure}"
    );
}

#[test]
fn steps_of_a_tree_get_padding_behind_all_banks() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "TREE");
    assert!(cure.contains("index i becomes i + i / 32") && cure.contains("counted again"), "{cure}");
    assert!(!cure.contains("17 instead of 16"), "{cure}");
}

#[test]
fn structures_of_every_second_lane_are_structures() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "EVERY SECOND");
    assert!(!cure.contains("changes from request to request"), "{cure}");
}

#[test]
fn places_are_given_back_by_subtracting() {
    let (_, _, cure) = PROGRAM.first("atomic-contention", "POP");
    assert!(cure.contains("subtract __popc(m)"), "{cure}");
}

#[test]
fn one_thread_is_no_warp_of_several_pieces() {
    let (_, reason, cure) = PROGRAM.first("partial-warps", "ALONE");
    assert!(reason.contains("blocks of 1 thread fill 1 of the 32 lanes"), "{reason}");
    assert!(cure.starts_with("one thread does the work"), "{cure}");
    let (finding, _, cure) = PROGRAM.first("small-launch", "ALONE");
    assert!(!cure.contains("smaller blocks") && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn a_value_is_not_unrolled() {
    let (_, reason, cure) = PROGRAM.first("local-array", "ADDRESS");
    assert!(reason.contains("its address is taken") && cure.contains("__forceinline__"), "{reason} {cure}");
}

#[test]
fn names_of_the_threads_number_are_known() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "BORDER");
    assert!(cure.starts_with("the thread's number decides here"), "{cure}");
    let (_, _, cure) = PROGRAM.first("divergent-branch", "KIND");
    assert!(cure.starts_with("let whole warps take one side"), "{cure}");
}

#[test]
fn data_that_is_renewed_is_not_swept_again() {
    assert!(PROGRAM.all("cache-sweep", "NEW DATA").is_empty());
}

#[test]
fn what_goes_to_the_host_and_back_unchanged_could_stay() {
    let (finding, _, cure) = PROGRAM.first("redundant-copy", "FORTH");
    assert!(finding["evidence"]["unchanged_copies"].as_f64() >= Some(5.0), "{finding:#}");
    assert!(cure.contains("from `next` (512.0 KiB)") && cure.contains("exchange the two pointers"), "{cure}");
    assert!(PROGRAM.all("redundant-copy", "CHANGED").is_empty());
}

#[test]
fn arrays_of_textures_have_an_order_of_their_own() {
    assert!(PROGRAM.all("random-gather", "TEXTURE").is_empty() && PROGRAM.all("strided-access", "TEXTURE").is_empty());
}

#[test]
fn memory_of_a_helper_is_told_once() {
    assert_eq!(PROGRAM.all("untouched-copy", "MASK").len(), 1);
    let (_, reason, _) = PROGRAM.first("untouched-copy", "MASK");
    assert!(reason.contains("4 allocations like `d_mask`"), "{reason}");
}
