//! Comparison of a profile (`warpline report --format json`) with the closed forms of
//! `examples/expected.json`.

use super::formula::evaluate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Members of an expectation that select a row, not figures.
const SELECTORS: [&str; 8] = ["kernel", "file", "code", "occurrence", "op", "space", "allocation", "pieces"];

/// All that is wrong with the counts of one run of an example.
pub fn check(example: &Value, values: &BTreeMap<String, u64>, profile: &Value, examples: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (kind, actual) in [("accesses", access_counts as Counter), ("branches", branch_counts)] {
        for expected in example[kind].as_array().into_iter().flatten() {
            if let Err(message) = compare(example, expected, values, profile, examples, actual) {
                wrong.push(format!("{} ({values:?}): {message}", example["name"]));
            }
        }
    }
    wrong
}

type Counter = fn(&Value, &Value, &CodePosition) -> Result<BTreeMap<String, u64>, String>;

/// A source line within a kernel.
struct CodePosition {
    file: String,
    line: u64,
    kernel: u64,
}

impl CodePosition {
    fn holds(&self, row: &Value) -> bool {
        row["file"].as_str() == Some(&self.file) && row["line"] == self.line && row["kernel"] == self.kernel
    }
}

fn compare(
    example: &Value,
    expected: &Value,
    values: &BTreeMap<String, u64>,
    profile: &Value,
    examples: &Path,
    counter: Counter,
) -> Result<(), String> {
    let place = find_place(example, expected, profile, examples)?;
    let actual = counter(expected, profile, &place).map_err(|error| format!("{expected}: {error}"))?;
    let mut differences = Vec::new();
    for (name, formula) in expected.as_object().into_iter().flatten() {
        if SELECTORS.contains(&name.as_str()) {
            continue;
        }
        let formula = formula.as_str().ok_or_else(|| format!("{name} of {expected} is no text"))?;
        let wanted = evaluate(formula, values)?;
        let got = actual.get(name).copied();
        if got != Some(wanted) {
            let got = got.map_or("absent".to_owned(), |got| got.to_string());
            differences.push(format!("{name} is {got}, expected {formula} = {wanted}"));
        }
    }
    for (size, distribution) in expected["pieces"].as_object().into_iter().flatten() {
        for (pieces, formula) in distribution.as_object().into_iter().flatten() {
            let wanted = evaluate(formula.as_str().unwrap_or_default(), values)?;
            let got = actual.get(&format!("{size}:{pieces}")).copied().unwrap_or(0);
            if got != wanted {
                differences.push(format!("{got} requests touch {pieces} pieces of {size} bytes, expected {wanted}"));
            }
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    let label = ["kernel", "op", "space", "allocation", "code"].map(|key| expected[key].as_str().unwrap_or("-"));
    Err(format!("{}: {}", label.join(" | "), differences.join("; ")))
}

fn find_place(example: &Value, expected: &Value, profile: &Value, examples: &Path) -> Result<CodePosition, String> {
    let file = expected["file"].as_str().or(example["sources"][0].as_str()).ok_or("no source file")?;
    let path = examples.join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let code = expected["code"].as_str().ok_or("no code")?;
    let lines: Vec<u64> = (1..).zip(text.lines()).filter(|(_, line)| line.contains(code)).map(|(at, _)| at).collect();
    let line = match expected["occurrence"].as_u64() {
        Some(occurrence) => lines.get(occurrence as usize - 1).copied(),
        None if lines.len() == 1 => Some(lines[0]),
        None => None,
    };
    let line = line.ok_or_else(|| format!("'{code}' is on lines {lines:?} of {file}"))?;
    let kernel = expected["kernel"].as_str().ok_or("no kernel")?;
    let id = profile["kernels"].as_array().into_iter().flatten().find_map(|entry| {
        let name = entry["name"].as_str()?.split('(').next()?;
        (name == kernel).then(|| entry["id"].as_u64())?
    });
    let id = id.ok_or_else(|| format!("kernel {kernel} is not in the profile"))?;
    Ok(CodePosition { file: path.to_string_lossy().into_owned(), line, kernel: id })
}

fn access_counts(expected: &Value, profile: &Value, place: &CodePosition) -> Result<BTreeMap<String, u64>, String> {
    let named: Option<Vec<&Value>> = expected["allocation"].as_str().map(|name| {
        let allocations = profile["allocations"].as_array().into_iter().flatten();
        allocations.filter(|entry| entry["name"] == name).map(|entry| &entry["id"]).collect()
    });
    let mut sums = BTreeMap::new();
    let mut found = false;
    for site in profile["sites"].as_array().into_iter().flatten() {
        if !place.holds(site) || site["op"] != expected["op"] || site["space"] != expected["space"] {
            continue;
        }
        found = true;
        match &named {
            None => add_up(&mut sums, &site["metrics"]),
            Some(ids) => {
                for part in site["by_allocation"].as_array().into_iter().flatten() {
                    if ids.contains(&&part["allocation"]) {
                        add_up(&mut sums, &part["metrics"]);
                    }
                }
            }
        }
    }
    if !found {
        return Err(format!("no such site on line {}", place.line));
    }
    if named.is_some_and(|ids| ids.is_empty()) {
        return Err("no allocation has that name".into());
    }
    Ok(sums)
}

fn add_up(sums: &mut BTreeMap<String, u64>, metrics: &Value) {
    for name in ["requests", "lanes", "bytes", "sectors", "ideal_sectors"] {
        if let Some(value) = metrics[name].as_u64() {
            *sums.entry(name.into()).or_default() += value;
        }
    }
    for (size, distribution) in metrics["lines_touched"].as_object().into_iter().flatten() {
        for (pieces, count) in distribution.as_array().into_iter().flatten().enumerate() {
            *sums.entry(format!("{size}:{pieces}")).or_default() += count.as_u64().unwrap_or(0);
        }
    }
    for name in ["wavefronts", "ideal_wavefronts"] {
        if let Some(value) = metrics["shared"][name].as_u64() {
            *sums.entry(name.into()).or_default() += value;
        }
    }
}

fn branch_counts(_: &Value, profile: &Value, place: &CodePosition) -> Result<BTreeMap<String, u64>, String> {
    let mut sums = BTreeMap::new();
    for branch in profile["branches"].as_array().into_iter().flatten().filter(|row| place.holds(row)) {
        for name in ["executions", "divergent"] {
            *sums.entry(name.to_owned()).or_default() += branch[name].as_u64().unwrap_or(0);
        }
    }
    if sums.is_empty() { Err(format!("no branch on line {}", place.line)) } else { Ok(sums) }
}
