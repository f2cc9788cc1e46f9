//! `predict --check`: runs the program with predicted configurations, and compares the simulated figures with the
//! predicted ones.
//!
//! A configuration can be checked if its launch can be recorded. The program is run with the command line given to
//! `--check`, in which `{x}`, `{y}` and `{z}` are replaced by the block sizes.

use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use warpline_toolchain::interrupt;

use crate::cli::Failure;
use crate::exit_code;
use warpline_prediction::document::{Configuration, Document};
use warpline_profile::model::{Kernel, Launch};
use warpline_profile::{self as profile, Profile};

/// Number of configurations between the best and the worst one that are run.
const BETWEEN: usize = 3;

/// Runs configurations and compares predicted with simulated figures. If a number of measurements was given, these are
/// the configurations that are worth a measurement; otherwise, the best, the worst and some others. `with_grid` repeats
/// the prediction of a shape with another grid. Returns the table, and the number of compared configurations.
pub(super) fn check(
    document: &Document,
    kernel: &Kernel,
    command: &str,
    with_grid: &dyn Fn([u32; 3], [u32; 3]) -> Option<Configuration>,
) -> Result<(String, usize), Failure> {
    let usage = |message: &str| Failure::new(exit_code::USAGE, format!("--check: {message}"));
    let words: Vec<&str> = command.split_whitespace().collect();
    if words.is_empty() {
        return Err(usage("it needs the program and its arguments, with {x}, {y} and {z} for the block's sizes"));
    }
    if !command.contains("{x}") {
        return Err(usage(
            "{x}, and {y} and {z} if they exist, must be placeholders for the block's sizes in the command",
        ));
    }
    let all = &document.configurations;
    let chosen = chosen(document);
    let mut out = String::new();
    let head = ["block", "L1 passes", "sectors", "L2 load", "DRAM load", "DRAM store"];
    // Writing to a string cannot fail.
    let _ = writeln!(out, "predicted / simulated for {}\n", document.model);
    let _ = writeln!(out, "{:<12}{:>16}{:>16}{:>16}{:>16}{:>16}", head[0], head[1], head[2], head[3], head[4], head[5]);
    let (mut notes, mut rows) = (String::new(), 0);
    for one in chosen.into_iter().filter_map(|number| all.get(number)) {
        let [x, y, z] = one.block.map(|size| size.to_string());
        let words = words.iter().map(|word| word.replace("{x}", &x).replace("{y}", &y).replace("{z}", &z));
        let profile = run(&document.model, &words.collect::<Vec<_>>())?;
        let Some(launch) = launch_of(&profile, kernel, one) else {
            let _ = writeln!(out, "{:<12}the program made no launch of this shape", shape(one.block));
            continue;
        };
        let other = match launch.grid == one.grid {
            true => None,
            false => with_grid(one.block, launch.grid),
        };
        let _ = writeln!(out, "{}", row(launch, other.as_ref().unwrap_or(one)));
        rows += 1;
        if launch.grid != one.grid {
            let [made, foretold] = [launch.grid, one.grid].map(shape);
            let which = if other.is_some() { "was predicted again for it" } else { "could not be predicted for it" };
            let _ = writeln!(
                notes,
                "{}: the program's grid is {made}, not {foretold}; the shape {which}",
                shape(one.block)
            );
        }
    }
    if !notes.is_empty() {
        let _ = write!(out, "\n{notes}");
    }
    Ok((out, rows))
}

/// Returns the positions of the configurations to run.
fn chosen(document: &Document) -> Vec<usize> {
    if let Some(worth) = &document.worth_measuring {
        return worth.configurations.clone();
    }
    let last = document.configurations.len().saturating_sub(1);
    let mut chosen: Vec<usize> = (0..BETWEEN + 2).map(|number| number * last / (BETWEEN + 1)).collect();
    chosen.dedup();
    chosen
}

/// Profiles the program with empty caches at each launch, which predictions assume.
fn run(model: &str, words: &[String]) -> Result<Profile, Failure> {
    let failed = |what: &dyn std::fmt::Display| Failure::new(exit_code::UNEXPECTED, format!("--check: {what}"));
    let own = std::env::current_exe().map_err(|error| failed(&error))?;
    // No other user can predict the folder's name or write to it.
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("warpline-predict.").permissions(private).tempdir();
    let folder = folder.map_err(|error| failed(&error))?;
    let _removal = interrupt::removes(folder.path());
    let file = folder.path().join("check.wlprof");
    let fixed = ["--reuse", "off", "--l2-copies", "cold", "--l2-launches", "flushed"];
    let status = Command::new(own)
        .args(["run", "--gpu", model])
        .args(fixed)
        .arg("-o")
        .arg(&file)
        .arg("--")
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| failed(&error))?;
    read(&file).ok_or_else(|| failed(&format!("{} gave no profile ({status})", words.join(" "))))
}

fn read(file: &Path) -> Option<Profile> {
    profile::read(file).ok()
}

/// Returns the first launch of the kernel with this shape, preferably with the predicted grid.
fn launch_of<'a>(profile: &'a Profile, kernel: &Kernel, predicted: &Configuration) -> Option<&'a Launch> {
    let found = profile.kernels.iter().find(|one| one.name == kernel.name)?;
    let launches =
        || found.launches.iter().filter(|one| one.block == predicted.block && one.metrics.contains_key("global"));
    launches().find(|one| one.grid == predicted.grid).or_else(|| launches().next())
}

/// Returns a row of the table.
fn row(launch: &Launch, predicted: &Configuration) -> String {
    let global = launch.metrics.get("global").cloned().unwrap_or_default();
    let (l2, dram) = (global.l2.unwrap_or_default(), global.dram.unwrap_or_default());
    let ratio = |predicted: u64, simulated: u64| match (predicted, simulated) {
        (0, 0) => "1.000".to_owned(),
        (_, 0) => format!("{predicted} / 0"),
        _ => format!("{:.3}", predicted as f64 / simulated as f64),
    };
    let figures = [
        match (predicted.l1_wavefronts, global.l1_wavefronts) {
            (Some(predicted), Some(simulated)) => ratio(predicted, simulated.data),
            _ => "?".to_owned(),
        },
        ratio(predicted.request_sectors, global.sectors),
        ratio(predicted.l2_load_bytes, l2.load_lookups * 32),
        ratio(predicted.dram_load_bytes, dram.read_sectors * 32),
        ratio(predicted.dram_store_bytes, dram.write_sectors * 32),
    ];
    let mut row = format!("{:<12}", shape(predicted.block));
    for figure in figures {
        let _ = write!(row, "{figure:>16}");
    }
    row
}

fn shape([x, y, z]: [u32; 3]) -> String {
    format!("{x}x{y}x{z}")
}
