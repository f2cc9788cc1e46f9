//! Copies that bring nothing new.

use std::collections::BTreeSet;

use super::super::draft::Draft;
use super::super::facts::access::share;
use super::super::facts::{Copies, Facts, describe, innermost};
use super::super::words;
use crate::profile::copy_seconds;
use crate::profile::model::{Allocation, FindingLine, Gain, Severity, also_on};

/// Copies that brought nothing, at least.
const LEAST: u64 = 2;
/// The same as a part of the copies: fewer are chance, as those of a loop's first round, and the others bring something.
const LEAST_OF_COPIES: f64 = 0.1;
/// Bytes of a copy of a single value, at most, and of a small copy.
const FEW_BYTES: u64 = 16;
const SMALL_BYTES: u64 = 4096;
/// One of so many small copies may be the same by chance.
const CHANCE: u64 = 10;
/// Least bytes of these, for more than a note.
const LEAST_BYTES: u64 = 64 << 10;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let is_little = |copies: &Copies<'_>| share(copies.unchanged, copies.count) < LEAST_OF_COPIES;
    // Single values are often the same by chance, other small ones now and then.
    let by_chance = |copies: &Copies<'_>| {
        let no_more = |bytes| copies.bytes <= copies.count.saturating_mul(bytes);
        is_little(copies)
            || no_more(FEW_BYTES) && copies.unchanged < copies.count.div_ceil(2)
            || no_more(SMALL_BYTES) && copies.unchanged < copies.count / CHANCE
            // Results that each launch makes anew.
            || no_more(SMALL_BYTES)
                && !copies.to_device()
                && facts.is_written(copies)
                && copies.unchanged < copies.count.div_ceil(2)
            // One element of an array after the other comes to a place of its size on the host, and is now and then the one before.
            || no_more(FEW_BYTES) && !copies.to_device() && is_part(copies)
            // A flag or a sum that kernels make: the host asks for it to learn whether it has changed.
            || no_more(FEW_BYTES) && !copies.to_device() && (facts.is_written(copies) || is_asked_for(copies))
    };
    let again = facts.bus_copies().into_iter().filter(|copies| copies.unchanged >= LEAST && !by_chance(copies));
    together(
        again.filter_map(|copies| Some((draft(facts, &copies)?, function_of(&copies), copies.to_device()))).collect(),
    )
}

/// Small copies of one function that are made as often as each other, and as often for nothing, at least, for one copy to do for all.
const SEVERAL: usize = 2;

fn function_of(copies: &Copies<'_>) -> String {
    innermost(copies.path).map_or_else(String::new, |frame| frame.function.clone())
}

/// Puts the notes of small copies together that one copy of one buffer would do for.
fn together(found: Vec<(Draft, String, bool)>) -> Vec<Draft> {
    let number = |draft: &Draft, name: &str| draft.evidence.get(name).map_or(0, |value| value.to_bits());
    let key = |(draft, function, to_device): &(Draft, String, bool)| {
        let is_small = draft.severity == Severity::Note && draft.gain.is_none() && draft.line != 0;
        let counts = (number(draft, "copies"), number(draft, "unchanged_copies"));
        is_small.then(|| (draft.file.clone(), function.clone(), *to_device, draft.cure.clone(), counts))
    };
    let mut groups: Vec<(Option<_>, Vec<Draft>)> = Vec::new();
    for one in found {
        let key = key(&one);
        match groups.iter_mut().find(|(known, _)| known.is_some() && *known == key) {
            Some((_, drafts)) => drafts.push(one.0),
            None => groups.push((key, vec![one.0])),
        }
    }
    let mut told = Vec::new();
    for (_, drafts) in groups {
        if drafts.len() < SEVERAL {
            told.extend(drafts);
            continue;
        }
        let mut rest = drafts.into_iter();
        let Some(mut whole) = rest.next() else { continue };
        let mut names = BTreeSet::new();
        for more in rest {
            whole.lines.push(FindingLine { line: more.line, column: more.column });
            whole.score = (whole.score + more.score).min(1.0);
            names.extend(more.object);
        }
        let names: Vec<String> = names.into_iter().collect();
        if !names.is_empty() {
            whole.reason.push_str(&format!("; so are {}", words::list(&names)));
        }
        whole.reason.push_str(&also_on(&whole.lines));
        whole.cure.push_str("; what is copied together can lie in one buffer, for which one copy does");
        told.push(whole);
    }
    told
}

/// Whether launches come between such copies, so that the host asks what they have made of a value.
fn is_asked_for(copies: &Copies<'_>) -> bool {
    copies.launches.is_some_and(|(first, last)| first < last)
}

fn draft(facts: &Facts<'_>, copies: &Copies<'_>) -> Option<Draft> {
    let allocation = copies.allocation()?;
    let bytes = (copies.bytes as f64 * share(copies.unchanged, copies.count)) as u64;
    let seconds = copy_seconds(bytes, copies.unchanged);
    let to_device = copies.to_device();
    let (way, whose) = if to_device { ("to the device", "on the device") } else { ("back to the host", "on the host") };
    let (names, several) = copies.describe();
    let origin = origin(facts, copies).filter(|_| to_device);
    let found = match origin {
        Some((origin, line)) => {
            format!("brought what {}{} had on the device already", describe(origin), from_line(line))
        }
        None => format!("found the same bytes {whose} already"),
    };
    let reason = format!(
        "{names} {} copied {way} {} here; {} of these {found} ({} moved for nothing)",
        if several { "are" } else { "is" },
        words::several(copies.count, "time", "times"),
        words::count(copies.unchanged),
        words::bytes(bytes),
    );
    let cure = if !to_device && facts.is_written(copies) {
        "copy it back once after the loop, or only where a kernel has written it; where each launch may bring another result, and only this data gives the same, leave it".to_owned()
    } else if !to_device {
        "copy it back once after the loop, or only where a kernel has written it".to_owned()
    } else if let Some((origin, _)) = origin {
        format!(
            "what comes back to the host from {} goes to the device again as it was: leave it there and exchange the two pointers, or copy it within the \
             device (cudaMemcpyDeviceToDevice), and copy to the host only what the host looks at",
            describe(origin)
        )
    } else if goes_back(facts, copies) {
        "what comes back to the host goes to the device again as it was: leave it on the device throughout the loop, copy it there once before and \
         back once after it, or only where the host looks at it or has changed it"
            .to_owned()
    } else if facts.is_written(copies) {
        "copy it once before the loop or the calls that need it, and again only where the host has changed it; where a kernel has, and it is to begin with the same again, bring it from a copy on the \
         device (cudaMemcpyDeviceToDevice)"
            .to_owned()
    } else {
        "copy it once before the loop or the calls that need it, and again only where the host has changed it"
            .to_owned()
    };
    let draft = Draft::new(reason, cure)
        .at_frame(innermost(copies.path))
        .of_allocation(allocation.id)
        .object(allocation.name.clone())
        .evidence("copies", copies.count as f64)
        .evidence("unchanged_copies", copies.unchanged as f64)
        .evidence("unchanged_bytes", bytes as f64)
        .gain(facts.program_gain(seconds).map(|gain| match origin {
            // Whether the host looks at what comes back nobody sees.
            Some(_) => Gain {
                assumption: gain.assumption + "; about as much again where no copy back to the host is needed, either",
                ..gain
            },
            None => gain,
        }))
        .score(facts.program_share(seconds));
    Some(if bytes < LEAST_BYTES { Draft { gain: None, ..draft.severity(Severity::Note) } } else { draft })
}

/// Whether each copy is of a part of the memory.
fn is_part(copies: &Copies<'_>) -> bool {
    copies.allocation().is_some_and(|one| one.bytes.saturating_mul(copies.count) > copies.bytes)
}

/// ", copied to the host on line 46," behind the name of memory.
fn from_line(line: Option<u32>) -> String {
    line.map_or(String::new(), |line| format!(", copied to the host on line {line},"))
}

/// Other memory that about as many copies bring to the same places on the host, in however many ways, and the line that does.
fn origin<'a>(facts: &Facts<'a>, copies: &Copies<'_>) -> Option<(&'a Allocation, Option<u32>)> {
    let to = copies.allocation()?;
    let back = |one: &'a Allocation| {
        one.copies.iter().filter(|copy| {
            copy.direction == "device_to_host" && copy.host.is_some() && copies.hosts.contains(&copy.host)
        })
    };
    let count = |one: &'a Allocation| back(one).map(|copy| copy.count).fold(0, u64::saturating_add);
    // What comes back from the memory itself has a cure of its own.
    let itself = to.copies.iter().any(|copy| copy.direction == "device_to_host" && copies.hosts.contains(&copy.host));
    let mut others = facts.profile.allocations.iter().filter(|one| one.id != to.id && count(one) > 0);
    let origin = others.find(|one| count(one).saturating_mul(2) >= copies.count).filter(|_| !itself)?;
    let lines: BTreeSet<u32> = back(origin).filter_map(|copy| innermost(&copy.path)).map(|frame| frame.line).collect();
    Some((origin, lines.first().copied().filter(|_| lines.len() == 1)))
}

/// Whether about as many copies come back from the same memory.
fn goes_back(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    let Some(allocation) = copies.allocation() else { return false };
    let back = allocation.copies.iter().filter(|copy| copy.direction == "device_to_host");
    let there = allocation.copies.iter().filter(|copy| copy.direction == "host_to_device");
    let sum = |count: u64, copy: &crate::profile::model::CopyRow| count.saturating_add(copy.count);
    let (back, there) = (back.fold(0, sum), there.fold(0, sum));
    facts.is_written(copies) && back.saturating_mul(2) >= there
}
