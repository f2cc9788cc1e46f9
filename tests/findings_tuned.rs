//! Findings in kernels as experts write them (`docs/design/findings.md`): what is left to find has a cure that fits.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/tuned.cu", "findings-tuned");

#[test]
fn elements_that_data_chooses_are_no_part_of_a_thread() {
    let (_, _, cure) = PROGRAM.first("strided-access", "CHOSEN");
    assert!(cure.starts_with("the index comes out of memory") && !cure.contains("of its own"), "{cure}");
}

#[test]
fn a_copy_per_warp_does_not_part_the_lanes_of_a_warp() {
    let (_, _, cure) = PROGRAM.first("atomic-contention", "CLUSTERS");
    assert!(cure.contains("neighbouring lanes take different ones") && !cure.contains("per warp"), "{cure}");
}

#[test]
fn steps_of_an_unrolled_sort_have_no_rows_to_pad() {
    let all = PROGRAM.all("bank-conflict", "SORT");
    assert!(!all.is_empty());
    for finding in all {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(!cure.contains("rows") && !cure.contains("exchange"), "{cure}");
    }
}

#[test]
fn threads_that_load_a_halo_are_no_neighbours() {
    assert!(PROGRAM.all("strided-access", "HALO").is_empty());
}
