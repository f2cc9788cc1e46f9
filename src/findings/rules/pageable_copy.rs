//! Large copies from or to host memory that is not pinned: the driver copies them through a buffer of its own (CUDA C++ Best
//! Practices Guide, "Pinned Memory").

use super::super::draft::Draft;
use super::super::facts::{Copies, Facts, innermost};
use super::super::words;
use crate::profile::copy_seconds;
use crate::profile::model::{HostAllocation, Severity};

/// Bytes in all, at least, where nothing asks for more than that they arrive.
const LEAST_BYTES: u64 = 64 << 20;
/// Bytes of copies that are to overlap with kernels, at least.
const LEAST_ASYNC_BYTES: u64 = 1 << 20;
/// Share of the time of a copy that pinned memory saves, about: 6 instead of 12 GB/s, an assumption.
const SAVED: f64 = 0.5;

/// Bytes of a page of the host.
const PAGE: u64 = 4096;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let all: Vec<Copies<'_>> = facts.bus_copies().into_iter().filter(|copies| is_pageable(facts, copies)).collect();
    let (waiting, plain): (Vec<_>, Vec<_>) = all.into_iter().partition(|copies| is_asynchronous(facts, copies));
    let sum = |copies: &[Copies<'_>]| copies.iter().map(|copies| copies.bytes).fold(0, u64::saturating_add);
    let mut found = Vec::new();
    if sum(&waiting) >= LEAST_ASYNC_BYTES
        && let Some(largest) = waiting.iter().max_by_key(|copies| copies.bytes)
    {
        found.push(asynchronous(facts, largest, sum(&waiting)));
    }
    if sum(&plain) >= LEAST_BYTES
        && let Some(largest) = plain.iter().max_by_key(|copies| copies.bytes)
    {
        let reason = format!(
            "{} cross the bus from or to pageable host memory: the driver copies them through a pinned buffer first, and such copies do not \
             overlap with kernels",
            words::bytes(sum(&plain))
        );
        let cure = "allocate what is copied often with cudaMallocHost, or pin it with cudaHostRegister";
        let draft = Draft::new(reason, cure).at_frame(innermost(largest.path));
        found.push(draft.evidence("bytes", sum(&plain) as f64).score(0.0).severity(Severity::Note));
    }
    found
}

fn asynchronous(facts: &Facts<'_>, largest: &Copies<'_>, bytes: u64) -> Draft {
    let host = largest.hosts.iter().flatten().next();
    let host = facts.profile.host_allocations.iter().find(|row| Some(&row.id) == host);
    let name = host.and_then(|row| row.name.clone());
    let named = name.as_ref().map_or("host memory".to_owned(), |name| format!("`{name}`"));
    let reason = format!(
        "cudaMemcpyAsync copies {} from or to {named}, which is not pinned ({} in all such copies): the driver copies through a buffer of its own, \
         so that the call waits and the copy does not overlap with kernels or other copies",
        words::bytes(largest.bytes),
        words::bytes(bytes),
    );
    let cure = format!("allocate {named} with cudaMallocHost, or pin it once with cudaHostRegister");
    Draft::new(reason, cure)
        .at_frame(innermost(largest.path))
        .object(name)
        .evidence("bytes", bytes as f64)
        .score(SAVED * facts.program_share(copy_seconds(bytes, 0)))
        .severity(Severity::Warning)
}

/// Whether the host's side is known, and known not to be pinned.
fn is_pageable(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    // Who pins memory may have it under another name, as a container's; it is as large, but for what fills a page.
    let registered = |host: &HostAllocation| {
        let mut rows = facts.profile.allocations.iter().filter(|row| row.kind == "cudaHostRegister");
        let each = |bytes: u64, count: u64| bytes / count.max(1);
        rows.any(|row| {
            let is_as_large = each(row.bytes, row.count).abs_diff(each(host.bytes, host.count)) < PAGE;
            is_as_large && (row.name == host.name || !is_named(facts, row.name.as_deref()))
        })
    };
    !copies.hosts.is_empty()
        && copies.hosts.iter().all(|id| {
            let host = id.and_then(|id| facts.profile.host_allocations.iter().find(|host| host.id == id));
            host.is_some_and(|host| !host.kind.starts_with("cu") && !registered(host))
        })
}

/// Whether memory of the host has this name.
fn is_named(facts: &Facts<'_>, name: Option<&str>) -> bool {
    name.is_some() && facts.profile.host_allocations.iter().any(|host| host.name.as_deref() == name)
}

/// Whether the source asks for a copy that overlaps.
fn is_asynchronous(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    let Some(frame) = innermost(copies.path) else { return false };
    let text = facts.profile.sources.get(&frame.file).and_then(|lines| lines.get(&frame.line));
    text.is_some_and(|text| text.contains("Async"))
}
