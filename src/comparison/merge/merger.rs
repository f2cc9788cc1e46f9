//! Merges profiles one after the other. The memory is that of a single profile, independent of their number.

use std::collections::BTreeSet;

use super::ids::{Ids, MergedRows};
use super::merged::{Merged, Over};
use super::run::Facts;
use super::taking::{events, kernels, launches, rows};
use super::{MergeError, order};

use warpline_findings as findings;
use warpline_profile::model::{Finding, FoundBefore, SCHEMA, VERSION};
use warpline_profile::{Profile, may_be_added};
use warpline_simulator::models;

/// Merges profiles. The result is byte for byte independent of the order, and of the parts in which they are merged.
#[derive(Debug)]
pub struct Merger {
    merged: Merged,
    /// The first profile, while it is the only one.
    only: Option<Box<Profile>>,
}

impl Default for Merger {
    fn default() -> Self {
        Merger::new()
    }
}

impl Merger {
    /// Creates an empty merger.
    pub fn new() -> Merger {
        let merged = Merged {
            known: MergedRows::default(),
            whole: Profile::default(),
            facts: Facts::default(),
            met: BTreeSet::new(),
            over: Over::default(),
        };
        Merger { merged, only: None }
    }

    /// Adds a profile, which may be a merged one.
    ///
    /// # Errors
    /// Returns a [`MergeError`] if it does not belong to the earlier ones; nothing of it is then added.
    pub fn take(&mut self, profile: Profile) -> Result<(), MergeError> {
        self.merged.facts.check(&profile)?;
        self.merged.take(&profile);
        let is_first = self.merged.facts.taken() == 1;
        self.only = is_first.then(|| Box::new(profile));
        Ok(())
    }

    /// Adds the profile of a rank. Only the fields that merging reads must be present.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(super) fn take_rank(&mut self, profile: &Profile) -> Result<(), MergeError> {
        self.merged.facts.check(profile)?;
        self.merged.take(profile);
        self.only = None;
        Ok(())
    }

    /// Records that a file is missing, and its rank if its name contains one.
    pub fn miss(&mut self, file: String, rank: Option<u32>) {
        self.merged.facts.miss(file, rank);
    }

    /// Returns the merged profile. A single profile is returned unchanged, unless it is one of several ranks.
    ///
    /// # Errors
    /// Returns [`MergeError::Nothing`] if there are no profiles.
    pub fn finish(self) -> Result<Profile, MergeError> {
        let Merger { mut merged, only } = self;
        if let Some(only) = only {
            let alone = only.run.merged.is_some() || only.run.environment.rank.is_none();
            if alone && !merged.facts.misses_any() {
                return Ok(*only);
            }
        }
        if merged.facts.taken() == 0 {
            return Err(MergeError::Nothing);
        }
        order::put_in_order(&mut merged);
        let Merged { mut whole, facts, .. } = merged;
        (whole.schema, whole.version) = (SCHEMA.to_owned(), VERSION);
        let missing = std::mem::take(&mut whole.run.missing);
        whole.run = facts.finish()?;
        whole.run.missing = missing;
        for kernel in &mut whole.kernels {
            let models = &whole.run.models;
            kernel.estimates.sort_by_key(|estimate| models.iter().position(|model| *model == estimate.model));
        }
        // The rules add up several rows, so the sums must be valid.
        if may_be_added(&whole) {
            whole.findings = findings(&whole);
        } else {
            whole.run.notes.push("findings are left out: the profiles have counts that no run can have".to_owned());
        }
        Ok(whole)
    }
}

/// Returns the findings of the merged profile that one of the runs also has, because work that each of many processes
/// does once is not repeated work. Findings about several ranks are detected only here.
///
/// Only the rates of built-in models are used, because an untrusted profile must not cause a file to be read.
fn findings(whole: &Profile) -> Vec<Finding> {
    let first = whole.run.models.first();
    let built_in = models::names().find(|name| first.is_some_and(|model| model == name));
    let rates = built_in.and_then(|name| models::find(name).ok()).map(|model| model.rates());
    let known = whole.run.merged.as_ref().map(|merged| &merged.findings);
    let is_known = |finding: &Finding| {
        let kernel = whole.kernels.iter().find(|kernel| Some(kernel.id) == finding.kernel);
        let found = |line| FoundBefore {
            id: finding.id.clone(),
            kernel: kernel.map(|kernel| (kernel.module.clone(), kernel.mangled.clone())),
            file: finding.file.clone(),
            line,
        };
        let is_of_one = || known.is_some_and(|known| finding.all_lines().any(|line| known.contains(&found(line))));
        is_of_one() || findings::is_of_ranks(&finding.id)
    };
    let mut found: Vec<Finding> = findings::find(whole, rates.as_ref()).into_iter().filter(is_known).collect();
    for (rank, finding) in (1..).zip(&mut found) {
        finding.rank = rank;
    }
    found
}

impl Merged {
    fn take(&mut self, profile: &Profile) {
        self.known.begin();
        self.facts.take(profile);
        let run = &profile.run;
        let rank = run.environment.rank.as_ref().filter(|_| run.merged.is_none()).map(|rank| rank.index);
        let mut ids = Ids { rank, ..Ids::default() };
        self.put_into_groups_if(profile);
        kernels::number(self, profile, &mut ids);
        rows::host_allocations(self, profile, &mut ids);
        rows::number_allocations(self, profile, &mut ids);
        kernels::take(self, profile, &ids);
        rows::allocations(self, profile, &ids);
        rows::sites(self, profile, &ids);
        rows::code(self, profile, &ids);
        events::events(self, profile, &ids);
        rows::sources(self, profile);
    }

    /// Moves all launches into groups if this profile would make them too many.
    fn put_into_groups_if(&mut self, profile: &Profile) {
        let listed = |profile: &Profile| profile.kernels.iter().map(|kernel| kernel.launches.len()).sum::<usize>();
        if listed(&self.whole) + listed(profile) > launches::MOST_LISTED {
            self.facts.from.launches_in_groups = true;
        }
        if self.facts.from.launches_in_groups {
            self.whole.kernels.iter_mut().for_each(launches::put_into_groups);
        }
    }
}
