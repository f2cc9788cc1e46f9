//! What the profiles say of their runs.

use std::collections::{BTreeMap, BTreeSet};

use super::MergeError;
use crate::profile::Profile;
use crate::profile::model::{Environment, Run};

/// Whether profiles belong together.
pub(super) fn check(profiles: &[Profile]) -> Result<(), MergeError> {
    let (first, rest) = profiles.split_first().ok_or(MergeError::Nothing)?;
    let modules = |profile: &Profile| -> BTreeSet<String> {
        profile.kernels.iter().map(|kernel| kernel.module.clone()).collect()
    };
    let of_first = modules(first);
    for other in rest {
        let (one, two) = (&first.run, &other.run);
        for (what, one, other) in [
            ("GPU models", one.models.join(","), two.models.join(",")),
            ("devices", one.device.clone(), two.device.clone()),
            ("modes", one.mode.clone(), two.mode.clone()),
        ] {
            if one != other {
                return Err(MergeError::Different { what, one, other });
            }
        }
        // An executable that was copied or renamed has its kernels still.
        let of_other = modules(other);
        let foreign = !of_first.is_empty() && !of_other.is_empty() && of_other.is_disjoint(&of_first);
        if one.program.first() != two.program.first() && foreign {
            return Err(MergeError::Programs { one: executable(one), other: executable(two) });
        }
    }
    Ok(())
}

fn executable(run: &Run) -> String {
    run.program.first().cloned().unwrap_or_else(|| "an unknown program".to_owned())
}

/// What all of them have, if it is the same.
fn same<T: PartialEq + Clone>(profiles: &[Profile], of: impl Fn(&Run) -> T) -> Option<T> {
    let mut values = profiles.iter().map(|profile| of(&profile.run));
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// Facts of all runs; rows of what is missing come with the other rows.
pub(super) fn merge(first: &Profile, profiles: &[Profile]) -> Run {
    let runs = || profiles.iter().map(|profile| &profile.run);
    let mut notes = vec![format!("merged from {} profiles", profiles.len())];
    let exit_code = same(profiles, |run| run.exit_code).unwrap_or_else(|| {
        let codes: BTreeSet<String> =
            runs().map(|run| run.exit_code.map_or("unknown".to_owned(), |code| code.to_string())).collect();
        notes.push(format!("the runs ended with different exit codes: {}", listed(&codes)));
        runs().filter_map(|run| run.exit_code).find(|code| *code != 0)
    });
    let program = same(profiles, |run| run.program.clone()).unwrap_or_else(|| {
        notes.push("the runs had different arguments or paths of the executable; none are reported".to_owned());
        let path = same(profiles, |run| run.program.first().cloned()).flatten();
        path.or_else(|| first.run.program.first().cloned()).into_iter().collect()
    });
    let mut assumptions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (key, value) in runs().flat_map(|run| &run.assumptions) {
        assumptions.entry(key.clone()).or_default().insert(value.clone());
    }
    for (key, values) in assumptions.iter().filter(|(_, values)| values.len() > 1) {
        notes.push(format!("the runs differ in `{key}`: {}", listed(values)));
    }
    // Each note once, and in how many of the profiles it stands.
    let mut told: Vec<(&String, usize)> = Vec::new();
    for run in runs() {
        let distinct: BTreeSet<&String> = run.notes.iter().collect();
        for note in run.notes.iter().filter(|note| distinct.contains(note)) {
            match told.iter_mut().find(|(known, _)| *known == note) {
                Some((_, count)) => *count += 1,
                None => told.push((note, 1)),
            }
        }
    }
    for (note, count) in told {
        let where_ = if count == profiles.len() { String::new() } else { format!("in {count} of the profiles: ") };
        notes.push(format!("{where_}{note}"));
    }
    Run {
        device: first.run.device.clone(),
        models: first.run.models.clone(),
        complete: runs().all(|run| run.complete),
        architectures: runs()
            .flat_map(|run| &run.architectures)
            .copied()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
        dropped_records: runs().fold(0, |sum, run| sum.saturating_add(run.dropped_records)),
        mode: first.run.mode.clone(),
        sampled: runs().any(|run| run.sampled),
        race_check: same(profiles, |run| run.race_check.clone()).unwrap_or_else(|| {
            notes.push("conflicts between warps were not looked for alike in all runs".to_owned());
            runs().any(|run| run.race_check.is_some()).then(|| "sampled".to_owned())
        }),
        exit_code,
        assumptions: assumptions.into_iter().map(|(key, values)| (key, listed(&values))).collect(),
        program,
        notes,
        missing: Vec::new(),
        lookup_bytes: runs().flat_map(|run| run.lookup_bytes.clone()).collect(),
        cache_bytes: runs().flat_map(|run| run.cache_bytes.clone()).collect(),
        environment: environment(profiles),
    }
}

fn listed(values: &BTreeSet<String>) -> String {
    values.iter().cloned().collect::<Vec<_>>().join(" | ")
}

fn environment(profiles: &[Profile]) -> Environment {
    let all = || profiles.iter().map(|profile| &profile.run.environment);
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut seconds: BTreeMap<String, f64> = BTreeMap::new();
    for environment in all() {
        for (tool, version) in &environment.versions {
            versions.entry(tool.clone()).or_default().insert(version.clone());
        }
        for (what, time) in &environment.seconds {
            *seconds.entry(what.clone()).or_default() += time;
        }
    }
    Environment {
        command: same(profiles, |run| run.environment.command.clone()).unwrap_or_default(),
        versions: versions.into_iter().map(|(tool, versions)| (tool, listed(&versions))).collect(),
        seconds,
        pid: None,
        host: same(profiles, |run| run.environment.host.clone()).flatten(),
        date: all().filter_map(|environment| environment.date.clone()).min(),
        threads: same(profiles, |run| run.environment.threads).flatten(),
        rank: same(profiles, |run| run.environment.rank.clone()).flatten(),
        labels: common(all().map(|environment| &environment.labels)),
    }
}

/// The labels that all of them have.
fn common<'a>(mut all: impl Iterator<Item = &'a BTreeMap<String, String>>) -> BTreeMap<String, String> {
    let mut labels = all.next().cloned().unwrap_or_default();
    for other in all {
        labels.retain(|name, value| other.get(name) == Some(value));
    }
    labels
}
