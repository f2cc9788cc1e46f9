//! Selects and formats the data of a comparison's rows, independent of the output format.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::finding_text;
use crate::words::{bytes, count, label, percent, seconds, short_path};
use warpline_comparison::document::{
    AllocationChange, Both, BrokenLimit, Changes, Diff, LineChange, Position, Unchanged, Value,
};
use warpline_comparison::{Better, Unit, better, rank, unit};
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// Whether a change is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Better,
    Worse,
    Neither,
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Neither => "",
        }
    }
}

/// A figure that differs, formatted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) label: String,
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) change: String,
    pub(crate) verdict: Verdict,
}

/// Both profiles, which contain the names of rows that a comparison refers to by number.
pub(crate) struct Sides<'a> {
    pub(crate) before: &'a Profile,
    pub(crate) after: &'a Profile,
    /// Cache of kernel labels. A label depends on the names of all other kernels.
    labels: RefCell<BTreeMap<(bool, u32), Option<String>>>,
}

impl<'a> Sides<'a> {
    pub(crate) fn new(before: &'a Profile, after: &'a Profile) -> Sides<'a> {
        Sides { before, after, labels: RefCell::default() }
    }

    /// Returns `transpose`, or `total -> sum` if the kernel was renamed.
    pub(crate) fn kernel(&self, ids: &Both<u32>) -> String {
        let of = |is_after: bool, id: Option<u32>| {
            let id = id?;
            let profile = if is_after { self.after } else { self.before };
            self.labels.borrow_mut().entry((is_after, id)).or_insert_with(|| kernel(profile, id)).clone()
        };
        arrow(of(false, ids.before), of(true, ids.after))
    }

    /// Returns the subject of a finding, for example `in transpose, a.cu:9, allocation d_out`.
    pub(crate) fn finding(&self, finding: &Finding, is_after: bool) -> Vec<String> {
        let profile = if is_after { self.after } else { self.before };
        let place = Some(finding_text::place(finding)).filter(|place| place != "?");
        let parts = [finding_text::kernel(profile, finding), place, finding_text::object(profile, finding)];
        parts.into_iter().flatten().collect()
    }
}

/// Returns the reason, the suggested change and the gain of a finding.
pub(crate) fn advice(finding: &Finding) -> String {
    let gain = finding.gain.as_ref().map(|gain| format!("gain: {}", finding_text::gain(finding, gain)));
    let parts = [Some(finding.reason.clone()), Some(finding.cure.clone()), gain];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.iter().map(|part| part.trim_end_matches('.')).collect::<Vec<_>>().join("; ")
}

fn kernel(profile: &Profile, id: u32) -> Option<String> {
    profile.kernels.iter().find(|kernel| kernel.id == id).map(|kernel| label(profile, kernel))
}

/// Returns the executables and arguments, with their folders if only these differ.
pub(crate) fn programs(before: &Profile, after: &Profile) -> (String, String) {
    let short = (program(before, short_path), program(after, short_path));
    if short.0 == short.1 { (program(before, |path| path), program(after, |path| path)) } else { short }
}

fn program(profile: &Profile, name: fn(&str) -> &str) -> String {
    match &profile.run.program[..] {
        [] => "an unknown program".to_owned(),
        [executable, arguments @ ..] => {
            let words = std::iter::once(name(executable)).chain(arguments.iter().map(String::as_str));
            words.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Returns the name of an allocation; both names if it was renamed.
pub(crate) fn allocation(row: &AllocationChange) -> String {
    let name = |name: &Option<String>, there: bool| {
        there.then(|| name.clone().unwrap_or_else(|| "an unnamed allocation".to_owned()))
    };
    arrow(name(&row.name.before, row.before.is_some()), name(&row.name.after, row.after.is_some()))
}

/// Returns `before -> after`, or a single text if both are equal.
pub(crate) fn arrow(before: Option<String>, after: Option<String>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
        (before, after) => after.or(before).unwrap_or_else(|| "?".to_owned()),
    }
}

/// Returns `file:line`.
pub(crate) fn place(file: &str, line: u32) -> String {
    let name = short_path(file);
    if line == 0 { name.to_owned() } else { format!("{name}:{line}") }
}

/// Returns "new" or "gone" for a row on one side only; otherwise, an empty text.
pub(crate) fn state<T>(before: Option<T>, after: Option<T>) -> &'static str {
    match (before, after) {
        (Some(_), None) => "gone",
        (None, _) => "new",
        (Some(_), Some(_)) => "",
    }
}

/// Returns `a.cu:9`, `a.cu:9 -> 16` or `a.cu:9 -> b.cu:16`.
pub(crate) fn places(before: Option<&Position>, after: Option<&Position>) -> String {
    let name = |position: &Position| place(&position.file, position.line);
    match (before, after) {
        (Some(one), Some(other)) if one.line != other.line && short_path(&one.file) == short_path(&other.file) => {
            format!("{} -> {}", name(one), other.line)
        }
        (before, after) => arrow(before.map(name), after.map(name)),
    }
}

/// Selects the rows of a table: lines of kernels on both sides, and allocations, with differences other than cache
/// behaviour, which follows from other changes. Also returns the number of omitted rows.
pub(crate) fn significant<'a, T>(
    rows: impl Iterator<Item = &'a T>,
    modelled: impl Fn(&T) -> bool,
    all: bool,
) -> (Vec<&'a T>, usize) {
    let (hidden, shown): (Vec<&T>, Vec<&T>) = rows.partition(|row| !all && modelled(row));
    (shown, hidden.len())
}

/// Selects the shown lines. Lines of new or removed kernels would only repeat the kernels' rows.
pub(crate) fn lines(diff: &Diff, all: bool) -> (Vec<&LineChange>, usize) {
    let rows = diff.lines.iter().filter(|row| row.kernel.before.is_some() && row.kernel.after.is_some());
    let text = |position: &Option<Position>| position.as_ref().map(|position| position.text.clone());
    significant(rows, |row| row.modelled && text(&row.before) == text(&row.after), all)
}

/// Selects the shown allocations.
pub(crate) fn allocations(diff: &Diff, all: bool) -> (Vec<&AllocationChange>, usize) {
    significant(diff.allocations.iter(), |row| row.modelled, all)
}

/// Returns the formatted figures of a row, the most significant first. If `all` is true, dependent figures are
/// included.
pub(crate) fn figures(changes: &Changes, all: bool) -> Vec<Shown> {
    let mut ranked: Vec<(usize, &String)> = changes
        .keys()
        .filter_map(|name| match rank(name) {
            Some(rank) => Some((rank, name)),
            None => all.then_some((usize::MAX, name)),
        })
        .collect();
    ranked.sort();
    // If only one side has a ratio or a mean, this only follows from its components.
    let tells = |name: &&String| all || changes[*name].iter().all(Option::is_some);
    let names = ranked.into_iter().map(|(_, name)| name).filter(tells);
    names
        .map(|name| {
            let mut shown = shown(name, changes[name]);
            if let Some(total) = total_of(name)
                && let Some(sides) = changes.get(&total)
                && opposite(shown.verdict, verdict_of(&total, *sides))
            {
                // Fewer requests in total may each be less efficient.
                shown.verdict = Verdict::Neither;
            }
            if let Some(other) = other_time(name).and_then(|name| changes.get(name)) {
                // The total consists of the times of kernels and copies.
                if name == KERNEL_SECONDS {
                    shown.label = "estimated time of kernels".to_owned();
                }
                if outweighs(*other, changes[name]) {
                    shown.verdict = Verdict::Neither;
                }
            }
            shown
        })
        // The difference may be too small for the displayed digits.
        .filter(|shown| all || shown.before != shown.after)
        .collect()
}

/// Name of the seconds of kernels.
const KERNEL_SECONDS: &str = "estimate.seconds";
/// Name of the seconds of the program's copies.
const COPY_SECONDS: &str = "copies.seconds";

/// Returns the program's other time: copies for kernels, and kernels for copies.
fn other_time(name: &str) -> Option<&'static str> {
    match name {
        KERNEL_SECONDS => Some(COPY_SECONDS),
        COPY_SECONDS => Some(KERNEL_SECONDS),
        _ => None,
    }
}

/// Returns whether the other time changes by more in the opposite direction, so that this change does not make the
/// total better or worse.
fn outweighs(one: [Option<Value>; 2], other: [Option<Value>; 2]) -> bool {
    let change = |[before, after]: [Option<Value>; 2]| Some(after?.number() - before?.number());
    change(one).zip(change(other)).is_some_and(|(one, other)| one * other < 0.0 && one.abs() > other.abs())
}

/// Returns the total that a ratio or mean refers to: `global.sectors` for `global.sectors_per_request`.
fn total_of(name: &str) -> Option<String> {
    let (space, last) = name.rsplit_once('.').map_or(("", name), |(space, last)| (space, last));
    let total = match last {
        "sectors_per_request" | "coalescing_efficiency" => "sectors",
        "wavefronts_per_request" => "wavefronts",
        "divergent_share" => "divergent",
        _ => return None,
    };
    Some(if space.is_empty() { total.to_owned() } else { format!("{space}.{total}") })
}

fn opposite(one: Verdict, other: Verdict) -> bool {
    matches!((one, other), (Verdict::Better, Verdict::Worse) | (Verdict::Worse, Verdict::Better))
}

fn shown(name: &str, [before, after]: [Option<Value>; 2]) -> Shown {
    let unit = unit(name);
    let text = |value: Option<Value>| value.map_or("-".to_owned(), |value| in_words(value, unit));
    let (mut one, mut other) = (text(before), text(after));
    // All digits of exact figures are shown if rounding would hide the difference.
    if let (Some(Value::Count(before)), Some(Value::Count(after))) = (before, after)
        && one == other
    {
        (one, other) = (before.to_string(), after.to_string());
    }
    let (was, is) = (before.map(Value::number), after.map(Value::number));
    Shown {
        label: words(name),
        before: one,
        after: other,
        change: change(was, is, unit),
        verdict: verdict(name, was, is),
    }
}

/// Returns `global sectors per request` for `global.sectors_per_request`.
pub(crate) fn words(name: &str) -> String {
    match name {
        KERNEL_SECONDS => "estimated time".to_owned(),
        COPY_SECONDS => "assumed time of all copies".to_owned(),
        "atomics.hottest_lanes" => "atomic operations on one address".to_owned(),
        "instructions.warps" => "warp instructions".to_owned(),
        "blocks_per_sm" => "blocks per SM".to_owned(),
        _ => name.replace(['.', '_'], " ").replace("l1", "L1").replace("l2", "L2").replace("dram", "DRAM"),
    }
}

/// Formats a value with its unit.
pub(crate) fn in_words(value: Value, unit: Unit) -> String {
    match (unit, value) {
        (Unit::Bytes, Value::Count(number)) => bytes(number),
        (_, Value::Count(number)) => count(number),
        (Unit::Seconds, value) => seconds(value.number()),
        (Unit::Share, value) => percent(value.number()),
        (_, value) => format!("{:.2}", value.number()),
    }
}

fn change(before: Option<f64>, after: Option<f64>, unit: Unit) -> String {
    match (before, after) {
        (Some(before), Some(after)) if unit == Unit::Share => {
            let points = (after - before) * 100.0;
            if points.abs() < 99.95 { format!("{points:+.1} points") } else { format!("{points:+.0} points") }
        }
        (Some(0.0) | None, Some(after)) if after != 0.0 => "new".to_owned(),
        (Some(_), Some(0.0) | None) => "gone".to_owned(),
        (Some(before), Some(after)) if before > 0.0 && after >= 2.0 * before => times(after / before, "more"),
        (Some(before), Some(after)) if after > 0.0 && before >= 2.0 * after => times(before / after, "less"),
        (Some(before), Some(after)) if before != 0.0 => {
            let percent = (after - before) / before * 100.0;
            match percent.abs() < 0.05 {
                true => format!("<0.1 % {}", if percent < 0.0 { "less" } else { "more" }),
                false => format!("{percent:+.1} %"),
            }
        }
        _ => String::new(),
    }
}

fn times(factor: f64, word: &str) -> String {
    let digits = if factor < 9.95 { 2 } else { usize::from(factor < 99.5) };
    if factor < 1e6 { format!("{factor:.digits$} x {word}") } else { format!("{factor:.0e} x {word}") }
}

fn verdict_of(name: &str, sides: [Option<Value>; 2]) -> Verdict {
    let [before, after] = sides.map(|side| side.map(Value::number));
    verdict(name, before, after)
}

fn verdict(name: &str, before: Option<f64>, after: Option<f64>) -> Verdict {
    // If requests are removed that were mostly hits or from full warps, the rate falls, but this is not worse.
    if name.ends_with("hit_rate") || name.ends_with("lanes_per_request") {
        return Verdict::Neither;
    }
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        _ => return Verdict::Neither,
    };
    if (after - before).abs() < 0.001 * before.abs().max(after.abs()) {
        return Verdict::Neither;
    }
    // A new kind of work may be an alternative implementation; new faults are always worse.
    if before == 0.0 && !matches!(name, "faults" | "races" | "spill_bytes") {
        return Verdict::Neither;
    }
    match better(name) {
        Better::Less if after < before => Verdict::Better,
        Better::Less if after > before => Verdict::Worse,
        Better::More if after > before => Verdict::Better,
        Better::More if after < before => Verdict::Worse,
        _ => Verdict::Neither,
    }
}

/// Returns a text such as `3 kernels, 14 lines and 1 allocation`; empty if nothing is unchanged.
pub(crate) fn unchanged(same: &Unchanged) -> String {
    let parts = [
        (same.kernels, "kernel", "kernels"),
        (same.lines, "line", "lines"),
        (same.branches, "branch", "branches"),
        (same.allocations, "allocation", "allocations"),
        (same.findings, "finding", "findings"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let mut words: Vec<String> = parts
        .map(|(many, one, several)| format!("{} {}", count(many), if many == 1 { one } else { several }))
        .collect();
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} and {last}", words.join(", ")),
        None => String::new(),
    }
}

/// Describes a broken limit in a sentence.
pub(crate) fn broken(row: &BrokenLimit) -> String {
    let unit = unit(&row.metric);
    let text = |value: Option<Value>| value.map_or("-".to_owned(), |value| in_words(value, unit));
    let allowed = row.allowed.map_or(String::new(), |allowed| {
        let value = if unit == Unit::Count || unit == Unit::Bytes {
            Value::Count(allowed.max(0.0) as u64)
        } else {
            Value::Ratio(allowed)
        };
        format!(", allowed {}", in_words(value, unit))
    });
    let (before, after) = (text(row.before), text(row.after));
    format!("{}: {}: {} {before} -> {after}{allowed} ({})", row.limit, row.subject, words(&row.metric), row.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_reported_as_people_tell_them() {
        let count = |before, after| shown("global.sectors", [before, after].map(|side| Some(Value::Count(side))));
        let columns = |shown: Shown| (shown.before, shown.after, shown.change, shown.verdict);
        let wanted = |before: &str, after: &str, change: &str, verdict| {
            (before.to_owned(), after.to_owned(), change.to_owned(), verdict)
        };
        assert_eq!(columns(count(294_912, 65_536)), wanted("294 912", "65 536", "4.50 x less", Verdict::Better));
        assert_eq!(columns(count(100, 125)), wanted("100", "125", "+25.0 %", Verdict::Worse));
        assert_eq!(columns(count(0, 8)), wanted("0", "8", "new", Verdict::Neither));
        assert_eq!(columns(count(8, 0)), wanted("8", "0", "gone", Verdict::Better));
        assert_eq!(columns(count(1_230_001, 1_230_002)), wanted("1230001", "1230002", "<0.1 % more", Verdict::Neither));
        let share = shown("global.l1.load_hit_rate", [Some(Value::Ratio(0.9)), Some(Value::Ratio(0.25))]);
        assert_eq!(columns(share), wanted("90.0 %", "25.0 %", "-65.0 points", Verdict::Neither));
        let came = shown("shared.lanes_per_request", [None, Some(Value::Ratio(32.0))]);
        assert_eq!(columns(came), wanted("-", "32.00", "new", Verdict::Neither));
    }

    #[test]
    fn places_say_what_is_another_one() {
        let at = |file: &str, line| Position { file: file.to_owned(), line, ..Position::default() };
        let (one, other) = (at("/x/a.cu", 9), at("/y/a.cu", 16));
        assert_eq!(places(Some(&one), Some(&other)), "a.cu:9 -> 16");
        assert_eq!(places(Some(&one), Some(&at("/y/b.cu", 9))), "a.cu:9 -> b.cu:9");
        assert_eq!(places(Some(&one), Some(&at("/y/a.cu", 9))), "a.cu:9");
        assert_eq!(places(None, Some(&other)), "a.cu:16");
    }
}
