//! Stores of values that memory already contains (`--values`). GVProf and ValueExpert call them redundant stores; in
//! computer architecture they are called silent stores.

use super::super::facts::values::{Silent, silent_stores};
use super::super::prelude::*;

described! {
    enum Cause {
        EveryLaunch { share: Share, launches: Count } => "same-in-every-launch",
        Filled { share: Share, value: Shown, line: Shown } => "value-of-fill",
        Updated { share: Share } => "update-without-change",
        There { share: Share } => "value-already-there",
    }
    enum Remedy {
        LaunchOnce => "launch-once",
        StoreOthers { value: Shown } => "store-other-values",
        StoreIfChanged => "store-if-changed",
        StoreChanges => "store-what-changes",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    silent_stores(facts).iter().map(|silent| draft(facts, silent)).collect()
}

fn diagnosis(facts: &Facts<'_>, silent: &Silent<'_, '_>) -> Diagnosis {
    let (row, share) = (silent.row, Share(silent.share));
    if silent.is_in_every_launch() {
        return Diagnosis::new(&Cause::EveryLaunch { share, launches: Count(row.launches) }, &Remedy::LaunchOnce);
    }
    let allocation = row.allocation.and_then(|id| facts.profile.allocation(id));
    let fill = allocation.and_then(|one| one.copies.iter().find(|copy| copy.direction == "set"));
    // The stored value is most likely that of the fill, which is zero for nearly all fills.
    let is_zero = row.values.zeros >= row.silent_lanes && row.values.zeros > 0;
    if let Some(line) = fill.and_then(|fill| innermost(&fill.path)).filter(|_| is_zero) {
        let value = Shown("0".to_owned());
        let line = Shown(line.line.to_string());
        let cause = Cause::Filled { share, value: value.clone(), line };
        return Diagnosis::new(&cause, &Remedy::StoreOthers { value });
    }
    let loads_it =
        |access: &Access<'_>| access.is_load() && access.kernel.id == row.kernel && access.allocation == row.allocation;
    match facts.accesses.iter().any(loads_it) {
        true => Diagnosis::new(&Cause::Updated { share }, &Remedy::StoreIfChanged),
        false => Diagnosis::new(&Cause::There { share }, &Remedy::StoreChanges),
    }
}

fn draft(facts: &Facts<'_>, silent: &Silent<'_, '_>) -> Draft {
    let (row, access) = (silent.row, silent.access);
    // A request in which only some lanes change memory is written to memory nevertheless.
    let saving = Saving::without_traffic(&[access]).times(silent.request_share());
    let of_kernel = share(access.sums.requests, facts.requests(access.kernel)) * silent.request_share();
    Draft::for_access(facts, diagnosis(facts, silent), access)
        .evidence("lanes", row.lanes as f64)
        .evidence("silent_lanes", row.silent_lanes as f64)
        .evidence("requests", row.requests as f64)
        .evidence("silent_requests", row.silent_requests as f64)
        .saves(facts, Saved::new(saving, of_kernel))
}
