//! Merges what the checks of a run found: faults, races, values, failed calls.

use crate::merge::ids::Ids;
use crate::merge::merged::Merged;
use warpline_profile::Profile;
use warpline_profile::model::{
    AccessValues, AllocationValues, ComparedResult, Conflict, Fault, FloatException, FloatOrigin, HostAccess, Missing,
    RoundedAllocation,
};

/// Maximum number of listed bad accesses over all runs.
const MOST_FAULTS: usize = 1000;

/// The new numbers of what the rows of one profile refer to.
struct Numbers<'a>(&'a Ids);

impl Numbers<'_> {
    fn allocation(&self, id: Option<u64>) -> Option<u64> {
        self.0.allocations.get(&id?).copied()
    }

    fn kernel(&self, id: Option<u32>) -> Option<u32> {
        self.0.kernels.get(&id?).copied()
    }
}

/// Adds a row to the row that describes the same, or to the end.
fn merge<T>(rows: &mut Vec<T>, row: T, is_same: impl Fn(&T, &T) -> bool, add: impl Fn(&mut T, T)) {
    match rows.iter_mut().find(|known| is_same(known, &row)) {
        Some(sum) => add(sum, row),
        None => rows.push(row),
    }
}

/// Merges faults, races, values, failed calls, and work that is missing.
pub(in crate::merge) fn events(merged: &mut Merged, profile: &Profile, ids: &Ids) {
    let new = Numbers(ids);
    faults(merged, profile, &new);
    conflicts(merged, profile, &new);
    synchronisation(merged, profile, &new);
    values(merged, profile, &new);
    float_values(merged, profile, &new);
    failures(merged, profile, &new);
}

fn faults(merged: &mut Merged, profile: &Profile, new: &Numbers<'_>) {
    let whole = &mut merged.whole;
    for fault in &profile.faults {
        let mut fault = fault.clone();
        fault.kernel = new.kernel(fault.kernel);
        fault.rank = fault.rank.or(new.0.rank);
        fault.allocation = new.allocation(fault.allocation);
        whole.faults.push(fault);
    }
    if whole.faults.len() > MOST_FAULTS {
        sort_faults(&mut whole.faults);
        whole.faults.truncate(MOST_FAULTS);
        let note = format!("of the bad accesses of all runs the first {MOST_FAULTS} are listed");
        merged.facts.from.left_out.insert(note);
    }
}

/// Races within a launch.
fn conflicts(merged: &mut Merged, profile: &Profile, new: &Numbers<'_>) {
    let (whole, known) = (&mut merged.whole, &mut merged.known);
    for row in &profile.conflicts {
        let Some(kernel) = new.kernel(Some(row.kernel)) else { continue };
        let row = Conflict { kernel, allocation: new.allocation(row.allocation), ..row.clone() };
        let interner = &mut known.interner;
        let parties = row
            .accesses
            .each_ref()
            .map(|party| [interner.text(&party.op), interner.path(std::slice::from_ref(&party.frame)), party.site]);
        let kinds = [kernel, interner.text(&row.verdict), interner.text(&row.scope), interner.text(&row.space)];
        let variable = row.variable.as_ref().map(|name| interner.text(name));
        let place = known.conflicts.place((kinds, parties, row.allocation, variable), whole.conflicts.len());
        match whole.conflicts.get_mut(place) {
            Some(sum) => {
                let count = sum.count.saturating_add(row.count);
                // Selects the smallest example, so that the order does not matter.
                let example = |row: &Conflict| {
                    let warps = row.accesses.each_ref().map(|party| (party.block, party.warp));
                    (row.launch, row.offset, warps, row.path.clone(), row.severity.clone())
                };
                if example(&row) < example(sum) {
                    *sum = row;
                }
                sum.count = count;
            }
            None => whole.conflicts.push(row),
        }
    }
}

/// Accesses of other streams and of the host that are not ordered, and reads before a write.
fn synchronisation(merged: &mut Merged, profile: &Profile, new: &Numbers<'_>) {
    let whole = &mut merged.whole;
    for row in &profile.stream_conflicts {
        let mut row = row.clone();
        for access in &mut row.accesses {
            access.kernel = new.kernel(access.kernel);
        }
        let Some(allocation) = new.allocation(Some(row.allocation)) else { continue };
        row.allocation = allocation;
        merge(&mut whole.stream_conflicts, row, |one, other| one.is_like(other), |sum, row| sum.add(&row));
    }
    for row in &profile.host_accesses {
        let Some(allocation) = new.allocation(Some(row.allocation)) else { continue };
        let row = HostAccess { allocation, ..row.clone() };
        merge(&mut whole.host_accesses, row, |one, other| one.is_like(other), |sum, row| sum.add(&row));
    }
    for row in &profile.uninitialised {
        let mut row = row.clone();
        row.kernel = new.kernel(row.kernel);
        (row.allocation, row.earlier) = (new.allocation(row.allocation), new.allocation(row.earlier));
        merge(&mut whole.uninitialised, row, |one, other| one.is_like(other), |sum, row| sum.add(&row));
    }
}

/// Values of accesses and allocations, and rounded values.
fn values(merged: &mut Merged, profile: &Profile, new: &Numbers<'_>) {
    let whole = &mut merged.whole;
    for row in &profile.access_values {
        let Some(kernel) = new.kernel(Some(row.kernel)) else { continue };
        let row = AccessValues { kernel, allocation: new.allocation(row.allocation), ..row.clone() };
        merge(&mut whole.access_values, row, |one, other| one.is_like(other), |sum, row| sum.add(&row));
    }
    for row in &profile.allocation_values {
        let Some(allocation) = new.allocation(Some(row.allocation)) else { continue };
        let row = AllocationValues { allocation, ..row.clone() };
        let is_same = |one: &AllocationValues, other: &AllocationValues| one.allocation == other.allocation;
        merge(&mut whole.allocation_values, row, is_same, |sum, row| sum.add(&row));
    }
    for row in &profile.compared_results {
        let Some(allocation) = new.allocation(Some(row.allocation)) else { continue };
        let row = ComparedResult { allocation, ..row.clone() };
        merge(&mut whole.compared_results, row, |one, other| one.is_like(other), |sum, row| sum.add(&row));
    }
    for row in &profile.rounded_allocations {
        let Some(allocation) = new.allocation(Some(row.allocation)) else { continue };
        let mut row = RoundedAllocation { allocation, ..row.clone() };
        row.writes.retain_mut(|row| {
            let own = row.kernel;
            row.kernel = new.kernel(own);
            row.kernel.is_some() == own.is_some()
        });
        row.other_accesses.retain_mut(|other| new.kernel(Some(other.kernel)).map(|id| other.kernel = id).is_some());
        let is_same = |one: &RoundedAllocation, other: &RoundedAllocation| one.allocation == other.allocation;
        merge(&mut whole.rounded_allocations, row, is_same, RoundedAllocation::add);
    }
}

/// NaNs and infinities.
fn float_values(merged: &mut Merged, profile: &Profile, new: &Numbers<'_>) {
    let whole = &mut merged.whole;
    for row in &profile.float_exceptions {
        let Some(kernel) = new.kernel(Some(row.kernel)) else { continue };
        let row = FloatException { kernel, ..row.clone() };
        merge(&mut whole.float_exceptions, row, |one, other| one.is_like(other), |sum, row| sum.add(&row));
    }
    for row in &profile.float_origins {
        let mut row = row.clone();
        for step in &mut row.steps {
            step.kernel = new.kernel(Some(step.kernel)).unwrap_or(step.kernel);
            step.allocation = new.allocation(step.allocation);
        }
        let about = |row: &FloatOrigin| {
            let ends = [row.store(), row.source()];
            ends.map(|step| step.map(|step| (step.kernel, step.frame.clone(), step.allocation)))
        };
        let is_same = |one: &FloatOrigin, other: &FloatOrigin| one.kind == other.kind && about(one) == about(other);
        merge(&mut whole.float_origins, row, is_same, |_, _| {});
    }
}

/// Calls that failed, work that is missing, and functions whose accesses are not seen.
fn failures(merged: &mut Merged, profile: &Profile, new: &Numbers<'_>) {
    let whole = &mut merged.whole;
    for row in &profile.run.missing {
        let row = Missing { kernel: new.kernel(row.kernel), ..row.clone() };
        let what = |row: &Missing| (row.what.clone(), row.kernel, row.name.clone(), row.error, row.reason.clone());
        merge(
            &mut whole.run.missing,
            row,
            |one, other| what(one) == what(other),
            |sum, row| {
                (sum.launches, sum.launch) = (sum.launches.saturating_add(row.launches), None);
            },
        );
    }
    for row in &profile.failed_calls {
        merge(
            &mut whole.failed_calls,
            row.clone(),
            |one, other| one.is_like(other),
            |sum, row| {
                sum.calls = sum.calls.saturating_add(row.calls);
            },
        );
    }
    for row in &profile.not_seen {
        merge(&mut whole.not_seen, row.clone(), |one, other| one == other, |_, _| {});
    }
}

/// Sorts by rank and launch. Data that depends on new numbers is not compared.
pub(in crate::merge) fn sort_faults(faults: &mut [Fault]) {
    faults.sort_by(|one, other| {
        let key = |fault: &Fault| (fault.rank, fault.launch, fault.block, fault.thread, fault.bytes, fault.offset);
        let texts = |one: &Fault, other: &Fault| {
            (&one.kind, &one.op, &one.frame, &one.other, &one.address, &one.path).cmp(&(
                &other.kind,
                &other.op,
                &other.frame,
                &other.other,
                &other.address,
                &other.path,
            ))
        };
        key(one).cmp(&key(other)).then_with(|| texts(one, other))
    });
}
