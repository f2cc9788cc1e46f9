//! Reads, and copies to the host, of uninitialised bytes (`--check-init`).

use super::super::facts::initialisation::{Unset, later_writer};
use super::super::phrase::Phrase;
use super::super::prelude::*;
use warpline_profile::model::Uninitialised;

described! {
    enum Cause {
        CopiedGaps { memory: Shown, bytes: Bytes, copied: Bytes } => "gaps-copied-to-host",
        Copied { memory: Shown, bytes: Bytes, copied: Bytes, offset: Count } => "copied-to-host",
        Gaps { memory: Shown, access: Shown } => "gaps-read",
        NoBarrier { memory: Shown, thread: Count, block: Count, line: Shown } => "read-before-barrier",
        Shared { memory: Shown, access: Shown, thread: Count, block: Count } => "shared-memory-not-written",
        Update { memory: Shown, access: Shown, thread: Count, block: Count } => "updated-before-set",
        Order { memory: Shown, thread: Count, block: Count, writer: Shown } => "read-before-written",
        Reused { memory: Shown, earlier: Shown, thread: Count, block: Count } => "reused-memory",
        Never { memory: Shown, thread: Count, block: Count } => "never-written",
        PartlyWritten { memory: Shown, offset: Count, written: Bytes, all: Bytes, thread: Count, block: Count } => "part-not-written",
    }
    enum Remedy {
        SetMembers => "set-all-members",
        CopyWritten => "copy-what-is-written",
        Barrier => "barrier-before-read",
        FillShared => "fill-shared-memory",
        Clear { memory: Shown } => "clear-before-update",
        Reorder { writer: Shown } => "launch-writer-first",
        Write { memory: Shown } => "write-before-read",
        WriteEachTime { memory: Shown } => "write-after-each-allocation",
        WriteAll => "write-all-elements",
    }
}

/// Score of gaps, which may be padding; it ranks them below findings that cost time.
const GAPS_SCORE: f64 = 0.02;

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.uninitialised.iter().map(|row| draft(facts, row)).collect()
}

fn diagnosis(facts: &Facts<'_>, row: &Uninitialised, memory: Shown) -> Diagnosis {
    let access = Shown(if row.op == "atomic" { "atomic operation" } else { "load" }.to_owned());
    let (thread, block) = (Count(row.thread.into()), Count(row.block));
    let (bytes, copied) = (Bytes(row.copied_uninitialised), Bytes(row.copied));
    let (cause, remedy) = match Unset::classify(facts, row) {
        Unset::CopiedGaps => (Cause::CopiedGaps { memory, bytes, copied }, Remedy::SetMembers),
        Unset::Copied => (Cause::Copied { memory, bytes, copied, offset: Count(row.offset) }, Remedy::CopyWritten),
        Unset::Gaps => (Cause::Gaps { memory, access }, Remedy::SetMembers),
        Unset::NoBarrier { line } => {
            let line = Shown(line.to_string());
            (Cause::NoBarrier { memory, thread, block, line }, Remedy::Barrier)
        }
        Unset::Shared => (Cause::Shared { memory, access, thread, block }, Remedy::FillShared),
        Unset::Update => {
            let remedy = Remedy::Clear { memory: memory.clone() };
            (Cause::Update { memory, access, thread, block }, remedy)
        }
        Unset::Order => {
            let writer = Shown(later_writer(facts, row).unwrap_or_default());
            let remedy = Remedy::Reorder { writer: writer.clone() };
            (Cause::Order { memory, thread, block, writer }, remedy)
        }
        Unset::Reused { earlier } => {
            let remedy = Remedy::WriteEachTime { memory: memory.clone() };
            (Cause::Reused { memory, earlier, thread, block }, remedy)
        }
        Unset::Never => {
            let remedy = Remedy::Write { memory: memory.clone() };
            (Cause::Never { memory, thread, block }, remedy)
        }
        Unset::PartlyWritten { all } => {
            let (offset, written) = (Count(row.offset), Bytes(row.written));
            (Cause::PartlyWritten { memory, offset, written, all: Bytes(all), thread, block }, Remedy::WriteAll)
        }
    };
    Diagnosis::new(&cause, &remedy)
}

fn draft(facts: &Facts<'_>, row: &Uninitialised) -> Draft {
    let is_shared = row.space == "shared";
    let allocation = row.allocation.and_then(|id| facts.profile.allocation(id));
    let memory = match &row.variable {
        Some(name) => Shown(format!("`{name}`")),
        None if is_shared => Phrase::OfSpace { space: Shown(row.space.clone()) }.shown(),
        None => describe_known(allocation),
    };
    let severity = match (row.partial, &row.kind[..], is_shared) {
        (true, ..) => Severity::Note,
        // Compilers move loads from shared memory before conditions, and the host may not use the copied bytes.
        (_, "copy", _) | (_, _, true) => Severity::Warning,
        _ => Severity::Error,
    };
    let frame = if row.kind == "copy" { innermost(&row.path) } else { Some(&row.frame) };
    let draft = Draft::new(diagnosis(facts, row, memory)).at_frame(frame).object(row.variable.clone());
    let draft = draft.score(if row.partial { GAPS_SCORE } else { 1.0 }).severity(severity);
    let draft = Draft { kernel: row.kernel, allocation: row.allocation, ..draft };
    let draft = match &row.kind[..] {
        "copy" => draft.evidence("copies", row.count as f64).evidence("bytes", row.copied_uninitialised as f64),
        _ => draft.evidence("requests", row.count as f64).evidence("lanes", row.lanes as f64),
    };
    draft.evidence("offset", row.offset as f64)
}
