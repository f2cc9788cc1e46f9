//! The table of PTX's instructions, `ptx.txt`: what it calls supported is lowered, what it calls refused is refused by name and line,
//! and `docs/ptx.md` shows it.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use warpline_pass::{cpu, device};

const TABLE: &str = include_str!("ptx.txt");

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Supported,
    /// Supported, and it accesses memory.
    Counted,
    Refused,
    NotApplicable,
}

struct Row<'t> {
    section: &'t str,
    name: &'t str,
    state: State,
    reason: &'t str,
    forms: Vec<&'t str>,
}

fn rows() -> Vec<Row<'static>> {
    let mut section = "";
    let mut rows = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("= ") {
            section = name;
            continue;
        }
        let marks = [
            (" + ", State::Supported),
            (" * ", State::Counted),
            (" ! ", State::Refused),
            (" - ", State::NotApplicable),
        ];
        let found = marks.iter().filter_map(|(mark, state)| line.find(mark).map(|at| (at, mark, *state)));
        let (at, mark, state) = found.min_by_key(|(at, ..)| *at).unwrap_or_else(|| panic!("no state: {line}"));
        let mut forms: Vec<&str> = line[at + mark.len()..].split(";;").map(str::trim).collect();
        let reason = match state {
            State::Refused | State::NotApplicable => forms.remove(0),
            _ => "",
        };
        rows.push(Row { section, name: &line[..at], state, reason, forms });
    }
    rows
}

/// Registers that forms use.
const PROLOGUE: &str = "{ .reg .pred p, q; .reg .b32 x, y, z, w; .reg .b64 v; setp.ne.u32 p|q, #a, 0; mov.b32 x, #b; \
                        mov.b32 y, #b; mov.b32 z, #b; mov.b32 w, #b; mov.b64 v, #l; ";

/// A kernel with a form in it.
fn kernel(number: usize, form: &str) -> String {
    let names = ["R", "L", "F", "D", "H", "a", "b", "c", "g", "s", "f", "d", "h", "l"];
    let mut text = if form == "exit;" { form.to_owned() } else { format!("{PROLOGUE}{form} }}") };
    for (number, name) in names.iter().enumerate() {
        text = text.replace(&format!("#{name}"), &format!("${number}"));
    }
    format!(
        "define ptx_kernel void @k{number}(i32 %a, i32 %b, i32 %c, ptr %g, float %f, double %d, i16 %h, i64 %l) #0 {{\n  \
         %from = addrspacecast ptr %g to ptr addrspace(1)\n  %p = ptrtoint ptr addrspace(1) %from to i64\n  \
         %s = ptrtoint ptr addrspace(3) @shared to i32\n  \
         %r = call {{ i32, i64, float, double, i16 }} asm sideeffect \"{text}\", \
         \"=r,=l,=f,=d,=h,r,r,r,l,r,f,d,h,l,~{{memory}}\"(i32 %a, i32 %b, i32 %c, i64 %p, i32 %s, float %f, double %d, i16 %h, \
         i64 %l) #1\n  ret void\n}}\n"
    )
}

/// Lowers kernels; gives the names of kernels that have sites, or why they are refused.
fn lower(kernels: &str) -> Result<BTreeSet<String>, String> {
    let module = format!(
        "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n\
         target triple = \"nvptx64-nvidia-cuda\"\n@shared = internal addrspace(3) global [64 x i64] undef, align 16\n{kernels}\n\
         attributes #0 = {{ convergent nounwind \"target-cpu\"=\"sm_80\" }}\nattributes #1 = {{ convergent nounwind }}\n\0"
    );
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(module.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).map_err(|error| error.to_string())?;
    let machine = device::machine(&module).map_err(|error| error.to_string())?;
    device::note_locations(&module);
    device::prepare(&module, &machine, 0).map_err(|error| error.to_string())?;
    let table = device::hook(&module, &machine, &device::HookOptions::default()).map_err(|error| error.to_string())?;
    let options = cpu::Options {
        processor: "x86-64-v3",
        descriptor: "warpline_module",
        visible: true,
        fat_binary: &[],
        emulated: None,
        registers: &BTreeMap::new(),
        cautious: false,
        any_shape: true,
        large: cpu::LARGE,
        serial: cpu::SERIAL,
        generated: cpu::Generated::Hooked,
        values: false,
        carried: &[],
        optimize: false,
    };
    cpu::lower(&module, Some(&table), &options).map_err(|error| error.to_string())?;
    let with_sites = table.sites.iter().map(|site| table.functions[site.function as usize].mangled.clone());
    Ok(with_sites.collect())
}

#[test]
fn supported_instructions_are_lowered_and_counted() {
    let (mut kernels, mut counted) = (String::new(), Vec::new());
    let mut number = 0;
    for row in rows().iter().filter(|row| matches!(row.state, State::Supported | State::Counted)) {
        for form in &row.forms {
            kernels += &kernel(number, form);
            if row.state == State::Counted {
                counted.push((format!("k{number}"), *form));
            }
            number += 1;
        }
    }
    assert!(number > 150, "{number} forms");
    let sites = lower(&kernels).unwrap_or_else(|why| panic!("{why}"));
    for (kernel, form) in counted {
        assert!(sites.contains(&kernel), "not counted: {form}");
    }
}

#[test]
fn refused_instructions_are_refused_by_name() {
    for row in rows().iter().filter(|row| row.state == State::Refused) {
        for (number, form) in row.forms.iter().enumerate() {
            let why = lower(&kernel(number, form)).expect_err(form);
            let opcode =
                form.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).next().unwrap_or_default();
            assert!(why.contains("does not support") && why.contains(opcode), "{form}: {why}");
        }
    }
}

fn page() -> String {
    let mut text = String::from(
        "# PTX in inline assembly\n\nWritten by `make docs` from `pass/tests/cpu/ptx.txt`, which has tested forms of each instruction. It \
         covers the PTX ISA for sm_70 to sm_80, and later instructions that programs use. Labels, branches and guards become control \
         flow of the kernel.\n\n## Supported\n\nInstructions in bold access memory, and their requests are counted.\n\n\
         | group | instructions |\n|---|---|\n",
    );
    let rows = rows();
    let mut sections: Vec<&str> = rows.iter().map(|row| row.section).collect();
    sections.dedup();
    for section in sections {
        let supported = rows.iter().filter(|row| row.section == section && row.reason.is_empty());
        let names: Vec<String> = supported.map(shown).collect();
        let _ = writeln!(text, "| {section} | {} |", names.join(", "));
    }
    text += "\n## Refused\n\nThe compilation ends with the instruction and the line of the `asm` statement.\n\n";
    text += "| instruction | why |\n|---|---|\n";
    for row in rows.iter().filter(|row| !row.reason.is_empty()) {
        let _ = writeln!(text, "| {} | {} |", shown(row), row.reason);
    }
    text
}

/// The names of a row as Markdown, bold if their requests are counted.
fn shown(row: &Row<'_>) -> String {
    let names = format!("`{}`", row.name.replace(", ", "`, `"));
    if row.state == State::Counted { format!("**{names}**") } else { names }
}

#[test]
fn the_page_shows_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ptx.md");
    if std::env::var_os("WARPLINE_WRITE_DOCS").is_some() {
        std::fs::write(&file, page()).expect("docs can be written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == page(), "docs/ptx.md does not show pass/tests/cpu/ptx.txt: run `make docs`");
}
