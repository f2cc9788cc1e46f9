//! View of an allocation in the order of its lifetime: allocated, copied to, used, copied from, freed.

use std::collections::BTreeMap;

use super::figures::{Figures, columns, figure, words};
use super::links::{access_name, all_sectors, findings, kernel_name, line_target, path_target, place, rows, table};
use super::model::{Block, Cell, Fact, Row, Target, View};
use crate::text::name_of;
use crate::words::values::summary;
use crate::words::{at, bytes, count, host_path, percent, ratio};
use warpline_profile::Profile;
use warpline_profile::model::{Allocation, CopyRow, Intensity, user_frame};

/// Returns the view of an allocation; `None` if the profile has no allocation with this number.
pub fn allocation(profile: &Profile, id: u64) -> Option<View> {
    let allocation = profile.allocation(id)?;
    let title = format!("ALLOCATION {}: {}, {}", name_of(allocation), bytes(allocation.bytes), allocation.kind);
    let frame = user_frame(&allocation.path).filter(|frame| !frame.file.is_empty() && frame.line > 0);
    let mut blocks = vec![Block::Facts(life(profile, allocation))];
    blocks.extend(by_kernel(profile, allocation));
    blocks.extend(intensity(profile, allocation));
    blocks.extend(accesses(profile, allocation));
    blocks.extend(findings(profile, |finding| finding.allocation == Some(id)));
    Some(View { title, place: frame.map(|frame| (frame.file.clone(), frame.line)), blocks })
}

/// Returns the view of a host allocation; `None` if the profile has no host allocation with this number.
pub fn host_allocation(profile: &Profile, id: u64) -> Option<View> {
    let host = profile.host_allocations.iter().find(|host| host.id == id)?;
    let name = host.name.as_deref().unwrap_or("without a name");
    let title = format!("HOST ALLOCATION {name}: {}, {}", bytes(host.bytes), host.kind);
    let frame = user_frame(&host.path).filter(|frame| !frame.file.is_empty() && frame.line > 0);
    let path = host_path(&host.path);
    let made =
        (!path.is_empty()).then(|| Fact { label: "made", text: path.join(" > "), target: path_target(&host.path) });
    let copies = profile.allocations.iter().flat_map(|row| row.copies.iter().map(move |copy| (row, copy)));
    let copies = copies.filter(|(_, copy)| copy.host == Some(id));
    let mut facts: Vec<Fact> = made.into_iter().collect();
    facts.extend(copies.map(|(row, copy)| {
        let mut fact = copied(profile, copy);
        fact.text = format!("{}; device memory {}", fact.text, name_of(row));
        fact
    }));
    let place = frame.map(|frame| (frame.file.clone(), frame.line));
    Some(View { title, place, blocks: vec![Block::Facts(facts)] })
}

fn life(profile: &Profile, allocation: &Allocation) -> Vec<Fact> {
    let mut facts = Vec::new();
    let path = host_path(&allocation.path);
    if !path.is_empty() {
        facts.push(Fact { label: "made", text: path.join(" > "), target: path_target(&allocation.path) });
    }
    let (to, from): (Vec<&CopyRow>, Vec<&CopyRow>) =
        allocation.copies.iter().partition(|copy| copy.direction != "device_to_host");
    facts.extend(to.into_iter().map(|copy| copied(profile, copy)));
    if allocation.metrics.requests == 0 {
        let text = if profile.run.mode == "counters" {
            "requests were counted without their addresses"
        } else {
            "by no kernel"
        };
        facts.push(Fact { label: "used", text: text.to_owned(), target: None });
    } else if allocation.touched_bytes > 0 {
        let share = percent(ratio(allocation.touched_bytes, allocation.bytes));
        let text = format!("{} of {} ({share})", bytes(allocation.touched_bytes), bytes(allocation.bytes));
        facts.push(Fact { label: "touched", text, target: None });
    }
    facts.extend(from.into_iter().map(|copy| copied(profile, copy)));
    facts.extend(values(profile, allocation.id));
    let freed = match (allocation.freed, allocation.freed_count, allocation.count) {
        (true, _, _) => "yes".to_owned(),
        (false, 0, _) => "no".to_owned(),
        (false, freed, count) => format!("{freed} of {count}"),
    };
    facts.push(Fact { label: "freed", text: freed, target: None });
    facts
}

/// Returns the values that kernels load and store, if they were recorded.
fn values(profile: &Profile, id: u64) -> Vec<Fact> {
    let Some(row) = profile.allocation_values.iter().find(|row| row.allocation == id) else { return Vec::new() };
    let zeros = percent(ratio(row.values.zeros, row.values.count));
    let mut text = format!("{}; {} in all, {zeros} zeros", summary(&row.values), count(row.values.count));
    if row.sectors > 0 {
        text.push_str(&format!(", {} of its blocks of 32 bytes", percent(ratio(row.zero_sectors, row.sectors))));
    }
    let stores = profile.access_values.iter().filter(|one| one.allocation == Some(id) && one.op != "load");
    let (silent, lanes) = stores.fold((0u64, 0u64), |(silent, lanes), one| {
        (silent.saturating_add(one.silent_lanes), lanes.saturating_add(one.lanes))
    });
    if lanes > 0 {
        text.push_str(&format!("; {} of what is stored changes nothing", percent(ratio(silent, lanes))));
    }
    vec![Fact { label: "values", text, target: None }]
}

fn copied(profile: &Profile, copy: &CopyRow) -> Fact {
    let host = copy.host.and_then(|id| profile.host_allocations.iter().find(|host| host.id == id));
    let host = host.and_then(|host| host.name.as_deref()).map_or(String::new(), |name| format!(", host memory {name}"));
    let unchanged = match copy.unchanged_count {
        0 => String::new(),
        unchanged => format!(", {unchanged} of them transferred no changed bytes"),
    };
    let place = user_frame(&copy.path).map_or(String::new(), |frame| format!(" at {}", at(&frame.file, frame.line)));
    let direction = copy.direction.replace('_', " ");
    let times = if copy.count == 1 { "once".to_owned() } else { format!("{} times", count(copy.count)) };
    let text = format!("{direction}, {times}, {}{place}{host}{unchanged}", bytes(copy.bytes));
    Fact { label: "copied", text, target: path_target(&copy.path) }
}

fn by_kernel(profile: &Profile, allocation: &Allocation) -> Option<Block> {
    let mut sums: BTreeMap<u32, Figures> = BTreeMap::new();
    for row in &allocation.by_kernel {
        sums.entry(row.kernel).or_default().add(&Figures::of_space("global", &row.metrics));
    }
    let name = |id: &u32| vec![Cell::Text(kernel_name(profile, *id))];
    let rows = rows(sums, all_sectors(profile), name, |id| Some(Target::Kernel(*id)));
    table("KERNELS that use it", columns(&[words("kernel")]), rows)
}

/// Returns the floating-point results of the kernels per byte of the allocation.
fn intensity(profile: &Profile, allocation: &Allocation) -> Option<Block> {
    let of_allocation = profile.arithmetic_intensity.iter().filter(|row| row.allocation == allocation.id);
    let mut all: Vec<&Intensity> = of_allocation.collect();
    if all.len() == 2 {
        // The sum over one kernel is the kernel's row.
        all.remove(0);
    }
    let mean = |value: Option<f64>| value.map_or(Cell::Nothing, Cell::Mean);
    let row = |row: &Intensity| Row {
        cells: vec![
            Cell::Count(row.results),
            mean(row.per_requested_byte),
            mean(row.per_dram_byte),
            Cell::Text(row.kernel.map_or_else(|| "all of these".to_owned(), |id| kernel_name(profile, id))),
        ],
        target: row.kernel.map(Target::Kernel),
    };
    let columns = vec![
        figure("results", 0, "Floating-point results of the kernel's active lanes"),
        figure("per byte", 0, "Results per byte of the allocation that requests touch, before any cache"),
        figure("per DRAM byte", 1, "Results per byte of the allocation that DRAM transfers, modelled"),
        words("kernel"),
    ];
    table("ARITHMETIC INTENSITY", columns, all.into_iter().map(row).collect())
}

/// Returns the accesses. Sites that unrolling created from one access form one row.
fn accesses(profile: &Profile, allocation: &Allocation) -> Option<Block> {
    let mut sums: BTreeMap<(&str, u32, u32, String, u32), Figures> = BTreeMap::new();
    for site in &profile.sites {
        for row in site.by_allocation.iter().filter(|row| row.allocation == Some(allocation.id)) {
            let key = (&site.file[..], site.line, site.kernel, access_name(site), site.column);
            sums.entry(key).or_default().add(&Figures::of_space(&site.space, &row.metrics));
        }
    }
    let name = |key: &(&str, u32, u32, String, u32)| {
        let (file, line, kernel, access, _) = key;
        vec![place(file, *line), Cell::Text(access.clone()), Cell::Text(kernel_name(profile, *kernel))]
    };
    let rows = rows(sums, all_sectors(profile), name, |(file, line, ..)| line_target(file, *line));
    table("ACCESSES to it", columns(&[words("line"), words("access"), words("kernel")]), rows)
}
