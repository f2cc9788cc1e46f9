//! Device memory that is never used.

use super::super::facts::memory::{allocated_bytes, family, is_unused};
use super::super::prelude::*;
use super::super::thresholds::allocations::*;
use std::collections::BTreeMap;

described! {
    enum Cause {
        Never => "never-used",
        OnlyFilled => "only-filled",
    }
    enum Remedy {
        Remove => "remove-allocation",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    if !facts.is_whole_run() {
        return Vec::new();
    }
    // Allocations of one array, or for one member of several objects, are one change.
    type GroupKey<'a> = (Option<(&'a str, u32, u32)>, Option<String>);
    let mut groups: BTreeMap<GroupKey<'_>, Vec<&Allocation>> = BTreeMap::new();
    for (number, row) in facts.profile.allocations.iter().enumerate().filter(|(_, row)| is_unused(row)) {
        let frame = facts.object_made_at(row);
        let name = row.name.as_deref().map(family).or_else(|| frame.is_none().then(|| number.to_string()));
        let place = frame.map(|frame| (&frame.file[..], frame.line, frame.column));
        groups.entry((place, name)).or_default().push(row);
    }
    let all = allocated_bytes(facts);
    groups.into_values().filter_map(|rows| draft(facts, &rows, all)).collect()
}

fn draft(facts: &Facts<'_>, rows: &[&Allocation], all: u64) -> Option<Draft> {
    let first = rows.iter().max_by_key(|row| (row.bytes, std::cmp::Reverse(row.id)))?;
    let sum = |value: fn(&Allocation) -> u64| rows.iter().map(|row| value(row)).total();
    let (bytes, count) = (sum(|row| row.bytes), sum(|row| row.count));
    let part = share(bytes, all);
    let others = count.checked_sub(first.count.max(1)).filter(|&others| others > 0).map(Count);
    let cause = if first.copies.is_empty() { Cause::Never } else { Cause::OnlyFilled };
    let mut diagnosis = Diagnosis::new(&cause, &Remedy::Remove);
    let figures = &mut diagnosis.figures;
    figures.set("memory", describe(first));
    figures.set("others", others);
    figures.set("all", Bytes(bytes));
    figures.set("share", Share(part));
    figures.set("position", position(facts, rows));
    let draft = Draft::new(diagnosis)
        .at_frame(facts.object_made_at(first))
        .of_allocation(first.id)
        .object(first.name.clone())
        .evidence("bytes", bytes as f64)
        .evidence("share_of_memory", part);
    let severity = if bytes >= LEAST_UNUSED_BYTES { Severity::Warning } else { Severity::Note };
    // Unused memory costs no time.
    Some(Draft { severity, score: MEMORY_WEIGHT * part, ..draft })
}

/// Returns the positions of the unused allocations among those with one name, in order of allocation: "3, 4 of 5".
fn position(facts: &Facts<'_>, unused: &[&Allocation]) -> Option<Shown> {
    let name = unused.first()?.name.as_ref()?;
    let alike: Vec<u64> =
        facts.profile.allocations.iter().filter(|row| row.name.as_ref() == Some(name)).map(|row| row.id).collect();
    let are_alone = unused.iter().all(|row| row.name.as_ref() == Some(name) && row.count <= 1);
    if !are_alone || alike.len() <= unused.len() || unused.len() > MOST_POSITIONS {
        return None;
    }
    let positions = unused.iter().filter_map(|row| alike.iter().position(|id| *id == row.id));
    let positions: Vec<String> = positions.map(|position| (position + 1).to_string()).collect();
    Some(Shown(format!("{} of {}", positions.join(", "), alike.len())))
}
