//! Writes figures for services that chart them over commits: an array of `name`, `unit` and `value`, as
//! `customSmallerIsBetter` of github-action-benchmark.

use serde_json::{Value, json};

use crate::comparison::words;
use crate::plain_name;
use warpline_comparison::gate::Judged;
use warpline_comparison::{Figures, Unit, measure, unit};

/// Figures of the program for which lower is better.
const OF_PROGRAM: [&str; 4] =
    ["estimate.seconds", "global.sectors", "global.dram.read_sectors", "global.dram.write_sectors"];

/// Figures of a kernel for which lower is better.
const OF_KERNEL: [&str; 7] = [
    "estimate.seconds",
    "global.sectors",
    "local.sectors",
    "shared.wavefronts",
    "global.dram.read_sectors",
    "branches.divergent",
    "instructions.warps",
];

/// Returns the figures of the judged profiles.
pub fn benchmark(judged: &[Judged]) -> String {
    let mut rows = Vec::new();
    for one in judged {
        let measured = measure(&one.after);
        let program = &one.program;
        let model = program.models.first().map_or("", String::as_str);
        let about = format!("{} ({model})", program.name);
        add(&mut rows, &about, &measured.program, &OF_PROGRAM, model);
        for (kernel, figures) in &measured.kernels {
            add(&mut rows, &format!("{about}: {}", plain_name(kernel)), figures, &OF_KERNEL, model);
        }
    }
    let mut text = serde_json::to_string_pretty(&rows).expect("only strings as keys");
    text.push('\n');
    text
}

fn add(rows: &mut Vec<Value>, about: &str, figures: &Figures, names: &[&str], model: &str) {
    for name in names {
        // A value of 0 is omitted, because services compute ratios to later values.
        let Some(value) = figures.get(name).map(|value| value.number()).filter(|value| *value > 0.0) else { continue };
        let unit = match unit(name) {
            Unit::Seconds => "s",
            Unit::Bytes => "bytes",
            _ if name.ends_with("sectors") => "sectors",
            _ if name.ends_with("wavefronts") => "wavefronts",
            _ => "count",
        };
        let extra = if *name == "estimate.seconds" { "modelled" } else { "deterministic" };
        rows.push(json!({
            "name": format!("{about}: {}", words(name)),
            "unit": unit,
            "value": value,
            "extra": format!("{name}, {extra}, {model}"),
        }));
    }
}
