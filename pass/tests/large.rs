//! Large functions call what smaller ones write out at each use: they must do and record the same, in code that grows little.

#[allow(dead_code)] // Each test file uses a part of it.
mod common;

use common::lowering::{Form, folder, hooked, lowered, program, run};
use inkwell::context::Context;
use std::fmt::Write;

/// A kernel whose accesses are all scattered, under changing masks, with exponentials between them.
fn kernel(accesses: usize) -> String {
    let mut source = String::from(
        "KERNEL large(const unsigned *in, unsigned *out, int n) {\nunsigned i = THREAD;\nif (i >= n) return;\nunsigned a = in[i];\n",
    );
    for access in 0..accesses {
        let load = format!("a = a * {} + in[(a ^ {access}) & 511];", access * 2 + 3);
        let _ = match access % 8 {
            3 => writeln!(source, "if (a & {}) {{ {load} }}", 1 << (access % 5)),
            // Powers of whole numbers are exact, so plain code gives the same.
            5 => writeln!(source, "{load} a += static_cast<unsigned>(EX2(static_cast<float>(a & 15)));"),
            7 => writeln!(source, "out[i] = a; {load}"),
            _ => writeln!(source, "{load}"),
        };
    }
    source + "out[i] = a;\n}\n"
}

const LIST: &str = "#define KERNELS(X) X(large)\n";

/// Of the hooked kernel, and of the code that is made of all.
fn blocks(accesses: usize, large: usize) -> usize {
    let path = folder(&format!("large-{accesses}-{large}")).join("kernels.cu");
    let flow = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cpu/flow.h");
    std::fs::write(&path, format!("#define RANDOM\n#include \"{flow}\"\n{}", kernel(accesses)))
        .expect("source written");
    let context = Context::create();
    let (module, table) = hooked(&context, &path);
    let result = lowered(&module, &table, Form { large, ..Form::default() });
    result.get_function("warpline.hooked.general.large").expect("lowered").count_basic_blocks() as usize
}

#[test]
fn each_access_of_a_large_function_adds_a_block_at_most() {
    let growth = |large| blocks(800, large) - blocks(400, large);
    let (called, written) = (growth(warpline_pass::cpu::LARGE), growth(usize::MAX));
    assert!(called <= 400, "{called} blocks for 400 accesses");
    assert!(written > 3 * 400, "written out, 400 accesses take {written} blocks: nothing is gained by calls");
}

/// Returns whether all memory is known to be good or none is and some of it is bad.
#[test]
fn called_and_written_out_accesses_have_the_same_results_and_records() {
    let form = |name: &str, large| program(&folder(name), &kernel(120), LIST, Form { large, ..Form::default() });
    let (called, written) = (form("large-called", 0), form("large-written", usize::MAX));
    for arguments in [&[][..], &["strict"]] {
        let text = run(&called, arguments);
        assert!(text.contains("large: records "), "{text}");
        assert_eq!(text, run(&written, arguments), "{arguments:?}");
    }
    assert_ne!(run(&called, &[]), run(&called, &["strict"]), "bad memory is kept from");
}
