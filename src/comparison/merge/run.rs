//! Merges the facts of the profiles' runs: those that are equal for all, and notes on single runs.

use std::collections::{BTreeMap, BTreeSet};

use super::{MergeError, ranges};
use warpline_profile::Profile;
use warpline_profile::model::{
    CacheBytes, Environment, FoundBefore, LookupBytes, MergedFrom, MergedRanks, Ranges, Run,
};

const ARGUMENTS: &str = "the runs had different arguments or paths of the executable; none are reported";
const RACES: &str = "conflicts between warps were not checked alike in all runs";

/// Facts of the merged runs.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// `None` before the first profile.
    run: Option<Run>,
    /// Modules with kernels.
    modules: BTreeSet<String>,
    /// Number of added profiles; a merged profile counts as one.
    taken: u64,
    /// The profiles that they consist of.
    pub(super) from: MergedFrom,
}

impl Facts {
    /// Checks whether a profile belongs to the earlier ones.
    pub(super) fn check(&self, other: &Profile) -> Result<(), MergeError> {
        let Some(one) = &self.run else { return Ok(()) };
        let two = &other.run;
        let different = |what, one: &dyn ToString, other: &dyn ToString| {
            let (one, other) = (one.to_string(), other.to_string());
            Err(MergeError::Different { what, one, other })
        };
        if one.models != two.models {
            return different("GPU models", &one.models.join(","), &two.models.join(","));
        }
        if one.device != two.device {
            return different("devices", &one.device, &two.device);
        }
        if one.mode != two.mode {
            return different("modes", &one.mode, &two.mode);
        }
        // A copied or renamed executable still has the same kernels.
        let foreign = !self.modules.is_empty()
            && !other.kernels.is_empty()
            && other.kernels.iter().all(|kernel| !self.modules.contains(&kernel.module));
        if one.program.first() != two.program.first() && foreign {
            return Err(MergeError::Programs { one: executable(one), other: executable(two) });
        }
        match (&self.from.ranks, &of_profile(other).ranks) {
            (Some(one), Some(two)) => match (one.count, two.count) {
                (Some(one), Some(two)) if one != two => Err(MergeError::Jobs { one, other: two }),
                _ => Ok(()),
            },
            (None, None) => Ok(()),
            _ => Err(MergeError::NotAllRanks),
        }
    }

    /// Adds the facts of a run. Rows of missing work are added with the other rows.
    pub(super) fn take(&mut self, profile: &Profile) {
        for kernel in &profile.kernels {
            if !self.modules.contains(&kernel.module) {
                self.modules.insert(kernel.module.clone());
            }
        }
        self.taken += 1;
        let theirs = of_profile(profile);
        let mut environment = profile.run.environment.clone();
        if let Some(rank) = environment.rank.take()
            && let Some(node) = rank.node
            && profile.run.merged.is_none()
        {
            environment.nodes.insert(node, vec![[rank.index, rank.index]]);
        }
        match &mut self.run {
            None => {
                let unreadable = std::mem::replace(&mut self.from, theirs).unreadable;
                self.from.unreadable.extend(unreadable);
                self.run = Some(Run { environment, missing: Vec::new(), merged: None, ..profile.run.clone() });
            }
            Some(run) => {
                add_run(run, &profile.run, &mut self.from.left_out);
                add_environment(&mut run.environment, &environment);
                add_from(&mut self.from, &theirs);
            }
        }
    }

    /// Returns the number of added profiles.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Records that a file could not be read.
    pub(super) fn miss(&mut self, file: String, rank: Option<u32>) {
        self.from.unreadable.insert(file, rank);
    }

    /// Returns whether files could not be read.
    pub(super) fn misses_any(&self) -> bool {
        !self.from.unreadable.is_empty()
    }

    /// Returns the run of the merged profile, without missing work.
    pub(super) fn finish(self) -> Result<Run, MergeError> {
        let Facts { run, from, .. } = self;
        let mut run = run.ok_or(MergeError::Nothing)?;
        let mut notes = vec![format!("merged from {} profiles", from.profiles)];
        run.complete = from.incomplete == 0 && from.unreadable.is_empty();
        if let Some(ranks) = &from.ranks {
            run.complete &= note_ranks(ranks, &mut notes);
        }
        for (file, rank) in &from.unreadable {
            let of = rank.map_or(String::new(), |rank| format!("rank {rank}: "));
            notes.push(format!("{of}{file} cannot be read; its figures are missing"));
        }
        let codes = &from.exit_codes;
        if codes.len() > 1 {
            let listed: Vec<&str> = codes.keys().map(String::as_str).collect();
            notes.push(format!("the runs ended with different exit codes: {}", listed.join(" | ")));
        }
        let mut known: Vec<i32> = codes.keys().filter_map(|code| code.parse().ok()).collect();
        known.sort_unstable_by_key(|code| (*code == 0, *code));
        run.exit_code = if codes.len() == 1 || known.first().is_some_and(|code| *code != 0) {
            known.first().copied()
        } else {
            None
        };
        for (key, values) in run.assumptions.iter().filter(|(_, values)| values.contains(SEPARATOR)) {
            notes.push(format!("the runs differ in `{key}`: {values}"));
        }
        notes.extend(from.left_out.iter().cloned());
        for (note, count) in &from.notes {
            let where_ = if *count == from.profiles { String::new() } else { format!("in {count} of the profiles: ") };
            notes.push(format!("{where_}{note}"));
        }
        run.notes = notes;
        run.environment.pid = None;
        run.merged = Some(Box::new(from));
        Ok(run)
    }
}

/// Adds notes on a job's ranks; returns whether all of them are present and complete.
fn note_ranks(ranks: &MergedRanks, notes: &mut Vec<String>) -> bool {
    let absent = ranks.count.map(|count| ranges::absent(&ranks.present, count)).unwrap_or_default();
    let has = |ranges: &Ranges, one: &'static str, several: &'static str| {
        if ranges::size(ranges) == 1 { one } else { several }
    };
    if let Some(count) = ranks.count.filter(|_| !absent.is_empty()) {
        let named = ranges::named(&absent);
        notes.push(format!(
            "{named} of {count} {} no profile; the figures lack their work",
            has(&absent, "has", "have")
        ));
    }
    if !ranks.incomplete.is_empty() {
        let is = has(&ranks.incomplete, "is", "are");
        notes.push(format!("{} {is} incomplete", ranges::named(&ranks.incomplete)));
    }
    for (code, failed) in &ranks.failed {
        let how = match code.parse::<i32>() {
            Ok(code @ 129..=192) => format!("by signal {}, or exit code {code}", code - 128),
            _ => format!("with exit code {code}"),
        };
        notes.push(format!("{} ended {how}", ranges::named(failed)));
    }
    if !ranks.repeated.is_empty() {
        let is = has(&ranks.repeated, "was", "were");
        notes.push(format!(
            "{} {is} given more than once: the sums have each of them as often",
            ranges::named(&ranks.repeated)
        ));
    }
    absent.is_empty()
}

/// Separator between values that differ between runs.
const SEPARATOR: &str = " | ";

/// Returns the parts of a merged profile, or a single part for a profile of one run.
fn of_profile(profile: &Profile) -> MergedFrom {
    let run = &profile.run;
    if let Some(merged) = &run.merged {
        let mut merged = (**merged).clone();
        if let Some(ranks) = &mut merged.ranks {
            for ranges in [&mut ranks.present, &mut ranks.repeated, &mut ranks.incomplete] {
                *ranges = ranges::sound(ranges);
            }
        }
        return merged;
    }
    let code = run.exit_code.map_or("unknown".to_owned(), |code| code.to_string());
    let kernel = |id: Option<u32>| {
        let kernel = profile.kernels.iter().find(|kernel| Some(kernel.id) == id)?;
        Some((kernel.module.clone(), kernel.mangled.clone()))
    };
    // Another rank may list another of the finding's lines first.
    let found = profile.findings.iter().flat_map(|finding| {
        let kernels: Vec<Option<u32>> = match finding.kernel {
            Some(_) => finding.all_kernels().map(Some).collect(),
            None => vec![None],
        };
        let places = kernels.into_iter().flat_map(|own| finding.all_lines().map(move |line| (own, line)));
        let known = places.map(|(own, line)| FoundBefore {
            id: finding.id.clone(),
            kernel: kernel(own),
            file: finding.file.clone(),
            line,
        });
        known.collect::<Vec<_>>()
    });
    let ranks = run.environment.rank.as_ref().map(|rank| {
        let own = vec![[rank.index, rank.index]];
        let failed = run.exit_code.filter(|code| *code != 0).map(|code| (code.to_string(), own.clone()));
        MergedRanks {
            count: rank.count,
            incomplete: if run.complete { Vec::new() } else { own.clone() },
            failed: failed.into_iter().collect(),
            repeated: Vec::new(),
            present: own,
        }
    });
    MergedFrom {
        profiles: 1,
        incomplete: u64::from(!run.complete),
        exit_codes: [(code, 1)].into(),
        notes: run.notes.iter().map(|note| (note.clone(), 1)).collect(),
        left_out: BTreeSet::new(),
        findings: found.collect(),
        unreadable: BTreeMap::new(),
        launches_in_groups: false,
        ranks,
    }
}

fn add_from(sum: &mut MergedFrom, more: &MergedFrom) {
    sum.profiles = sum.profiles.saturating_add(more.profiles);
    sum.incomplete = sum.incomplete.saturating_add(more.incomplete);
    for (sum, more) in [(&mut sum.exit_codes, &more.exit_codes), (&mut sum.notes, &more.notes)] {
        for (what, count) in more {
            match sum.get_mut(what) {
                Some(sum) => *sum = sum.saturating_add(*count),
                None => _ = sum.insert(what.clone(), *count),
            }
        }
    }
    sum.left_out.extend(more.left_out.iter().cloned());
    for found in &more.findings {
        if !sum.findings.contains(found) {
            sum.findings.insert(found.clone());
        }
    }
    sum.unreadable.extend(more.unreadable.iter().map(|(file, rank)| (file.clone(), *rank)));
    sum.launches_in_groups |= more.launches_in_groups;
    let (Some(sum), Some(more)) = (&mut sum.ranks, &more.ranks) else { return };
    sum.count = sum.count.max(more.count);
    ranges::add(&mut sum.repeated, &more.repeated);
    ranges::add(&mut sum.repeated, &ranges::common(&sum.present, &more.present));
    ranges::add(&mut sum.present, &more.present);
    ranges::add(&mut sum.incomplete, &more.incomplete);
    for (code, ranks) in &more.failed {
        ranges::add(sum.failed.entry(code.clone()).or_default(), ranks);
    }
}

fn executable(run: &Run) -> String {
    run.program.first().cloned().unwrap_or_else(|| "an unknown program".to_owned())
}

fn add_run(sum: &mut Run, more: &Run, left_out: &mut BTreeSet<String>) {
    if sum.architectures != more.architectures {
        sum.architectures.extend(&more.architectures);
        sum.architectures.sort_unstable();
        sum.architectures.dedup();
    }
    sum.dropped_records = sum.dropped_records.saturating_add(more.dropped_records);
    sum.sampled |= more.sampled;
    if sum.race_check != more.race_check {
        left_out.insert(RACES.to_owned());
        sum.race_check = Some("sampled".to_owned());
    }
    sum.leak_check |= more.leak_check;
    sum.init_check |= more.init_check;
    sum.host_check |= more.host_check;
    sum.float_check |= more.float_check;
    sum.memory_values |= more.memory_values;
    super::sums::whole::add(&mut sum.whole_run, more.whole_run.as_ref(), false);
    add_values(&mut sum.assumptions, &more.assumptions);
    if sum.program != more.program {
        left_out.insert(ARGUMENTS.to_owned());
        let first = [&sum.program, &more.program].into_iter().filter_map(|program| program.first()).min().cloned();
        sum.program = first.into_iter().collect();
    }
    for (model, LookupBytes { l1, l2 }) in &more.lookup_bytes {
        let known = sum.lookup_bytes.entry(model.clone()).or_default();
        *known = LookupBytes { l1: known.l1.max(*l1), l2: known.l2.max(*l2) };
    }
    for (model, CacheBytes { l1, l2 }) in &more.cache_bytes {
        let known = sum.cache_bytes.entry(model.clone()).or_default();
        *known = CacheBytes { l1: known.l1.max(*l1), l2: known.l2.max(*l2) };
    }
}

/// Adds values by name; a name can have several values.
fn add_values(sum: &mut BTreeMap<String, String>, more: &BTreeMap<String, String>) {
    for (name, value) in more {
        match sum.get_mut(name) {
            Some(known) if known != value => {
                let values: BTreeSet<&str> = known.split(SEPARATOR).chain(value.split(SEPARATOR)).collect();
                *known = values.into_iter().collect::<Vec<_>>().join(SEPARATOR);
            }
            Some(_) => {}
            None => _ = sum.insert(name.clone(), value.clone()),
        }
    }
}

fn add_environment(sum: &mut Environment, more: &Environment) {
    if sum.command != more.command {
        sum.command.clear();
    }
    add_values(&mut sum.versions, &more.versions);
    for (what, time) in &more.seconds {
        // Seconds are added in whole milliseconds, the reported unit, so that the order does not matter.
        let sum = sum.seconds.entry(what.clone()).or_default();
        *sum = ((*sum * 1e3).round() + (time * 1e3).round()) / 1e3;
    }
    if sum.host != more.host {
        sum.host = None;
    }
    sum.date = match (sum.date.take(), &more.date) {
        (Some(one), Some(other)) => Some(if *other < one { other.clone() } else { one }),
        (one, other) => one.or_else(|| other.clone()),
    };
    if sum.threads != more.threads {
        sum.threads = None;
    }
    for (node, ranks) in &more.nodes {
        ranges::add(sum.nodes.entry(node.clone()).or_default(), &ranges::sound(ranks));
    }
    sum.labels.retain(|name, value| more.labels.get(name) == Some(value));
}
