//! Members of structures: the distance between neighbouring lanes is a structure, so its unused members are moved as
//! well (CUDA C++ Best Practices Guide, "Strided Accesses"; arrays of structures versus structures of arrays).

use super::super::facts::source::assigns_whole_element;
use super::super::facts::{index, library_layout};
use super::super::phrase::Unnamed;
use super::super::prelude::*;
use super::super::subjects::{Coalescing, coalescing};
use super::super::thresholds::coalescing::*;
use std::collections::BTreeMap;

described! {
    enum Cause {
        UnusedMembers { used: Bytes, members: Option<Names> } => "unused-members",
        ArrayMembers { members: Names } => "array-members",
        SplitByAlignment { widest: Bytes } => "split-by-alignment",
        MemberByMember { members: Option<Names> } => "member-by-member",
    }
    enum Remedy {
        ArrayPerMember => "array-per-member",
        AlignType { size: Count } => "align-type",
        AlignStructure { size: Count } => "align-structure",
        WholeStructure { width: Bytes } => "access-whole-structure",
        StageThroughShared => "stage-through-shared-memory",
        PadStructure { padded: Bytes } => "pad-structure",
    }
}

/// Returns the number of bytes of a thread's widest access that divides a structure of this size.
fn vector(size: u64) -> u64 {
    [WIDEST_BYTES, 8, 4, 2].into_iter().find(|width| size.is_multiple_of(*width)).unwrap_or(1)
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    type Key<'a> = (u32, &'a str, Option<u64>);
    let mut groups: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    // A user cannot change the layout of a library's own data.
    let of_library = |access: &Access<'_>| access.by_library || facts.memory(access).is_some_and(is_of_library);
    for access in facts
        .accesses
        .iter()
        .filter(|access| coalescing(facts, access) == Some(Coalescing::Members) && !of_library(access))
    {
        let structure = access.operand.and_then(|operand| operand.structure.as_deref()).unwrap_or_default();
        groups.entry((access.kernel.id, structure, access.allocation)).or_default().push(access);
    }
    let groups =
        groups.into_values().filter(|accesses| !is_small(facts, accesses) && !stores_all_that_changes(facts, accesses));
    groups.filter_map(|accesses| draft(facts, &accesses)).collect()
}

/// Returns whether the kernels only access a table of a few structures, which fits in caches.
fn is_small(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> bool {
    let id = accesses.first().and_then(|access| access.allocation);
    let allocation = id.and_then(|id| facts.profile.allocation(id));
    allocation.is_some_and(|allocation| allocation.bytes <= CACHED_TABLE_BYTES)
        && !facts.accesses.iter().any(|access| !access.is_load() && access.allocation == id)
}

/// Returns whether the lines assign a new value to a whole structure, but the compiler omits stores of unchanged
/// members. In that case the kernel loads these members as well.
fn stores_all_that_changes(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> bool {
    let gives_whole = |access: &&Access<'_>| {
        let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
        access.op == "store" && text.is_some_and(|text| assigns_whole_element(text, access.variable()))
    };
    let Some(first) = accesses.first().and_then(|access| Some((access, access.operand?))) else { return false };
    let (first, operand) = first;
    let mut there = facts.accesses_of(first.kernel.id, "global").filter(|one| one.allocation == first.allocation);
    accesses.iter().all(gives_whole)
        && there.any(|one| {
            let whole = one.bytes.max(one.bytes_together.unwrap_or(0).try_into().unwrap_or(u32::MAX));
            one.is_load() && whole >= operand.structure_bytes
        })
}

/// Usage of a structure by a kernel.
struct Usage<'p> {
    size: u64,
    /// Number of used bytes; for arrays in the structure, an upper bound.
    used: u64,
    /// Whether the structure has arrays, whose used part is unknown.
    has_arrays: bool,
    /// Whether other requests access the whole structure at once.
    is_taken_whole: bool,
    /// Whether the accesses write only some of its members.
    writes_part: bool,
    /// Maximum bytes per access, if one expression of the source accesses the whole structure in several accesses.
    split: Option<u32>,
    names: Vec<String>,
    structure: Option<&'p str>,
}

impl Usage<'_> {
    fn is_whole(&self) -> bool {
        !self.has_arrays && share(self.used, self.size) >= ALL_MEMBERS
    }

    fn cause(&self) -> Cause {
        // If other accesses use the whole structure, the listed members are only a part of the used members.
        let members = (!self.names.is_empty() && !self.is_taken_whole).then(|| Names(self.names.clone()));
        if self.has_arrays {
            Cause::ArrayMembers { members: Names(self.names.clone()) }
        } else if let Some(widest) = self.split.filter(|_| self.is_whole()) {
            Cause::SplitByAlignment { widest: Bytes(widest.into()) }
        } else if self.is_whole() {
            Cause::MemberByMember { members }
        } else {
            Cause::UnusedMembers { used: Bytes(self.used), members }
        }
    }

    fn remedy(&self, worst: &Access<'_>) -> Remedy {
        let size = self.size;
        // Partly written sectors are written to memory as a whole, independent of the width of the loads.
        if !self.is_whole() || self.writes_part {
            Remedy::ArrayPerMember
        } else if library_layout::is_copied(worst) && matches!(size, 2 | 4 | 8 | 16) {
            Remedy::AlignType { size: Count(size) }
        } else if self.split.is_some() {
            Remedy::AlignStructure { size: Count(vector(size)) }
        } else if vector(size) > worst.bytes.into() {
            Remedy::WholeStructure { width: Bytes(vector(size)) }
        } else if u64::from(worst.bytes) >= WIDEST_BYTES {
            Remedy::StageThroughShared
        } else {
            // No wider access divides the structure's size, for example for a structure of three floats.
            Remedy::PadStructure { padded: Bytes(size.next_power_of_two().min(size.next_multiple_of(16).max(4))) }
        }
    }
}

/// Returns the usage of the structure by the kernel of the worst access.
fn usage<'p>(facts: &Facts<'p>, accesses: &[&Access<'p>], worst: &Access<'p>) -> Option<Usage<'p>> {
    let operand = worst.operand?;
    let size = u64::from(operand.structure_bytes);
    let mut members: BTreeMap<&str, u64> = BTreeMap::new();
    // Members that other requests of the kernel access count as well, independent of their lane pattern, for example in
    // a branch.
    let of_structure = |one: &&Access<'_>| {
        one.allocation == worst.allocation
            && one.operand.is_some_and(|other| {
                (&other.structure, other.structure_bytes) == (&operand.structure, operand.structure_bytes)
            })
    };
    let mut is_taken_whole = false;
    for access in facts.accesses_of(worst.kernel.id, "global").filter(of_structure) {
        is_taken_whole |=
            access.operand.is_some_and(|operand| operand.member.is_none() && operand.structure_bytes == access.bytes);
        for (member, &bytes) in &access.members {
            let used = members.entry(member).or_default();
            *used = (*used).max(bytes.into());
        }
    }
    // Only one source position is counted, because another position may access the same members again.
    let once = accesses.iter().filter(|access| access.most_requests <= warps(access.kernel));
    let at_once = once.filter_map(|access| access.bytes_together).max().unwrap_or(0);
    let at_once = if is_taken_whole { size } else { at_once };
    let names = members.keys().map(|name| name.trim_start_matches('.').to_owned());
    Some(Usage {
        size,
        used: members.values().copied().total().max(at_once).min(size),
        has_arrays: members.keys().any(|name| name.contains("[]")) && at_once < size,
        is_taken_whole,
        writes_part: writes_part(accesses, size),
        split: split(accesses, size),
        // Names with two underscores belong to a library.
        names: names.filter(|name| !name.starts_with("__")).collect(),
        structure: operand.structure.as_deref().filter(|name| !name.is_empty()),
    })
}

/// Returns whether accesses write some members, but not all.
fn writes_part(accesses: &[&Access<'_>], size: u64) -> bool {
    let stores = accesses.iter().filter(|access| !access.is_load());
    let written: BTreeMap<&str, u32> = stores.flat_map(|access| access.members.clone()).collect();
    let bytes: u64 = written.values().map(|&bytes| u64::from(bytes)).total();
    bytes > 0 && bytes < size
}

/// Returns the bytes of the widest access if each expression accesses the whole structure, and only the alignment of
/// the structure splits the accesses.
fn split(accesses: &[&Access<'_>], size: u64) -> Option<u32> {
    let takes_all = |access: &&&Access<'_>| {
        access.members.len() > 1 && access.members.values().map(|&bytes| u64::from(bytes)).total() >= size
    };
    let all_take_all = accesses.iter().filter(takes_all).count() == accesses.len();
    let widest = accesses.iter().flat_map(|access| access.members.values()).copied().max();
    widest.filter(|&widest| all_take_all && vector(size) > widest.into())
}

fn draft(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> Option<Draft> {
    let worst =
        accesses.iter().max_by_key(|access| (access.sums.excess(), std::cmp::Reverse((access.line, access.column))))?;
    let usage = usage(facts, accesses, worst)?;
    let mut diagnosis = Diagnosis::new(&usage.cause(), &usage.remedy(worst));
    let structure = usage.structure.map(|name| Shown(format!("`{name}`")));
    diagnosis.figures.set("structure", structure.unwrap_or_else(|| Unnamed::Structure.shown()));
    diagnosis.figures.set("whole", Bytes(usage.size));
    diagnosis.figures.set("stride", Bytes(worst.pattern.stride_bytes.map_or(usage.size, i64::unsigned_abs)));
    let saving = Saving::by_coalescing(accesses, facts);
    let excess: f64 = accesses.iter().map(|access| excess_of_kernel(facts, access)).sum();
    let sum = |value: fn(&Access<'_>) -> u64| accesses.iter().map(|one| value(one)).total() as f64;
    let variable = worst.operand.and_then(|operand| operand.variable.clone());
    let draft = Draft::for_access(facts, diagnosis, worst)
        .object(usage.structure.map(str::to_owned).or(variable))
        .evidence("structure_bytes", usage.size as f64)
        .evidence("used_bytes", if usage.has_arrays { f64::NAN } else { usage.used as f64 })
        .evidence("sectors", sum(|access| access.sums.sectors))
        .evidence("ideal_sectors", sum(|access| access.sums.ideal_sectors))
        .gain(facts.gain(worst.kernel, &saving))
        .score(facts.waste(worst.kernel, &saving, excess));
    Some(index::with_its_line(draft, facts, worst))
}
