//! `run --trace-values`: the trace has operator, operands and result of each execution, and the profile their sums.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support_programs::{Outcome, build, root, run, warpline, warpline_cc, work_folder};
use serde_json::Value;
use warpline_analyzer::analyses::{Sum, Table, Tools};
use warpline_analyzer::analysis::{NoProgress, analyze_with_tools};
use warpline_analyzer::requests::{AnalysisTool, Event};
use warpline_analyzer::trace::TraceReader;
use warpline_format::operation::{FloatFormat, ValueType};

/// An execution by one warp, or one of its results.
#[derive(Clone, Debug)]
struct Record {
    name: String,
    /// Types of result and operands.
    types: [Option<ValueType>; 4],
    part: u16,
    parts: u16,
    /// Lane counted over all warp slots, and bits of result and operands.
    lanes: Vec<(u64, [u64; 4])>,
}

/// Keeps all executions.
#[derive(Default)]
struct Keep(Arc<Mutex<Vec<Record>>>);

#[derive(Clone, Debug, Default)]
struct Nothing;

impl Sum for Nothing {
    fn add(&mut self, _: &Self) {}
    fn table(&self) -> Option<Table> {
        None
    }
}

impl AnalysisTool for Keep {
    type Result = Nothing;

    fn event(&mut self, event: Event<'_>) {
        let Event::Operation(execution) = event else { return };
        let values = execution.values;
        let types = [0, 1, 2, 3].map(|at| values.types.get(at));
        let mut lanes = Vec::new();
        values.for_each_lane(|lane, row| lanes.push((u64::from(execution.slot * 32 + lane), row)));
        let name = execution.operation.name.clone();
        self.0.lock().unwrap().push(Record { name, types, part: values.part, parts: values.parts, lanes });
    }
}

/// The records in a trace, in order.
fn records(trace: &Path) -> Vec<Record> {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&rows);
    let tools = Tools::default().with(move |_| Keep(Arc::clone(&kept)));
    let reader = TraceReader::new(BufReader::new(File::open(trace).unwrap())).unwrap();
    analyze_with_tools(reader, 1, None, &tools, &mut NoProgress).unwrap();
    std::mem::take(&mut *rows.lock().unwrap())
}

/// The executions in a trace, by operator; lanes are threads of the only block.
fn executions(trace: &Path) -> BTreeMap<String, Vec<(u64, [u64; 4])>> {
    let mut by_name: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let records = records(trace);
    let lanes = records.iter().flat_map(|record| &record.lanes);
    let first = lanes.map(|(lane, _)| lane / 32 * 32).min().unwrap_or(0);
    for record in records {
        let name = format!("{} {}", record.name, record.types[0].map_or("?", ValueType::name));
        by_name.entry(name).or_default().extend(record.lanes.iter().map(|(lane, row)| (lane - first, *row)));
    }
    by_name
}

struct Recorded {
    outcome: Outcome,
    profile: Value,
    trace: PathBuf,
}

fn record(folder: &Path, name: &str, executable: &Path, options: &[&str]) -> Recorded {
    let (profile, trace) = (folder.join(format!("{name}.wlprof")), folder.join(format!("{name}.wltrace")));
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("--trace").arg(&trace).arg("-o").arg(&profile).arg("--").arg(executable);
    let outcome = run(&mut command, folder, name);
    assert!(outcome.stdout.contains("PASS"), "{}", outcome.describe());
    let mut command = Command::new(warpline());
    let report = run(command.arg("report").arg(&profile).args(["--format", "json"]), folder, "report");
    let mut document: Value = serde_json::from_str(&report.stdout).unwrap_or_else(|_| panic!("{}", report.describe()));
    document["run"] = Value::Null;
    Recorded { outcome, profile: document, trace }
}

fn built(test: &str) -> (PathBuf, PathBuf) {
    built_from(test, "operations/values.cu")
}

fn built_from(test: &str, source: &str) -> (PathBuf, PathBuf) {
    built_with(test, source, &[])
}

fn built_with(test: &str, source: &str, further: &[&str]) -> (PathBuf, PathBuf) {
    let folder = work_folder(test);
    let flags: Vec<String> = ["-O2", "-g", "-arch=sm_80"].iter().chain(further).map(|&flag| flag.to_owned()).collect();
    let executable = build(&[root().join("tests").join(source)], &flags, &folder);
    (folder, executable)
}

fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

#[test]
fn operands_and_results_are_those_of_the_program() {
    let (folder, executable) = built("operations_values");
    check_values(&record(&folder, "all", &executable, &["--trace-values=float,int,memory"]));
}

/// Code for a GPU sends the same values.
#[test]
fn code_for_a_gpu_sends_operands_and_results() {
    let (folder, executable) = built_with("operations_gpu", "operations/values.cu", &["--device=gpu-emulated"]);
    let options = ["--device", "gpu-emulated", "--trace-values=float,int,memory"];
    check_values(&record(&folder, "all", &executable, &options));
}

fn check_values(recorded: &Recorded) {
    let found = executions(&recorded.trace);
    let x = |thread: u64| 0.5 * thread as f32;
    let each = |name: &str, want: &dyn Fn(u64) -> [u64; 4]| {
        let rows = found.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", found.keys()));
        for (thread, row) in rows {
            assert_eq!(*row, want(*thread), "{name} of thread {thread}");
        }
        rows.len()
    };
    let fused = each("multiply-add f32", &|i| [bits(4.0 * x(i) + 1.0), bits(4.0), bits(x(i)), bits(1.0)]);
    let quotients = each("divide f32", &|i| [bits(x(i) / 4.0), bits(x(i)), bits(4.0), 0]);
    let products = each("multiply i32", &|i| [i * (100 - i), 100 - i, i, 0]);
    let compared = each("less i1", &|i| [u64::from(i < 20), i, 20, 0]);
    let converted = each("convert i32", &|i| [i / 2, bits(x(i)), 0, 0]);
    assert_eq!([fused, quotients, products, compared, converted], [64, 64, 64, 64, 20]);
    let stores = &found["store f32"];
    assert_eq!(stores.len(), 128);
    assert!(stores.iter().all(|(_, [_, address, ..])| address >> 40 != 0), "{stores:?}");
    let updates = &found["atomic update i32"];
    assert_eq!(updates.iter().map(|(_, [_, _, operand, _])| operand).sum::<u64>(), 63 * 64 / 2, "{updates:?}");
}

#[test]
fn the_profile_has_sums_and_is_otherwise_the_same() {
    let (folder, executable) = built("operations_sums");
    let plain = record(&folder, "plain", &executable, &[]);
    let mut recorded = record(&folder, "floats", &executable, &["--trace-values"]);
    let tables = recorded.profile["kernels"][0]["tables"].as_array_mut().unwrap();
    let at = tables.iter().position(|table| table["id"] == "operations").unwrap();
    let table = tables.remove(at);
    let rows: Vec<(u64, &str, u64, u64, u64)> = table["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let number = |at: usize| row[at].as_u64().unwrap();
            (row[0]["line"].as_u64().unwrap(), row[1].as_str().unwrap(), number(3), number(4), number(6))
        })
        .collect();
    // Line, operator, executions, results, zeros.
    let mut sorted = rows.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(6, "multiply-add", 2, 64, 0), (7, "divide", 2, 64, 1), (10, "convert", 1, 20, 2)], "{rows:?}");
    assert_eq!(recorded.profile, plain.profile, "{}", recorded.outcome.describe());
}

#[test]
fn lines_limit_what_is_recorded() {
    let (folder, executable) = built("operations_lines");
    let options = ["--trace-values=float,int", "--lines", "values.cu:8"];
    let recorded = record(&folder, "line", &executable, &options);
    let found = executions(&recorded.trace);
    assert!(found.contains_key("multiply i32") && !found.contains_key("divide f32"), "{:?}", found.keys());
    // The same record with more analysis threads.
    let again = record(&folder, "threads", &executable, &[&options[..], &["--threads", "3"]].concat());
    assert_eq!(recorded.profile, again.profile);
}

/// Loads and stores of fragments have the elements of the matrices, and products their sums.
#[test]
fn fragments_are_those_of_the_program() {
    let (folder, executable) = built_from("operations_fragments", "operations/fragments.cu");
    let recorded = record(&folder, "fragments", &executable, &["--trace-values=float,memory"]);
    let found = executions(&recorded.trace);
    let half = |bits: u64| FloatFormat::Half.value(bits);
    let single = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let element = |i: u64| (i % 128) as f64 + (i / 128) as f64 * 0.25;
    let product = |i: u64| {
        let (row, column) = (i / 16, i % 16);
        0.5 * i as f64 + (0..16).map(|k| element(16 * row + k) * element(256 + 16 * column + k)).sum::<f64>()
    };
    // The allocation has A at byte 0, C at byte 1024, D at byte 2048; B is loaded from shared memory.
    let base = found["load f32"].iter().map(|(_, [_, address, ..])| *address).min().expect("loads of C") - 1024;
    let is_global = |row: &[u64; 4]| (base..base + 3072).contains(&row[1]);
    let global = |name: &str| found[name].iter().filter(|(_, row)| is_global(row)).collect::<Vec<_>>();
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, [value, address, ..]) in global("load f16") {
        assert_eq!(half(*value), element((address - base) / 2), "at {address:#x}");
        *seen.entry(*address).or_default() += 1;
    }
    assert_eq!((seen.len(), seen.values().all(|count| *count == 1)), (256, true), "A is loaded once");
    let shared: Vec<f64> =
        found["load f16"].iter().filter(|(_, row)| !is_global(row)).map(|(_, row)| half(row[0])).collect();
    let all: f64 = (256..512).map(element).sum();
    assert_eq!((shared.len(), shared.iter().sum::<f64>()), (256, all), "B is loaded once");
    for (_, [value, address, ..]) in global("load f32") {
        assert_eq!(single(*value), 0.5 * ((address - base - 1024) / 4) as f64, "at {address:#x}");
    }
    for (_, [value, address, ..]) in global("store f32") {
        assert_eq!(single(*value), product((address - base - 2048) / 4), "at {address:#x}");
    }
    assert_eq!((global("load f32").len(), global("store f32").len()), (256, 256));
    let table = recorded.profile["kernels"][0]["tables"].as_array().unwrap();
    let table = table.iter().find(|table| table["id"] == "operations").expect("a table");
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row[1].as_str().is_some_and(|name| name.contains("mma"))).expect("a product");
    assert_eq!((row[3].as_u64(), row[4].as_u64()), (Some(1), Some(256)), "{row}");
}

/// Returns the value of an element of a factor.
fn factor(kind: &str, bits: u64) -> f64 {
    match kind {
        "f16" => FloatFormat::Half.value(bits),
        "bf16" => FloatFormat::Brain.value(bits),
        "tf32" => FloatFormat::Single.value(bits & !0x1fff),
        "f64" => f64::from_bits(bits),
        "s8" => f64::from(bits as u8 as i8),
        _ => bits as f64,
    }
}

/// Computes the tile of a product again: each result is the summand and the products of a row and a column, in the
/// layouts that the PTX ISA shows for `mma.sync`.
fn check_tile(name: &str, tile: &[Record]) {
    let parts: Vec<&str> = name.split('.').collect();
    let is_kind = |part: &&&str| matches!(**part, "bf16" | "tf32" | "f64" | "s8" | "u8");
    let kinds: Vec<&&str> = parts.iter().filter(is_kind).collect();
    let [a, b] = [kinds.first(), kinds.last()].map(|kind| kind.map_or("f16", |kind| **kind));
    let bits = match a {
        "f64" => 64,
        "tf32" => 32,
        "s8" | "u8" => 8,
        _ => 16,
    };
    let shape = parts.iter().find(|part| part.starts_with('m') && part.contains('k')).expect("a shape");
    let depth: usize = shape.split_once('k').expect("a depth").1.parse().expect("a number");
    let (elements, halves) = ((32 / bits).max(1), tile.len() / 2);
    let lanes = |record: &Record| record.lanes.iter().map(|(_, row)| *row).collect::<Vec<_>>();
    let rows: Vec<Vec<[u64; 4]>> = tile.iter().map(lanes).collect();
    let element = |column: usize, register: usize, outer: usize, k: usize| {
        let word = rows[register][4 * outer + k % (4 * elements) / elements][column];
        (word >> (bits * (k % elements))) & (u64::MAX >> (64 - bits))
    };
    let number = |ty: Option<ValueType>, bits: u64| match ty.expect("a type") {
        ValueType::Int32 => f64::from(bits as i32),
        ty => ty.float().expect("a format").value(bits),
    };
    for (index, record) in tile.iter().enumerate() {
        for (lane, [d, c, ..]) in rows[index].iter().enumerate() {
            let (row, column) = (8 * (index / 2) + lane / 4, 2 * (lane % 4) + index % 2);
            let sum: f64 = (0..depth)
                .map(|k| {
                    let block = k / (4 * elements);
                    let left = element(2, block * halves + row / 8, row % 8, k);
                    factor(a, left) * factor(b, element(3, block, column, k))
                })
                .sum();
            let (d, c) = (number(record.types[0], *d), number(record.types[1], *c));
            assert_eq!(d, c + sum, "{name}: row {row}, column {column}");
        }
    }
}

#[test]
fn products_are_those_of_their_operands() {
    let (folder, executable) = built_from("operations_products", "programs/tensor_cores.cu");
    let recorded = record(&folder, "products", &executable, &["--trace-values=float,int"]);
    let products: Vec<Record> =
        records(&recorded.trace).into_iter().filter(|record| record.name.contains("mma")).collect();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut rest = &products[..];
    while let Some(first) = rest.first() {
        let whole = rest.split_at(usize::from(first.parts));
        assert!((0..).zip(whole.0).all(|(part, record)| record.part == part && record.name == first.name));
        // A tile has 16 rows if the whole product does.
        let tall = !["m8n32", "m8n8"].iter().any(|shape| first.name.contains(shape));
        whole.0.chunks(if tall { 4 } else { 2 }).for_each(|tile| check_tile(&first.name, tile));
        *names.entry(first.name.clone()).or_default() += 1;
        rest = whole.1;
    }
    assert!(names.len() >= 12, "{names:?}");
    assert!(names.keys().any(|name| name.starts_with("mma.sync")), "{names:?}");
}

/// Code for a GPU sends the same products; the loads and stores of their fragments are named in a note.
#[test]
fn code_for_a_gpu_sends_products() {
    let (folder, executable) =
        built_with("operations_gpu_products", "operations/fragments.cu", &["--device=gpu-emulated"]);
    let [cpu, gpu] = ["cpu", "gpu-emulated"].map(|device| {
        let recorded = record(&folder, device, &executable, &["--device", device, "--trace-values=float,memory"]);
        let all = records(&recorded.trace);
        let products: Vec<Record> = all.into_iter().filter(|record| record.name.contains("mma")).collect();
        (products, recorded.outcome)
    });
    assert!(!cpu.0.is_empty() && cpu.0.len() == gpu.0.len(), "{} and {} results", cpu.0.len(), gpu.0.len());
    for (one, other) in cpu.0.iter().zip(&gpu.0) {
        let rows = |record: &Record| record.lanes.iter().map(|(_, row)| *row).collect::<Vec<_>>();
        assert_eq!((&one.name, one.types, one.part, one.parts), (&other.name, other.types, other.part, other.parts));
        assert_eq!(rows(one), rows(other), "{}", one.part);
    }
    assert!(gpu.1.stderr.contains("does not record"), "{}", gpu.1.describe());
}

/// Each instruction of inline assembly is an operation, with the lanes for which its guard is true.
#[test]
fn instructions_of_assembly_are_those_of_the_program() {
    let (folder, executable) = built_with("operations_assembly", "operations/assembly.cu", &["--device=gpu-emulated"]);
    for device in ["cpu", "gpu-emulated"] {
        let options = ["--device", device, "--trace-values=float,int,memory"];
        check_assembly(&record(&folder, device, &executable, &options));
    }
}

fn check_assembly(recorded: &Recorded) {
    let found = executions(&recorded.trace);
    let each = |name: &str, want: &dyn Fn(u64) -> [u64; 4]| {
        let rows = found.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", found.keys()));
        for (thread, row) in rows {
            assert_eq!(*row, want(*thread), "{name} of thread {thread}");
        }
        rows.len()
    };
    let y = |i: u64| 100 - i;
    let counts = [
        each("mul.lo.s32 i32", &|i| [i * y(i), i, y(i), 0]),
        each("sub.s32 i32", &|i| [u64::from((i * y(i)).wrapping_sub(7) as u32), i * y(i), 7, 0]),
        each("setp.lt.s32 i1", &|i| [u64::from(i < 20), i, 20, 0]),
        each("mad.lo.s32 i32", &|i| [3 * i + y(i), i, 3, y(i)]),
        each("mul.wide.u32 i64", &|i| [i * y(i), i, y(i), 0]),
        each("cvt.rn.f32.s32 f32", &|i| [bits(i as f32), i, 0, 0]),
    ];
    assert_eq!(counts, [64, 64, 64, 20, 64, 64]);
    let updates = &found["atomic update i32"];
    assert_eq!(updates.iter().map(|(_, [_, _, operand, _])| operand).sum::<u64>(), 63 * 64 / 2, "{updates:?}");
    // The previous values are the sums of the operands before.
    let mut previous: Vec<(u64, u64)> = updates.iter().map(|(_, [old, _, operand, _])| (*old, *operand)).collect();
    previous.sort_unstable();
    let sums = previous.windows(2).all(|pair| pair[1].0 == pair[0].0 + pair[0].1);
    assert!(sums || previous[0].1 == 0, "{previous:?}");
    for (thread, [value, address, ..]) in &found["load i32"] {
        let offset = address - found["load i32"].iter().map(|(_, row)| row[1]).min().unwrap();
        assert_eq!(*value, if offset < 256 { *thread } else { y(*thread) });
    }
    assert_eq!((found["load i32"].len(), found["store i32"].len()), (128, 64));
}

/// Texture fetches and surface accesses have their values and coordinates.
#[test]
fn fetches_are_those_of_the_program() {
    let (folder, executable) = built_from("operations_textures", "operations/textures.cu");
    let recorded = record(&folder, "textures", &executable, &["--trace-values=memory"]);
    let found = executions(&recorded.trace);
    // Of the four elements of a fetch, these textures have the first.
    let rows: Vec<_> = found["load f32"].iter().filter(|(_, row)| row[0] != 0 || row[2] != 0).collect();
    let numbered = |i: u64| [bits(0.5 * (63 - i) as f32), 63 - i, 0, 0];
    let placed = |i: u64| [bits(0.5 * i as f32), bits((i % 8) as f32 + 0.5), bits((i / 8) as f32 + 0.5), 0];
    let of = |i: u64, want: [u64; 4]| rows.iter().filter(|(thread, row)| *thread == i && *row == want).count();
    for i in 0..64 {
        // A row of zeros only, and elements that are zero, are left out above.
        assert_eq!(of(i, numbered(i)), usize::from(i < 63), "{i}: {rows:?}");
        assert!(of(i, placed(i)) >= 1, "{i}: {rows:?}");
    }
    let surface = found["load i32"].iter().filter(|(i, row)| *row == [3 * i, i % 8 * 4, i / 8, 0]).count();
    assert_eq!(surface, 64, "{:?}", found["load i32"]);
}

/// The code that a program contains becomes a fat binary for a GPU, which no test can run.
#[test]
fn a_run_on_a_gpu_gets_a_fat_binary() {
    let (folder, executable) = built("operations_fat_binary");
    let (script, carried, object) = (folder.join("keep-input"), folder.join("input"), folder.join("object.so"));
    let text = format!(
        "#!/bin/sh\nfor last; do :; done\ncp \"$last\" '{}'\nexec '{}' \"$@\"\n",
        carried.display(),
        warpline_cc().display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(warpline());
    command.args(["run", "--trace-values", "-o"]).arg(folder.join("cpu.wlprof")).arg("--").arg(&executable);
    let outcome = run(command.env("WARPLINE_CC", &script), &folder, "cpu");
    assert!(outcome.stdout.contains("PASS"), "{}", outcome.describe());
    let mut command = Command::new(warpline_cc());
    command.args(["--warpline-values=float,int,memory", "--device=gpu", "-o"]).arg(&object).arg(&carried);
    let outcome = run(&mut command, &folder, "gpu");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let bytes = std::fs::read(&object).unwrap();
    let has = |wanted: &[u8]| bytes.windows(wanted.len()).any(|window| window == wanted);
    assert!(has(&0xba55_ed50_u32.to_le_bytes()), "no fat binary");
    assert!(has(b"multiply-add"), "no operations in the site table");
}
