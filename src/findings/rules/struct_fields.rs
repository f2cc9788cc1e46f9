//! Members of structures: neighbouring lanes are a structure apart, and what of it nobody uses is moved all the same (CUDA C++
//! Best Practices Guide, "Strided Accesses"; arrays of structures against structures of arrays).

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::facts::access::{Access, share};
use super::super::facts::index::{self, subscripts};
use super::super::facts::{Facts, is_of_library, warps};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::is_system;

/// Bytes of a table that is read only, at most, where nothing is gained by another layout.
const SMALL_TABLE: u64 = 4 << 10;
/// From this share of a structure on its members are as good as all used.
const ALL_USED: f64 = 0.99;

/// Bytes from the first lane to the last for those of the lanes' structures, at most, where these follow each other.
const NO_GAPS: f64 = 1.05;

/// The same, at least, where each lane has a structure of its own.
const ALL_APART: f64 = 0.9;

/// Bytes of the widest access of a thread.
const WIDEST: u64 = 16;

/// The widest access of a thread that divides a structure of this size.
fn vector(size: u64) -> u64 {
    [WIDEST, 8, 4, 2].into_iter().find(|width| size.is_multiple_of(*width)).unwrap_or(1)
}

/// Whether the stride is the size of the structure that the access takes a member of. Structures that are farther apart are not
/// neighbours, whatever becomes of their members.
pub(super) fn explains(access: &Access<'_>) -> bool {
    let Some(operand) = access.operand else { return false };
    let bytes = i64::from(operand.structure_bytes);
    // An iterator leads to what lies in memory, and is nothing that lies there.
    let is_iterator =
        operand.structure.as_deref().is_some_and(|name| is_system(access.file) && name.contains("iterator"));
    operand.member.is_some()
        && !is_iterator
        && bytes > 0
        && access.pattern.stride_bytes.is_some_and(|stride| stride.abs() == bytes)
}

/// Whether lanes take a member of structures that follow each other without a gap, though lanes without one lie between: as of a list to which some
/// threads of a warp append. Nothing is wrong with the index.
pub(super) fn is_packed(access: &Access<'_>) -> bool {
    let Some(operand) = access.operand else { return false };
    let size = f64::from(operand.structure_bytes);
    let lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64;
    // Lanes that share a structure, as where each takes an element of an array in it, lie closer together.
    let least = ALL_APART * (lanes - 1.0) * size;
    operand.member.is_some()
        && operand.structure_bytes > access.bytes
        && access
            .pattern
            .span_bytes
            .is_some_and(|span| span >= least && span + f64::from(access.bytes) <= NO_GAPS * lanes * size)
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    type Key<'a> = (u32, &'a str, Option<u64>);
    let mut groups: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    // How a library lays out what it keeps for itself, nobody changes.
    let of_library = |access: &Access<'_>| {
        access.by_library || access.allocation.and_then(|id| facts.profile.allocation(id)).is_some_and(is_of_library)
    };
    let apart = |access: &Access<'_>| {
        super::strided_access::is_strided(access) && explains(access)
            || super::random_gather::is_scattered(access) && is_packed(access)
    };
    for access in facts.accesses.iter().filter(|access| apart(access) && !of_library(access)) {
        let structure = access.operand.and_then(|operand| operand.structure.as_deref()).unwrap_or_default();
        groups.entry((access.kernel.id, structure, access.allocation)).or_default().push(access);
    }
    let groups =
        groups.into_values().filter(|accesses| !is_small(facts, accesses) && !stores_all_that_changes(facts, accesses));
    groups.filter_map(|accesses| draft(facts, &accesses)).collect()
}

/// Whether all that the kernels have of it is a table of a few structures, which caches hold.
fn is_small(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> bool {
    let id = accesses.first().and_then(|access| access.allocation);
    let allocation = id.and_then(|id| facts.profile.allocation(id));
    allocation.is_some_and(|allocation| allocation.bytes <= SMALL_TABLE)
        && !facts.accesses.iter().any(|access| access.op != "load" && access.allocation == id)
}

/// Whether the lines give a whole structure a new value, of which the compiler leaves out the members that stay what they were: the kernel loads
/// those, too.
fn stores_all_that_changes(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> bool {
    let gives_whole = |access: &&Access<'_>| {
        let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
        access.op == "store" && text.is_some_and(|text| assigns_whole(text, access.variable()))
    };
    let Some(first) = accesses.first().and_then(|access| Some((access, access.operand?))) else { return false };
    let (first, operand) = first;
    let mut there = facts.accesses_of(first.kernel.id, "global").filter(|one| one.allocation == first.allocation);
    accesses.iter().all(gives_whole)
        && there.any(|one| {
            let whole = one.bytes.max(one.bytes_together.unwrap_or(0).try_into().unwrap_or(u32::MAX));
            one.op == "load" && whole >= operand.structure_bytes
        })
}

/// Whether a line assigns to an element or to what a pointer leads to, and not to a member of it.
fn assigns_whole(text: &str, name: Option<&str>) -> bool {
    let code = text.split("//").next().unwrap_or_default();
    let Some((target, _)) = code.split_once('=').filter(|(_, value)| !value.starts_with('=')) else { return false };
    let target = target.trim_end();
    let last = name.map(|name| name.rsplit(['.', '>']).next().unwrap_or(name)).unwrap_or_default();
    target.ends_with(']') && subscripts(target, last).count() == 1
        || target.trim_start().starts_with('*') && !target.contains("->")
}

fn draft(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> Option<Draft> {
    let worst =
        accesses.iter().max_by_key(|access| (access.sums.excess(), std::cmp::Reverse((access.line, access.column))))?;
    let operand = worst.operand?;
    let size = u64::from(operand.structure_bytes);
    let mut members: BTreeMap<&str, u64> = BTreeMap::new();
    // What other requests of the kernel take of it counts, however their lanes lie, as behind a branch.
    let of_structure = |one: &&Access<'_>| {
        one.allocation == worst.allocation
            && one.operand.is_some_and(|other| {
                (&other.structure, other.structure_bytes) == (&operand.structure, operand.structure_bytes)
            })
    };
    let mut taken_whole = 0;
    for access in facts.accesses_of(worst.kernel.id, "global").filter(of_structure) {
        let all =
            access.operand.is_some_and(|operand| operand.member.is_none() && operand.structure_bytes == access.bytes);
        taken_whole = if all { size } else { taken_whole };
        for (member, &bytes) in &access.members {
            let used = members.entry(member).or_default();
            *used = (*used).max(bytes.into());
        }
    }
    // Of an array in it nobody knows how much the kernel uses.
    let arrays = members.keys().any(|name| name.contains("[]"));
    // Of one place: another may take the same members again.
    let once = accesses.iter().filter(|access| access.most_requests <= warps(access.kernel));
    let at_once = once.filter_map(|access| access.bytes_together).max().unwrap_or(0).max(taken_whole);
    let arrays = arrays && at_once < size;
    let used = members.values().copied().fold(0, u64::saturating_add).max(at_once).min(size);
    let names = members.keys().map(|name| name.trim_start_matches('.').to_owned());
    // Those with two underscores are a library's own.
    let names: Vec<String> = names.filter(|name| !name.starts_with("__")).collect();
    // Of a structure that is taken as a whole elsewhere, some members are all that is taken here.
    let named = if names.is_empty() || taken_whole > 0 { String::new() } else { format!(" ({})", words::list(&names)) };
    let structure = operand.structure.as_deref().filter(|name| !name.is_empty());
    let structure = structure.map_or_else(|| "a structure".to_owned(), |name| format!("`{name}`"));
    let sums = &worst.sums;
    let target = facts.target(worst);
    let saving = Saving::of_coalescing(accesses, facts);
    let excess: f64 = accesses.iter().map(|access| super::strided_access::excess_of_kernel(facts, access)).sum();
    let waste = facts.waste(worst.kernel, &saving, excess);
    let all_used = !arrays && share(used, size) >= ALL_USED;
    let uses = if arrays {
        format!("the kernel uses {} of it, so that a request", words::list(&names))
    } else if all_used {
        format!(
            "the kernel uses all of its {}{named}, but one member at a time{}: a request",
            words::bytes(size),
            if taken_whole > 0 { " here, and all of it elsewhere" } else { "" },
        )
    } else {
        format!("the kernel uses {} of its {}{named}, so that a request", words::bytes(used), words::bytes(size),)
    };
    let reason = format!(
        "neighbouring threads take members of {structure} in {target}, which are {} apart; {uses} touches {} sectors of 32 bytes where {} would hold its data",
        words::bytes(worst.pattern.stride_bytes.map_or(size, i64::unsigned_abs)),
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    let verb = if worst.op == "store" { "write" } else { "read" };
    let by_library = is_system(&worst.kernel.file) && is_system(worst.file);
    let cure = if all_used && by_library && matches!(size, 2 | 4 | 8 | 16) {
        // The same words as of an element that strided-access knows by its size alone.
        super::strided_access::aligned_for_library(size, worst.bytes)
    } else if all_used && vector(size) > worst.bytes.into() {
        format!(
            "{verb} {structure} as a whole, {} at a time (a vector type, aligned to its size), stage it through shared memory, or keep an \
             array of each member",
            words::bytes(vector(size)),
        )
    } else if all_used && u64::from(worst.bytes) >= WIDEST {
        format!(
            "no access is wider than these {WIDEST} bytes: keep an array of each member, or stage a block's part through shared memory so that neighbouring threads \
             {verb} neighbouring ones"
        )
    } else if all_used {
        // No wider access divides its size, as of three floats.
        format!(
            "keep an array of each member, stage a block's part through shared memory so that neighbouring threads {verb} neighbouring words \
             of it, or pad {structure} to {} and {verb} it as a whole",
            words::bytes(size.next_power_of_two().min(size.next_multiple_of(16).max(4))),
        )
    } else {
        format!(
            "keep an array of each member that the kernel uses (structure of arrays) instead of an array of {structure}, or split \
             what is used together into a structure of its own"
        )
    };
    let mut assumption = "members lie side by side, each request touches only the sectors that it fills".to_owned();
    // What L2 then still has from the launch or the copy before is not simulated.
    let whole = worst.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |one| one.touched_bytes);
    let part = accesses.iter().map(|access| access.sums.bytes).fold(0, u64::saturating_add);
    let part = part / worst.kernel.recorded_launches().max(1);
    if worst.op == "load" && worst.sums.dram_reads > 0 && facts.part_fits_l2(part, whole) {
        assumption.push_str(&format!("; more where L2 keeps the {} that it takes then", words::bytes(part)));
    }
    Some(index::with_its_line(
        Draft::new(reason, cure)
            .at_access(worst)
            .object(operand.structure.clone().filter(|name| !name.is_empty()).or_else(|| operand.variable.clone()))
            .evidence("structure_bytes", size as f64)
            .evidence("used_bytes", if arrays { f64::NAN } else { used as f64 })
            .evidence("sectors", accesses.iter().map(|access| access.sums.sectors).fold(0, u64::saturating_add) as f64)
            .evidence(
                "ideal_sectors",
                accesses.iter().map(|access| access.sums.ideal_sectors).fold(0, u64::saturating_add) as f64,
            )
            .gain(facts.gain(worst.kernel, &saving, &assumption))
            .score(waste),
        facts,
        worst,
    ))
}

#[cfg(test)]
mod tests {
    use super::assigns_whole;

    #[test]
    fn whole_elements_are_no_members() {
        assert!(assigns_whole("frame[i] = make_float4(f(p.x), f(p.y), f(p.z), p.w);", Some("frame")));
        assert!(assigns_whole("  *to = value;", Some("to")));
        assert!(!assigns_whole("frame[i].x = p.x;", Some("frame")));
        assert!(!assigns_whole("if (frame[i].x == 1) x = 2;", Some("frame")));
    }
}
