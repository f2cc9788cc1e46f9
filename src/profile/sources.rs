//! Takes the source lines that a profile refers to into the profile, so that it can be read anywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::Profile;
use super::model::Frame;

/// Larger files are no sources.
const MAX_SOURCE_BYTES: u64 = 64 << 20;
/// Longer lines are cut.
const MAX_LINE_CHARACTERS: usize = 400;

/// Reads the lines; returns the user's files that could not be read.
pub(super) fn collect(profile: &mut Profile) -> Vec<String> {
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut want = |file: &str, line: u32| {
        if line != 0 && !file.is_empty() {
            wanted.entry(file.to_owned()).or_default().insert(line);
        }
    };
    let each = |frames: &[Frame], want: &mut dyn FnMut(&str, u32)| {
        for frame in frames {
            want(&frame.file, frame.line);
        }
    };
    for kernel in &profile.kernels {
        want(&kernel.file, kernel.line);
        for launch in &kernel.launches {
            each(&launch.path, &mut want);
        }
    }
    for line in &profile.lines {
        want(&line.file, line.line);
    }
    for site in &profile.sites {
        want(&site.file, site.line);
        want(&site.leaf.file, site.leaf.line);
        each(&site.inlined_at, &mut want);
        for context in &site.contexts {
            each(&context.calls, &mut want);
        }
    }
    for allocation in &profile.allocations {
        each(&allocation.path, &mut want);
        for copy in &allocation.copies {
            each(&copy.path, &mut want);
        }
    }
    for allocation in &profile.host_allocations {
        each(&allocation.path, &mut want);
    }
    for branch in &profile.branches {
        want(&branch.file, branch.line);
    }
    for fault in &profile.faults {
        want(&fault.frame.file, fault.frame.line);
        each(&fault.path, &mut want);
    }
    for entry in &profile.not_seen {
        want(&entry.file, entry.line);
    }

    let users: BTreeSet<&str> = profile.lines.iter().map(|line| line.file.as_str()).collect();
    let mut missing = Vec::new();
    let mut sources = BTreeMap::new();
    for (file, lines) in wanted {
        let small = std::fs::metadata(&file).is_ok_and(|there| there.is_file() && there.len() <= MAX_SOURCE_BYTES);
        let Some(bytes) = small.then(|| std::fs::read(&file).ok()).flatten() else {
            if users.contains(file.as_str()) {
                missing.push(file);
            }
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut kept = BTreeMap::new();
        for (number, line) in (1u32..).zip(text.lines()) {
            if lines.contains(&number) {
                kept.insert(number, line.trim_end().chars().take(MAX_LINE_CHARACTERS).collect());
            }
        }
        sources.insert(file, kept);
    }
    profile.sources = sources;
    missing
}
