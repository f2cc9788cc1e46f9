//! IR tests of the device stages: each `tests/device/*.cu` is compiled, hooked, and its hooked IR followed by the site
//! table goes to FileCheck. `// LEVEL:` sets the `-O` level, `// PTX: no` leaves out the comparison with the GPU's code,
//! `// BUNDLES: yes` lets accesses share records.

#[allow(dead_code)] // Each test file uses a part of it.
mod common;

use common::{Side, compile, each, filecheck, flags, setting};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::BTreeMap;
use std::path::Path;
use warpline_format::access::Space;
use warpline_format::site_table::{Op, SiteTable};
use warpline_pass::device;

struct Staged<'c> {
    module: Module<'c>,
    table: SiteTable,
    /// PTX of the optimised module, before any of Warpline's stages changed it.
    ptx: String,
}

fn stage<'c>(context: &'c Context, source: &Path) -> Staged<'c> {
    let flags = flags(source);
    let bitcode = compile(source, Side::Device, &flags.iter().map(String::as_str).collect::<Vec<_>>());
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "test");
    let module = Module::parse_bitcode_from_buffer(&buffer, context).expect("clang makes bitcode of our LLVM");
    let level = setting(source, "LEVEL").map_or(2, |text| text.parse().expect("a level"));
    let machine = device::machine(&module).expect("device code");
    device::note_locations(&module);
    device::optimize(&module, &machine, level).expect("optimised");
    let ptx = machine.emit_assembly(&module.clone()).expect("PTX");
    device::prepare(&module, &machine, level).expect("prepared");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common");
    let bundles = setting(source, "BUNDLES").is_some_and(|text| text == "yes");
    let options = device::HookOptions {
        system_folders: vec![folder.display().to_string()],
        bundles,
        ..device::HookOptions::default()
    };
    let table = device::hook(&module, &machine, &options).expect("hooked");
    Staged { module, table, ptx: String::from_utf8(ptx).expect("text") }
}

#[test]
fn hooked_code_and_tables() {
    each("device", |source| {
        let context = Context::create();
        let staged = stage(&context, source);
        let text = format!(
            "{}\n{}",
            common::without_debug_records(&staged.module.print_to_string().to_string()),
            device::describe(&staged.table)
        );
        filecheck(source, &text)
    });
}

/// Accesses by function, operation, space and bytes per lane.
type Counts = BTreeMap<(String, &'static str, &'static str, u32), usize>;

fn counts_of_table(table: &SiteTable) -> Counts {
    let mut counts = Counts::new();
    for site in &table.sites {
        let op = match site.op {
            Op::Load => "load",
            Op::Store => "store",
            Op::Atomic => "atomic",
        };
        let space = match site.space {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Constant => "const",
        };
        let function = table.functions[site.function as usize].mangled.clone();
        *counts.entry((function, op, space, site.bytes)).or_default() += 1;
    }
    counts
}

fn counts_of_ptx(ptx: &str) -> Counts {
    let mut counts = Counts::new();
    let mut function = String::new();
    for line in ptx.lines().map(str::trim) {
        if let Some(at) = line.find(".entry ").or_else(|| line.find(".func ").filter(|_| !line.starts_with(".extern")))
        {
            let rest = line[at..].split_once(' ').map_or("", |(_, rest)| rest).trim_start();
            // A function with a result has it in parentheses before its name.
            let rest = if rest.starts_with('(') { rest.split_once(')').map_or("", |(_, rest)| rest) } else { rest };
            let name = rest.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next();
            function = name.unwrap_or_default().to_owned();
        }
        let opcode = line.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        let parts: Vec<&str> = opcode.split('.').collect();
        let op = match parts[0] {
            "ld" | "ldu" => "load",
            "st" => "store",
            "atom" | "red" => "atomic",
            _ => continue,
        };
        if parts.iter().any(|part| part.starts_with("param")) {
            continue;
        }
        let space = ["global", "shared", "local", "const"].into_iter().find(|space| parts.contains(space));
        let vector = parts.iter().find_map(|part| part.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
        let last = parts.last().copied().unwrap_or_default();
        let bits: u32 = last.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().expect("a width");
        *counts.entry((function.clone(), op, space.unwrap_or("generic"), bits / 8 * vector)).or_default() += 1;
    }
    counts
}

#[test]
fn sites_are_the_accesses_of_the_gpu_code() {
    each("device", |source| {
        if setting(source, "PTX").as_deref() == Some("no") {
            return Ok(());
        }
        let context = Context::create();
        let staged = stage(&context, source);
        let (ours, gpu) = (counts_of_table(&staged.table), counts_of_ptx(&staged.ptx));
        if ours == gpu { Ok(()) } else { Err(format!("{}:\nsites {ours:#?}\nPTX {gpu:#?}", source.display())) }
    });
}

#[test]
fn the_table_is_the_same_each_time() {
    let source = &common::sources("device")[0];
    let bytes = || {
        let context = Context::create();
        stage(&context, source).table.to_bytes()
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn tables_survive_their_encoding() {
    each("device", |source| {
        let context = Context::create();
        let table = stage(&context, source).table;
        let read = SiteTable::from_bytes(&table.to_bytes()).map_err(|error| error.to_string())?;
        if read == table { Ok(()) } else { Err(format!("{}: the table changed", source.display())) }
    });
}
