//! `run --trace-values`: the trace has operator, operands and result of each execution, and the profile their sums.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use warpline_analyzer::analyses::{Sum, Table, Tools};
use warpline_analyzer::analysis::{NoProgress, analyze_with_tools};
use warpline_analyzer::requests::{AnalysisTool, Event};
use warpline_analyzer::trace::TraceReader;
use warpline_format::operation::ValueType;

/// An execution by one lane: operator, lane counted over all warp slots, bits of result and operands.
type Row = (String, u64, [u64; 4]);

/// Keeps all executions.
#[derive(Default)]
struct Keep(Arc<Mutex<Vec<Row>>>);

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
        let name =
            format!("{} {}", execution.operation.name, execution.values.types.get(0).map_or("?", ValueType::name));
        let mut rows = self.0.lock().unwrap();
        execution.values.for_each_lane(|lane, row| {
            rows.push((name.clone(), u64::from(execution.slot * 32 + lane), row));
        });
    }
}

/// The executions in a trace, by operator; lanes are threads of the only block.
fn executions(trace: &Path) -> BTreeMap<String, Vec<(u64, [u64; 4])>> {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&rows);
    let tools = Tools::default().with(move |_| Keep(Arc::clone(&kept)));
    let reader = TraceReader::new(BufReader::new(File::open(trace).unwrap())).unwrap();
    analyze_with_tools(reader, 1, None, &tools, &mut NoProgress).unwrap();
    let mut by_name: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let rows = std::mem::take(&mut *rows.lock().unwrap());
    let first = rows.iter().map(|(_, lane, _)| lane / 32 * 32).min().unwrap_or(0);
    for (name, lane, row) in rows {
        by_name.entry(name).or_default().push((lane - first, row));
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
    let folder = work_folder(test);
    let source = root().join("tests/operations/values.cu");
    let executable = build(&[source], &["-O2".to_owned(), "-g".to_owned()], &folder);
    (folder, executable)
}

fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

#[test]
fn operands_and_results_are_those_of_the_program() {
    let (folder, executable) = built("operations_values");
    let recorded = record(&folder, "all", &executable, &["--trace-values=float,int,memory"]);
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
