//! Writes conflicts between threads.

use std::fmt::Write as _;

use crate::words::figures::count;
use crate::words::names;
use crate::words::places;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::Conflict;

/// Describes a conflict in one line: the accesses and the problem.
pub fn conflict_line(profile: &Profile, conflict: &Conflict) -> String {
    let kernel = profile.kernels.iter().find(|kernel| kernel.id == conflict.kernel);
    let kernel = kernel.map_or("a kernel".to_owned(), |kernel| names::label(profile, kernel));
    let [first, second] = conflict.accesses.each_ref().map(|access| {
        let at = places::at(&access.frame.file, access.frame.line);
        format!("{} at {at}", access.op)
    });
    let what = match (conflict.verdict.as_str(), conflict.scope.as_str()) {
        ("race", "warp") => "by lanes of one warp: the result depends on which comes last",
        ("race", "block") => {
            "by different warps of a block with no barrier between them: the result depends on which comes first"
        }
        ("race", _) => "by different blocks that nothing orders: the result depends on which comes first",
        ("one_store", "block") => "by several warps of a block: harmless if all store the same value",
        ("one_store", _) => "by several blocks: harmless if all store the same value",
        ("flag", _) => "without an order: which value is read depends on it",
        _ => "with no barrier between them: atomic or volatile accesses may order them, which is not followed",
    };
    if first == second {
        return format!("{first} in {kernel} to the same bytes {what}");
    }
    format!("{first} and {second} in {kernel} to the same bytes {what}")
}

/// Describes the memory of a conflict, with an example.
pub fn conflict_place(profile: &Profile, conflict: &Conflict) -> String {
    let name = named(profile, conflict);
    let memory = match (conflict.space.as_str(), &conflict.variable) {
        ("shared", Some(_)) => format!("{name} (byte {} of the block's shared memory)", conflict.offset),
        ("shared", None) => format!("byte {} of the block's shared memory", conflict.offset),
        _ => format!("byte {} of {name}", conflict.offset),
    };
    let [first, second] = &conflict.accesses;
    let who = match conflict.scope.as_str() {
        "warp" => format!("warp {} of block {}", first.warp, first.block),
        "block" => format!("warps {} and {} of block {}", first.warp, second.warp, first.block),
        _ => format!("block {}, warp {} and block {}, warp {}", first.block, first.warp, second.block, second.warp),
    };
    format!("for example {memory} in launch {} by {who}; seen {} times", conflict.launch, count(conflict.count))
}

fn named(profile: &Profile, conflict: &Conflict) -> String {
    if let Some(variable) = &conflict.variable {
        return variable.clone();
    }
    if conflict.space == "shared" {
        return "shared memory".to_owned();
    }
    let allocation = conflict.allocation.and_then(|id| profile.allocations.iter().find(|known| known.id == id));
    match allocation {
        Some(known) => known.name.clone().unwrap_or_else(|| format!("an unnamed allocation ({})", known.kind)),
        None => "memory of no known allocation".to_owned(),
    }
}

/// Returns one line for the end of a run, if there are relevant conflicts.
pub fn in_short(profile: &Profile) -> Option<String> {
    let mut grave = profile.conflicts.iter().filter(|conflict| conflict.severity == "warning");
    let first = grave.next()?;
    let [one, other] = first.accesses.each_ref().map(|access| places::at(&access.frame.file, access.frame.line));
    let lines = if one == other { one } else { format!("{one} and {other}") };
    let more = match grave.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!(
        "conflict between {} without a barrier at {lines} on {}{more}: the result may depend on their order, see the report",
        match first.scope.as_str() {
            "warp" => "threads",
            "block" => "warps",
            _ => "blocks",
        },
        named(profile, first),
    ))
}

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style) {
    if profile.conflicts.is_empty() {
        return;
    }
    _ = writeln!(out, "{}", style.warning("CONFLICTS BETWEEN THREADS"));
    for conflict in &profile.conflicts {
        let line = conflict_line(profile, conflict);
        let (what, why) = line.split_once(" to the same bytes ").unwrap_or((&line, ""));
        _ = writeln!(out, "  {}: {}", conflict.severity, style.strong(what));
        _ = writeln!(out, "    the same bytes {why}");
        _ = writeln!(out, "    {}", conflict_place(profile, conflict));
        let mut last = None;
        for access in &conflict.accesses {
            let frame = &access.frame;
            if last != Some((&frame.file, frame.line))
                && let Some(text) = places::source(profile, &frame.file, frame.line)
            {
                _ = writeln!(out, "    {:>5} | {}", frame.line, text.trim_start());
            }
            last = Some((&frame.file, frame.line));
        }
        let path = places::host_path(&conflict.path);
        if !path.is_empty() {
            _ = writeln!(out, "    launched from {}", places::wrapped(&path, "        ", 110));
        }
    }
    if profile.run.race_check.as_deref() == Some("sampled") {
        _ = writeln!(out, "    {}", style.faint("a sample of the accesses was checked; --check-race checks all"));
    }
    out.push('\n');
}
