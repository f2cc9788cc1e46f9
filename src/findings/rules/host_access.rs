//! Host code that dereferences a pointer to device memory (`--check-host`; CUDA C++ Programming Guide, "Device Memory").

use super::super::prelude::*;
use warpline_profile::model::HostAccess;

described! {
    enum Cause {
        DeviceMemory { memory: Shown, is_store: Choice, offset: Count, times: Count } => "device-memory-on-host",
    }
    enum Remedy {
        CopyToHost => "copy-to-host",
        CopyToDevice => "copy-to-device",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.host_accesses.iter().filter_map(|access| draft(facts, access)).collect()
}

fn draft(facts: &Facts<'_>, access: &HostAccess) -> Option<Draft> {
    let allocation = facts.profile.allocation(access.allocation)?;
    let is_store = access.op == "store";
    let cause = Cause::DeviceMemory {
        memory: describe(allocation),
        is_store: Choice(u8::from(is_store)),
        offset: Count(access.offset),
        times: Count(access.count),
    };
    let remedy = if is_store { Remedy::CopyToDevice } else { Remedy::CopyToHost };
    let draft = Draft::new(Diagnosis::new(&cause, &remedy))
        .at_frame(innermost(&access.path))
        .of_allocation(access.allocation)
        .object(allocation.name.clone())
        .evidence("offset", access.offset as f64)
        .evidence("accesses", access.count as f64)
        .score(1.0)
        .severity(Severity::Error);
    Some(draft)
}
