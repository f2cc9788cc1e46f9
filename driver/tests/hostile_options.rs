//! Random changes of files of options: reading them neither panics nor hangs.

#[path = "../../fuzz/harness.rs"]
mod harness;
#[path = "../../fuzz/entries/response.rs"]
mod response;

fn seeds() -> Vec<Vec<u8>> {
    [
        "-O3 -arch=sm_80 -DNAME=\"a b\" -I'c d' e\\ f.cu -o app",
        "@SELF\n--options-file SELF,SELF\t-Xcompiler=-fopenmp,-Wall",
        "--optf=SELF -optf nowhere \"unfinished",
        "\\",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

#[test]
fn changed_options() {
    harness::run("response", &seeds(), 200, response::run);
}

#[test]
#[ignore = "test-all"]
fn changed_options_at_length() {
    harness::at_length("response", &seeds(), response::run);
}
