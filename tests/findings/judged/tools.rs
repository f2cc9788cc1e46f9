//! Findings about the compiler.

use super::programs::SECOND;

#[test]
fn the_compiler_and_its_options_are_reported() {
    let assumptions = &SECOND.document()["run"]["assumptions"];
    assert!(assumptions["compiler"].as_str().expect("a compiler").starts_with("LLVM 22."), "{assumptions:#}");
    assert!(assumptions["compiler_options"].as_str().expect("options").starts_with("-O3"), "{assumptions:#}");
}
