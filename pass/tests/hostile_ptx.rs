//! Random changes of inline assembly: the parser neither panics nor hangs.

#[path = "../../fuzz/harness.rs"]
mod harness;
#[path = "../../fuzz/entries/ptx.rs"]
mod ptx;

const TEXTS: [&str; 8] = [
    "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p mov.u32 $0, %laneid; @!p mov.u32 $0, -1; }",
    "cp.async.ca.shared.global [$0], [$1 + 0x10], 16, $2;",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
    "mad.lo.cc.u32 $0, $2, $3, $4;\n\tmadc.hi.u32 $1, $2, $3, 0f3F800000; // carry",
    "tex.2d.v4.f32.f32 {$0,$1,$2,$3}, [$4, {$5, $6}];",
    "shfl.sync.down.b32 $0|p, $1, 1, 31, 0xffffffff;",
    "/* two */ ld.global.nc.v2.f64 {$0, $1}, [$2+-8]; bar.sync 0;",
    "atom.global.add.f32 $0, [$1], $2; membar.gl;",
];

fn seeds() -> Vec<Vec<u8>> {
    TEXTS.map(|text| text.as_bytes().to_vec()).to_vec()
}

#[test]
fn every_text_is_understood_as_it_is() {
    for text in TEXTS {
        assert!(warpline_pass::cpu::statements(text).is_some_and(|all| !all.is_empty()), "{text}");
    }
}

#[test]
fn changed_assembly() {
    harness::run("ptx", &seeds(), 1000, ptx::run);
}

#[test]
#[ignore = "test-all"]
fn changed_assembly_at_length() {
    harness::at_length("ptx", &seeds(), ptx::run);
}
