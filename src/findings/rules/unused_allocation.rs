//! Device memory that nothing ever uses.

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::Draft;
use super::super::facts::access::share;
use super::super::facts::{Facts, describe, is_of_library};
use super::super::words;
use crate::profile::is_system;
use crate::profile::model::{Allocation, Frame, Severity};

/// Smaller ones are a note.
const LEAST_BYTES: u64 = 1 << 20;

/// Bytes that are there so that a pointer is not null, at most, as where a library asks for one byte of scratch memory.
const PLACEHOLDER: u64 = 16;

/// Places of allocations of one name that are told, at most.
const MOST_PLACES: usize = 4;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let run = &facts.profile.run;
    if run.sampled || !run.complete || run.mode != "trace" || run.lookup_bytes.is_empty() {
        return Vec::new();
    }
    // Where nothing was launched, as after a usage message or with no rounds asked for, nothing can have used the memory.
    if facts.profile.kernels.is_empty() {
        return Vec::new();
    }
    let unused = |allocation: &&Allocation| {
        allocation.metrics.requests == 0
            && allocation.by_kernel.iter().all(|row| row.metrics.requests == 0)
            // Requests to a named part of a pool count for the part alone; what was touched, for the pool, too.
            && allocation.touched_bytes == 0
            && allocation.copies.iter().all(|copy| copy.direction == "set")
            && allocation.kind.starts_with("cuda")
            && !matches!(
                &allocation.kind[..],
                "cudaMallocHost" | "cudaHostAlloc" | "cudaHostRegister" | "cudaMallocManaged"
            )
            && allocation.bytes > PLACEHOLDER
            && !is_of_library(allocation)
    };
    // A named part lies in memory that is counted already.
    let counts = |allocation: &&Allocation| !allocation.kind.contains("Host") && allocation.kind != "named";
    let all: u64 =
        facts.profile.allocations.iter().filter(counts).map(|allocation| allocation.bytes).fold(0, u64::saturating_add);
    // Those of a loop are one finding.
    let mut groups: BTreeMap<(&[Frame], Option<String>), Vec<&Allocation>> = BTreeMap::new();
    for allocation in facts.profile.allocations.iter().filter(unused) {
        groups.entry((&allocation.path, allocation.name.as_deref().map(array_of))).or_default().push(allocation);
    }
    // So are those that one line makes for a member of several objects.
    type Place<'a> = (&'a str, u32, u32, Option<&'a str>);
    let mut lines: BTreeMap<Place<'_>, Vec<Draft>> = BTreeMap::new();
    let mut found = Vec::new();
    for rows in groups.into_values() {
        let Some(allocation) = rows.first().copied() else { continue };
        let draft = draft(facts, allocation, &rows, all);
        let member = allocation.name.as_deref().and_then(|name| Some(name.split_once('.')?.1));
        match facts.object_made_at(allocation).filter(|_| member.is_some()) {
            Some(frame) => lines.entry((&frame.file, frame.line, frame.column, member)).or_default().push(draft),
            None => found.push(draft),
        }
    }
    found.extend(lines.into_values().filter_map(|mut drafts| {
        drafts.sort_by(|one, other| other.score.total_cmp(&one.score));
        drafts.into_iter().reduce(|larger, smaller| with(larger, &smaller, facts))
    }));
    found
}

/// The finding of two that one line makes.
fn with(larger: Draft, smaller: &Draft, facts: &Facts<'_>) -> Draft {
    let sum = |name: &str| {
        let of = |draft: &Draft| draft.evidence.get(name).copied().unwrap_or(0.0);
        of(&larger) + of(smaller)
    };
    let (bytes, share) = (sum("bytes"), sum("share_of_memory"));
    let name = smaller.allocation.and_then(|id| facts.profile.allocation(id)).map(describe).unwrap_or_default();
    let severity = larger.severity.max(if bytes >= LEAST_BYTES as f64 { Severity::Warning } else { Severity::Note });
    let draft = Draft {
        reason: format!("{}; nor is {name}", larger.reason),
        score: larger.score + smaller.score,
        severity,
        ..larger
    };
    draft.evidence("bytes", bytes).evidence("share_of_memory", share)
}

/// The finding of allocations from one call path.
fn draft(facts: &Facts<'_>, allocation: &Allocation, rows: &[&Allocation], all: u64) -> Draft {
    let bytes: u64 = rows.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
    let count: u64 = rows.iter().map(|row| row.count).fold(0, u64::saturating_add);
    let filled = if allocation.copies.is_empty() { "" } else { " but for being filled" };
    // Several elements of an array of pointers.
    let others = if rows.iter().any(|row| row.name != allocation.name) { " and others of its array" } else { "" };
    let many = match count {
        1 => String::new(),
        _ => format!("{others}, {} allocations of {} in all,", words::count(count), words::bytes(bytes)),
    };
    let reason = format!(
        "{}{}{many} {} never used{filled}: {} of all device memory that the program allocates",
        describe(allocation),
        which(facts, rows),
        if count > 1 { "are" } else { "is" },
        words::percent(share(bytes, all)),
    );
    // What kernels do with it for other data, a run does not show.
    let cure = "leave the allocation out, if no other data needs it either, or allocate it where it is first needed";
    let draft = Draft::new(reason, cure)
        .at_frame(facts.object_made_at(allocation))
        .of_allocation(allocation.id)
        .object(allocation.name.clone())
        .evidence("bytes", bytes as f64)
        .evidence("share_of_memory", share(bytes, all));
    let severity = if bytes >= LEAST_BYTES { Severity::Warning } else { Severity::Note };
    // It costs memory, not time.
    Draft { severity, score: 0.01 * share(bytes, all), ..draft }
}

/// What pointers of an array have in common: `parts[]` of `parts[3]`, `ranks[].sums` of `ranks[3].sums`; else the name itself.
fn array_of(name: &str) -> String {
    let mut pieces = name.split('[');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |common, piece| {
        let index = piece.bytes().take_while(u8::is_ascii_digit).count();
        let rest = if piece[index..].starts_with(']') { &piece[index..] } else { piece };
        common + "[" + rest
    })
}

/// Which of those of one name, as of the elements of a container: their places in the order in which they were made.
fn which(facts: &Facts<'_>, unused: &[&Allocation]) -> String {
    let Some(first) = unused.first().filter(|first| first.name.is_some()) else { return String::new() };
    let alike: Vec<u64> =
        facts.profile.allocations.iter().filter(|other| other.name == first.name).map(|other| other.id).collect();
    if unused.iter().any(|one| one.name != first.name)
        || alike.len() <= unused.len()
        || unused.len() > MOST_PLACES
        || unused.iter().any(|one| one.count > 1)
    {
        return String::new();
    }
    let places = unused.iter().filter_map(|one| alike.iter().position(|id| *id == one.id));
    let places: Vec<String> = places.map(|place| (place + 1).to_string()).collect();
    let called: BTreeSet<String> = unused.iter().filter_map(|one| called_from(one)).collect();
    let called = called.into_iter().collect::<Vec<String>>().join(" and ");
    let called = if called.is_empty() { called } else { format!(" (made for {called})") };
    format!(", number {} of {} in the order in which they are made{called},", places.join(", "), alike.len())
}

/// The user's line that calls the function which makes an allocation.
fn called_from(allocation: &Allocation) -> Option<String> {
    let mut users = allocation.path.iter().rev().filter(|frame| frame.line != 0 && !is_system(&frame.file));
    let maker = users.next()?;
    let caller = users.find(|frame| frame.function != maker.function)?;
    Some(words::place(caller))
}

#[cfg(test)]
mod tests {
    use super::array_of;

    #[test]
    fn elements_of_an_array_have_a_name_in_common() {
        let names = ["tmp", "parts[3]", "ranks[12].sums", "map[key][2]", "open[3"];
        assert_eq!(names.map(array_of), ["tmp", "parts[]", "ranks[].sums", "map[key][]", "open[3"]);
    }
}
