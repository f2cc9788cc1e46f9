//! Double precision.

use super::programs::{TENTH, THIRD};

#[test]
fn pairs_of_floats_are_no_doubles() {
    let (_, reason, cure) = THIRD.first("double-precision", "LITERALS");
    assert!(reason.contains("has 4 bytes each") && cure.contains("0.5f"), "{reason} {cure}");
}

#[test]
fn doubles_that_nobody_wanted_are_told_where_everything_waits_for_them() {
    let (finding, reason, cure) = TENTH.first("double-precision", "LITERALS");
    assert!(reason.contains("has 4 bytes each"), "{reason}");
    assert!(cure.contains("0.5f"), "{cure}");
    // 32 units for doubles and 64 for floats: what was there stays, and what moves takes half of its time.
    let factor = finding["gain"]["factor"].as_f64().expect("a gain");
    assert!((1.2..2.01).contains(&factor), "{finding:#}");
    assert!(TENTH.all("double-precision", "WANTED").is_empty());
}
