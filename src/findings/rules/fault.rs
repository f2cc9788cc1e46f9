//! Out-of-bounds accesses, misaligned accesses, and barriers that some threads of a block do not reach.

use super::super::facts::faults::{called_at, race_of};
use super::super::prelude::*;
use std::collections::BTreeMap;
use warpline_format::event::Fault as FaultAddress;
use warpline_profile::model::Fault;

described! {
    enum Cause {
        DivergentBarrier => "divergent-barrier",
        DifferentBarriers { other: Shown } => "different-barriers",
        Misaligned => "misaligned-address",
        MisalignedLocal => "misaligned-local-address",
        OutsideShared => "outside-shared-memory",
        OutsideLocal => "outside-local-array",
        OutsideVariable { variable: Name, position: Shown, size: Count } => "outside-shared-variable",
        OutsideMember { variable: Name, position: Count, structure: Shown, met: Shown, first: Count, last: Count } => "outside-member",
        Freed => "freed-memory",
        Before { distance: Bytes } => "before-allocation",
        Past { distance: Bytes } => "past-allocation",
        At { offset: Count } => "at-allocation-end",
        NullPointer => "null-pointer",
        Nowhere => "outside-allocations",
    }
    enum Remedy {
        MoveBarrier => "move-barrier-out-of-branch",
        MoveCall => "move-call-out-of-branch",
        SameBarriers => "use-same-barriers",
        Align => "align-address",
        AlignLocal => "align-local-variable",
        CheckSharedIndex => "check-shared-index",
        CheckLocalIndex => "check-local-index",
        CheckMemberIndex => "check-member-index",
        FreeLater => "free-later",
        CheckPointer => "check-pointer",
        CheckIndex => "check-index",
        FixRace { line: Shown } => "fix-race-first",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    type Key<'a> = (&'a str, &'a str, u32, u32, Option<u32>);
    let mut groups: BTreeMap<Key<'_>, (u64, &Fault)> = BTreeMap::new();
    for fault in &facts.profile.faults {
        let key = (&fault.kind[..], &fault.frame.file[..], fault.frame.line, fault.frame.column, fault.kernel);
        groups.entry(key).or_insert((0, fault)).0 += 1;
    }
    groups.into_values().map(|(count, fault)| draft(facts, count, fault)).collect()
}

fn cause(facts: &Facts<'_>, fault: &Fault) -> Cause {
    match &fault.kind[..] {
        "divergent_barrier" => return Cause::DivergentBarrier,
        "different_barriers" => {
            let line = fault.other.as_ref().map_or(0, |other| other.line);
            return Cause::DifferentBarriers { other: Shown(line.to_string()) };
        }
        "misaligned" => return Cause::Misaligned,
        "misaligned_local" => return Cause::MisalignedLocal,
        "shared_out_of_bounds" => return Cause::OutsideShared,
        "local_out_of_bounds" => return Cause::OutsideLocal,
        "shared_variable" => {
            let variable = Name(fault.variable.clone().unwrap_or_default());
            let position = Shown(fault.offset.unwrap_or(0).to_string());
            return Cause::OutsideVariable {
                variable,
                position,
                size: Count(fault.variable_bytes.unwrap_or(0).into()),
            };
        }
        "member" => return outside_member(fault),
        "freed" => return Cause::Freed,
        _ => {}
    }
    let Some(offset) = fault.offset else {
        let address = fault.address.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let is_null = address.is_some_and(|address| address < FaultAddress::NULL_PAGE);
        return if is_null { Cause::NullPointer } else { Cause::Nowhere };
    };
    let end = fault.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |row| row.bytes);
    match (offset < 0, offset.unsigned_abs().checked_sub(end)) {
        (true, _) => Cause::Before { distance: Bytes(offset.unsigned_abs()) },
        (false, Some(past)) => Cause::Past { distance: Bytes(past) },
        (false, None) => Cause::At { offset: Count(offset.unsigned_abs()) },
    }
}

fn outside_member(fault: &Fault) -> Cause {
    let member = fault.member.clone().unwrap_or_default();
    let met = match &member.met[..] {
        "" => String::new(),
        met => format!(", in its member `{}`", met.trim_end_matches("[]")),
    };
    let structure = match &member.structure[..] {
        "" => "a structure".to_owned(),
        name => format!("a structure `{name}`"),
    };
    Cause::OutsideMember {
        variable: Name(member.name),
        position: Count(member.offset.into()),
        structure: Shown(structure),
        met: Shown(met),
        first: Count(member.start.into()),
        last: Count(member.start.saturating_add(member.bytes.saturating_sub(1)).into()),
    }
}

fn remedy(facts: &Facts<'_>, fault: &Fault, cause: &Cause, is_called: bool) -> Remedy {
    let remedy = match cause {
        Cause::DivergentBarrier if is_called => return Remedy::MoveCall,
        Cause::DivergentBarrier => return Remedy::MoveBarrier,
        Cause::DifferentBarriers { .. } => return Remedy::SameBarriers,
        Cause::Misaligned => return Remedy::Align,
        Cause::MisalignedLocal => return Remedy::AlignLocal,
        Cause::Freed => return Remedy::FreeLater,
        Cause::NullPointer => return Remedy::CheckPointer,
        Cause::OutsideShared | Cause::OutsideVariable { .. } => Remedy::CheckSharedIndex,
        Cause::OutsideLocal => Remedy::CheckLocalIndex,
        Cause::OutsideMember { .. } => Remedy::CheckMemberIndex,
        _ => Remedy::CheckIndex,
    };
    race_of(facts, fault).map_or(remedy, |race| Remedy::FixRace { line: Shown(race.line.to_string()) })
}

fn diagnosis(facts: &Facts<'_>, fault: &Fault, is_called: bool) -> Diagnosis {
    let cause = cause(facts, fault);
    let mut diagnosis = Diagnosis::new(&cause, &remedy(facts, fault, &cause, is_called));
    let figures = &mut diagnosis.figures;
    figures.set("access", Shown(if fault.op.is_empty() { "access" } else { &fault.op }.to_owned()));
    figures.set("memory", describe_known(fault.allocation.and_then(|id| facts.profile.allocation(id))));
    figures.set("thread", Count(fault.thread.into()));
    figures.set("block", Count(fault.block));
    figures.set("bytes", Bytes(fault.bytes.into()));
    diagnosis
}

fn draft(facts: &Facts<'_>, count: u64, fault: &Fault) -> Draft {
    let caller = called_at(facts, fault);
    let diagnosis = diagnosis(facts, fault, caller.is_some());
    // If a GPU counts barriers on different lines as the same barrier, some programs with this error behave as
    // intended.
    let severity = match diagnosis.cause {
        "misaligned-local-address" => Severity::Note,
        // Values of other variables or members may be irrelevant, for example those of threads beyond the end of the
        // data.
        "outside-shared-variable" | "outside-member" => Severity::Warning,
        _ if fault.other.is_some() => Severity::Warning,
        _ => Severity::Error,
    };
    let inside = caller.is_some().then(|| fault.frame.clone());
    let frame = caller.unwrap_or_else(|| fault.frame.clone());
    let draft = Draft::new(diagnosis).at_frame(Some(&frame)).score(1.0).severity(severity);
    let draft = Draft { kernel: fault.kernel, allocation: fault.allocation, inside_library: inside, ..draft };
    draft.evidence("times", count as f64).evidence("bytes", fault.bytes.into())
}
