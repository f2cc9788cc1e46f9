//! The message for filters that match nothing: the filter that fails, and what the profile contains.

use std::collections::BTreeSet;

use super::filter::{Filter, apply};
use super::words::short_path;
use warpline_findings::nearest::{listed, nearest};
use warpline_profile::Profile;

/// Explains why the filters exclude everything in the profile.
pub fn unmatched(profile: &Profile, filter: &Filter) -> String {
    let none = Filter::default;
    let alone = [
        Filter { kernel: filter.kernel.clone(), ..none() },
        Filter { allocation: filter.allocation.clone(), ..none() },
        Filter { source: filter.source.clone(), ..none() },
        Filter { line: filter.line.clone(), ..none() },
        Filter { finding: filter.finding.clone(), ..none() },
    ];
    match alone.iter().find(|one| apply(profile, one).is_none()) {
        Some(one) => of_one(profile, one),
        None => {
            let named: Vec<String> = alone.iter().filter_map(described).collect();
            format!("nothing in the profile matches {} together, though each matches something", named.join(" and "))
        }
    }
}

/// Returns the option and its value; `None` for no filter.
fn described(filter: &Filter) -> Option<String> {
    let line = filter.line.as_ref().map(|place| format!("--line {}:{}", place.file, place.line));
    (filter.kernel.as_ref().map(|pattern| format!("--kernel '{pattern}'")))
        .or_else(|| Some(format!("--allocation {}", filter.allocation.as_ref()?)))
        .or_else(|| Some(format!("--source {}", filter.source.as_ref()?)))
        .or(line)
        .or_else(|| Some(format!("--finding {}", filter.finding.as_ref()?)))
}

/// Returns the message for a single filter that matches nothing.
fn of_one(profile: &Profile, filter: &Filter) -> String {
    let option = described(filter).unwrap_or_default();
    if let Some(pattern) = &filter.kernel {
        let names: Vec<&str> = profile.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        return format!("{option} matches no kernel; {}", instead("kernels", pattern.as_str(), &names));
    }
    if let Some(name) = &filter.allocation {
        let device = profile.allocations.iter().filter_map(|row| row.name.as_deref());
        let host = profile.host_allocations.iter().filter_map(|row| row.name.as_deref());
        let names: BTreeSet<&str> = device.chain(host).collect();
        let names: Vec<&str> = names.into_iter().collect();
        return format!("{option} matches no allocation; {}", instead("allocations", name, &names));
    }
    if let Some(part) = &filter.source {
        let files = files(profile);
        return format!("{option} matches no file with figures; {}", instead("files", part, &files));
    }
    if let Some(place) = &filter.line {
        let here = |file: &str| warpline_findings::ends_with(file, &place.file);
        let lines: BTreeSet<u32> =
            profile.lines.iter().filter(|row| here(&row.file)).map(|row| row.line).filter(|line| *line > 0).collect();
        if lines.is_empty() {
            return format!("{option}: no such file has figures; {}", instead("files", &place.file, &files(profile)));
        }
        let mut lines: Vec<u32> = lines.into_iter().collect();
        lines.sort_by_key(|line| (line.abs_diff(place.line), *line));
        let nearest: Vec<String> = lines.iter().take(5).map(u32::to_string).collect();
        return format!(
            "{option}: the profile has no figures of that line; the nearest with some: {}",
            nearest.join(", ")
        );
    }
    let ids: BTreeSet<&str> = profile.findings.iter().map(|finding| finding.id.as_str()).collect();
    match profile.findings.len() {
        0 => format!("{option}: the profile has no findings"),
        count => format!("{option} matches no finding; the profile has ranks 1 to {count}: {}", listed(ids)),
    }
}

/// Lists what the profile contains, starting with similar names.
fn instead(what: &str, typed: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return format!("the profile has no {what} with names");
    }
    let resembling = nearest(typed, names.iter().copied());
    if resembling.is_empty() {
        return format!("the profile has the {what} {}", listed(names.iter().copied()));
    }
    format!("did you mean {}?", listed(resembling))
}

fn files(profile: &Profile) -> Vec<&str> {
    let files: BTreeSet<&str> = profile.lines.iter().map(|row| short_path(&row.file)).collect();
    files.into_iter().collect()
}
