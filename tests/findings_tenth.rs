//! Planted problems that were not found, or told in part (`docs/design/findings.md`, twelfth round), each as a small case in one
//! program for a GPU that has many units for double precision.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::on_a100("tests/judged/tenth.cu", "findings-tenth");

#[test]
fn accesses_to_rows_that_begin_anywhere_waste_sectors_together() {
    let (_, reason, cure) = PROGRAM.first("misaligned-access", "ROWS");
    assert!(reason.contains("`image`") && reason.contains("where rows happen to begin"), "{reason}");
    assert!(cure.contains("the length of a row a multiple of 32 bytes"), "{cure}");
}

#[test]
fn doubles_that_nobody_wanted_are_told_where_everything_waits_for_them() {
    let (finding, reason, cure) = PROGRAM.first("double-precision", "LITERALS");
    assert!(reason.contains("the kernel loads and stores floats"), "{reason}");
    assert!(cure.contains("0.5f"), "{cure}");
    // 32 units for doubles and 64 for floats: what was there stays, and what moves takes half of its time.
    let factor = finding["gain"]["factor"].as_f64().expect("a gain");
    assert!((1.2..2.01).contains(&factor), "{finding:#}");
    assert!(PROGRAM.all("double-precision", "WANTED").is_empty());
}
