//! Double precision.

use super::program::{cause, remedy};
use super::programs::{TENTH, THIRD};

#[test]
fn pairs_of_floats_are_no_doubles() {
    let (finding, ..) = THIRD.first("double-precision", "LITERALS");
    assert_eq!(
        (cause(finding), remedy(finding)),
        ("promoted-to-double", "float-literals-and-functions"),
        "{finding:#}"
    );
}

#[test]
fn doubles_that_no_one_wanted_are_reported_where_everything_waits_for_them() {
    let (finding, ..) = TENTH.first("double-precision", "LITERALS");
    assert_eq!(
        (cause(finding), remedy(finding)),
        ("promoted-to-double", "float-literals-and-functions"),
        "{finding:#}"
    );
    // 32 units for doubles and 64 for floats: what was there stays, and what moves takes half of its time.
    let factor = finding["gain"]["factor"].as_f64().expect("a gain");
    assert!((1.2..2.01).contains(&factor), "{finding:#}");
    assert!(TENTH.all("double-precision", "WANTED").is_empty());
}
