//! Accesses outside of their allocations, misaligned ones, and barriers that not all of a block reach.

use std::collections::BTreeMap;

use super::super::diagnosis::{Bytes, Count, Diagnosis, Shown, described};
use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::facts::faults::{called_at, race_of};
use warpline_profile::model::{Fault, Severity};

described! {
    pub(in super::super) enum Cause {
        /// Some lanes of a warp are elsewhere.
        DivergentBarrier => "divergent-barrier",
        /// Warps of a block wait at different barriers.
        DifferentBarriers { other: Shown } => "different-barriers",
        /// An address that is no multiple of the size.
        Misaligned { access: Shown, bytes: Bytes } => "misaligned-address",
        /// The same of a local variable.
        MisalignedLocal { access: Shown, bytes: Bytes } => "misaligned-local-address",
        /// Beyond the block's shared memory.
        OutsideShared { access: Shown, thread: Count, block: Count } => "outside-shared-memory",
        /// Beyond a thread's array.
        OutsideLocal { access: Shown, thread: Count, block: Count } => "outside-local-array",
        /// Memory that was freed.
        Freed { access: Shown } => "freed-memory",
        /// Before the start of an allocation.
        Before { access: Shown, distance: Bytes, memory: Shown, thread: Count, block: Count } => "before-allocation",
        /// Behind the end of an allocation.
        Past { access: Shown, distance: Bytes, memory: Shown, thread: Count, block: Count } => "past-allocation",
        /// Within an allocation, or across its end.
        At { access: Shown, offset: Count, memory: Shown, thread: Count, block: Count } => "at-allocation-end",
        /// Far from all allocations.
        Nowhere { access: Shown, thread: Count, block: Count } => "outside-allocations",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// A barrier for all threads.
        MoveBarrier => "move-barrier-out-of-branch",
        /// A call by all threads.
        MoveCall => "move-call-out-of-branch",
        /// The same barriers for all warps.
        SameBarriers => "use-same-barriers",
        /// An aligned address.
        Align => "align-address",
        /// An aligned variable.
        AlignLocal => "align-local-variable",
        /// An index within shared memory.
        CheckSharedIndex => "check-shared-index",
        /// An index within the array.
        CheckLocalIndex => "check-local-index",
        /// A later end.
        FreeLater => "free-later",
        /// An index within the allocation.
        CheckIndex => "check-index",
        /// The race that leaves the index undefined.
        FixRace { line: Shown } => "fix-race-first",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    type Key<'a> = (&'a str, &'a str, u32, u32, Option<u32>);
    let mut groups: BTreeMap<Key<'_>, (u64, &Fault)> = BTreeMap::new();
    for fault in &facts.profile.faults {
        let key = (&fault.kind[..], &fault.frame.file[..], fault.frame.line, fault.frame.column, fault.kernel);
        groups.entry(key).or_insert((0, fault)).0 += 1;
    }
    groups.into_values().map(|(count, fault)| draft(facts, count, fault)).collect()
}

fn cause(facts: &Facts<'_>, fault: &Fault) -> Cause {
    let access = Shown(if fault.op.is_empty() { "access" } else { &fault.op }.to_owned());
    let (thread, block, bytes) = (Count(fault.thread.into()), Count(fault.block), Bytes(fault.bytes.into()));
    match &fault.kind[..] {
        "divergent_barrier" => Cause::DivergentBarrier,
        "different_barriers" => {
            let line = fault.other.as_ref().map_or(0, |other| other.line);
            Cause::DifferentBarriers { other: Shown(line.to_string()) }
        }
        "misaligned" => Cause::Misaligned { access, bytes },
        "misaligned_local" => Cause::MisalignedLocal { access, bytes },
        "shared_out_of_bounds" => Cause::OutsideShared { access, thread, block },
        "local_out_of_bounds" => Cause::OutsideLocal { access, thread, block },
        "freed" => Cause::Freed { access },
        _ => {
            let name = facts.allocation_name(fault.allocation);
            let memory = Shown(name.unwrap_or_else(|| "an allocation".to_owned()));
            let end = fault.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |row| row.bytes);
            match fault.offset.map(|offset| (offset, offset.unsigned_abs().checked_sub(end))) {
                None => Cause::Nowhere { access, thread, block },
                Some((offset, _)) if offset < 0 => {
                    Cause::Before { access, distance: Bytes(offset.unsigned_abs()), memory, thread, block }
                }
                Some((_, Some(past))) => Cause::Past { access, distance: Bytes(past), memory, thread, block },
                Some((offset, None)) => {
                    Cause::At { access, offset: Count(offset.unsigned_abs()), memory, thread, block }
                }
            }
        }
    }
}

fn remedy(facts: &Facts<'_>, fault: &Fault, cause: &Cause, is_called: bool) -> Remedy {
    let remedy = match cause {
        Cause::DivergentBarrier if is_called => return Remedy::MoveCall,
        Cause::DivergentBarrier => return Remedy::MoveBarrier,
        Cause::DifferentBarriers { .. } => return Remedy::SameBarriers,
        Cause::Misaligned { .. } => return Remedy::Align,
        Cause::MisalignedLocal { .. } => return Remedy::AlignLocal,
        Cause::Freed { .. } => return Remedy::FreeLater,
        Cause::OutsideShared { .. } => Remedy::CheckSharedIndex,
        Cause::OutsideLocal { .. } => Remedy::CheckLocalIndex,
        _ => Remedy::CheckIndex,
    };
    let fix = |race: &warpline_profile::model::Frame| Remedy::FixRace { line: Shown(race.line.to_string()) };
    race_of(facts, fault).map_or(remedy, fix)
}

fn draft(facts: &Facts<'_>, count: u64, fault: &Fault) -> Draft {
    let caller = called_at(facts, fault);
    let cause = cause(facts, fault);
    let remedy = remedy(facts, fault, &cause, caller.is_some());
    // A GPU that counts each barrier for the other does what was meant, in part of the programs that do this.
    let severity = match cause {
        Cause::MisalignedLocal { .. } => Severity::Note,
        _ if fault.other.is_some() => Severity::Warning,
        _ => Severity::Error,
    };
    let inside = caller.is_some().then(|| fault.frame.clone());
    let frame = caller.unwrap_or_else(|| fault.frame.clone());
    let draft = Draft::of(Diagnosis::new(&cause, &remedy)).at_frame(Some(&frame)).score(1.0).severity(severity);
    let draft = Draft { kernel: fault.kernel, allocation: fault.allocation, inside_library: inside, ..draft };
    draft.evidence("times", count as f64).evidence("bytes", fault.bytes.into())
}
