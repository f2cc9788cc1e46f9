//! SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), for editors and code review: one result per source
//! line that costs more than it needs to, per divergent branch, per bad access, and per conflict between warps.

use serde_json::{Value, json};

use super::text::{conflict_line, conflict_place, count, fault_line, label, percent, ratio};
use super::worst::{Row, by_passes, by_sectors};
use crate::profile::Profile;
use crate::profile::model::Frame;

/// Number, name and explanation of each rule.
const RULES: [(&str, &str, &str); 5] = [
    ("WL001", "UncoalescedAccess", "The lanes of a warp touch more sectors of 32 bytes than their bytes need."),
    ("WL002", "BankConflict", "A request to shared memory takes more passes over the banks than it needs."),
    ("WL003", "DivergentBranch", "The lanes of a warp leave the branch by several sides, one side after the other."),
    ("WL004", "BadAccess", "An access outside its allocation, misaligned, or after the memory was freed."),
    ("WL005", "WarpConflict", "Different warps touch the same bytes, one of them writes, and nothing orders them."),
];
/// Lines whose avoidable share is below this are left out: nobody gains by them.
const LEAST_SHARE: f64 = 0.01;
/// Lines that are useful to this degree need no advice.
const GOOD: f64 = 0.9;
/// Branches that diverge less often are left out.
const LEAST_DIVERGENT: f64 = 0.1;

/// The findings of the profile, at most `top` per rule but for bad accesses and conflicts, which are all told.
pub fn sarif(profile: &Profile, top: usize) -> String {
    let mut results = Vec::new();
    for fault in &profile.faults {
        let text = fault_line(profile, fault);
        results.push(result(profile, 3, "error", &text, &fault.frame, 100.0, json!({ "launch": fault.launch })));
    }
    for conflict in &profile.conflicts {
        let text = format!("{}; {}", conflict_line(profile, conflict), conflict_place(profile, conflict));
        let [first, second] = &conflict.accesses;
        let numbers = json!({ "launch": conflict.launch, "verdict": conflict.verdict, "scope": conflict.scope });
        let mut found = result(profile, 4, &conflict.severity, &text, &first.frame, 100.0, numbers);
        found["relatedLocations"] = json!([{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&second.frame.file) }, "region": { "startLine": second.frame.line.max(1) },
        } }]);
        results.push(found);
    }
    lines(profile, 0, &by_sectors(profile), top, "sectors", &mut results);
    lines(profile, 1, &by_passes(profile), top, "passes over the banks", &mut results);
    branches(profile, top, &mut results);
    let rules: Vec<Value> = (RULES.iter())
        .map(|(id, name, text)| json!({ "id": id, "name": name, "shortDescription": { "text": text } }))
        .collect();
    let run = json!({
        "tool": { "driver": {
            "name": "Warpline", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
        } },
        "columnKind": "utf16CodeUnits",
        "results": results,
    });
    let document = json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [run],
    });
    let mut text = serde_json::to_string_pretty(&document).expect("only strings as keys");
    text.push('\n');
    text
}

fn lines(profile: &Profile, rule: usize, rows: &[Row<'_>], top: usize, unit: &str, results: &mut Vec<Value>) {
    let all: u64 = rows.iter().map(|row| row.excess).sum();
    for row in rows.iter().take(top) {
        let (share, useful) = (ratio(row.excess, all), 1.0 - ratio(row.excess, row.total));
        if share < LEAST_SHARE || useful >= GOOD {
            continue;
        }
        let Some(group) = row.groups.first() else { continue };
        let kernel = kernel_name(profile, row.kernel);
        let text = format!(
            "{} {} in {kernel}: {} {unit} where {} would do ({} useful), {} of all that is avoidable",
            group.space,
            if row.groups.iter().all(|other| other.op == group.op) { group.op } else { "access" },
            count(row.total),
            count(row.total - row.excess),
            percent(useful),
            percent(share),
        );
        let function = group.sites.first().map(|site| site.function.clone()).unwrap_or_default();
        let frame = Frame { function, file: row.file.to_owned(), line: row.line, column: group.column };
        let numbers = json!({ "kernel": kernel, "total": row.total, "avoidable": row.excess });
        results.push(result(profile, rule, "warning", &text, &frame, 100.0 * share, numbers));
    }
}

fn branches(profile: &Profile, top: usize, results: &mut Vec<Value>) {
    let mut rows: Vec<_> = profile.branches.iter().filter(|branch| branch.divergent > 0).collect();
    rows.sort_by_key(|branch| std::cmp::Reverse(branch.divergent));
    let all: u64 = rows.iter().map(|branch| branch.divergent).sum();
    for branch in rows.into_iter().take(top) {
        let share = ratio(branch.divergent, branch.executions);
        if share < LEAST_DIVERGENT || branch.line == 0 {
            continue;
        }
        let kernel = kernel_name(profile, branch.kernel);
        let text = format!(
            "branch in {kernel}: {} of {} executions diverge ({})",
            count(branch.divergent),
            count(branch.executions),
            percent(share)
        );
        let frame =
            Frame { function: kernel.to_owned(), file: branch.file.clone(), line: branch.line, column: branch.column };
        let numbers = json!({ "kernel": kernel, "executions": branch.executions, "divergent": branch.divergent });
        results.push(result(profile, 2, "note", &text, &frame, 100.0 * ratio(branch.divergent, all), numbers));
    }
}

fn kernel_name(profile: &Profile, id: u32) -> String {
    let kernel = profile.kernels.iter().find(|kernel| kernel.id == id);
    kernel.map_or("?".to_owned(), |kernel| label(profile, kernel))
}

fn result(
    profile: &Profile,
    rule: usize,
    level: &str,
    text: &str,
    frame: &Frame,
    rank: f64,
    properties: Value,
) -> Value {
    let mut region = json!({ "startLine": frame.line.max(1) });
    if frame.column > 0 {
        region["startColumn"] = json!(frame.column);
    }
    let source = profile.sources.get(&frame.file).and_then(|lines| lines.get(&frame.line));
    // Not the line's number: an edit above it must not make it a new finding.
    let print = format!("{}:{}:{}", RULES[rule].0, frame.function, source.map_or("", |line| line.trim()));
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&frame.file) }, "region": region,
    } });
    if !frame.function.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": frame.function }]);
    }
    json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": text },
        "locations": [location],
        "rank": (rank * 10.0).round() / 10.0,
        "partialFingerprints": { "warplineFinding/v1": format!("{:08x}", crc32fast::hash(print.as_bytes())) },
        "properties": properties,
    })
}

/// A path as a URI (RFC 3986): absolute ones with their scheme.
fn uri(path: &str) -> String {
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_escaped() {
        assert_eq!(uri("/a b/c#.cu"), "file:///a%20b/c%23.cu");
        assert_eq!(uri("kernel.cu"), "kernel.cu");
    }
}
