//! Profiles of one program put together: of its processes, ranks or runs.
//!
//! Rows are known by what they are (kernels by module and mangled name, sites and lines by place, allocations by name, kind,
//! call path and size) and get new numbers. Counts are sums, ratios are taken anew. What cannot be put together without
//! knowing more than the profiles tell is left out, and a note says so. The order in which profiles are given does not matter.

mod ids;
mod kernels;
mod metrics;
mod patterns;
mod plausible;
mod rows;
mod run;
mod spreads;

use std::collections::BTreeSet;

pub(crate) use metrics::add;

use crate::profile::Profile;
use crate::profile::model::Finding;
use crate::{findings, models};
use ids::{Ids, Known};

/// Why profiles cannot be put together.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MergeError {
    /// There are none.
    #[error("there is no profile to merge")]
    Nothing,
    /// They were not made alike.
    #[error(
        "the profiles were made for different {what} ({one} and {other}), so their figures do not add up; run the program \
         with the same options each time, or `warpline sim` kept traces for one model"
    )]
    Different {
        /// `GPU models`, `devices` or `modes`.
        what: &'static str,
        /// One of them.
        one: String,
        /// Another one.
        other: String,
    },
    /// They have nothing in common.
    #[error("the profiles are of different programs: {one} and {other}; `warpline diff` compares two")]
    Programs {
        /// One of them.
        one: String,
        /// Another one.
        other: String,
    },
}

/// Puts profiles together; a single one stays as it is.
///
/// # Errors
/// [`MergeError`]: they do not belong together.
pub fn merge(profiles: Vec<Profile>) -> Result<Profile, MergeError> {
    let mut profiles = profiles;
    run::check(&profiles)?;
    // A fixed order, whatever the arguments' is: the earliest first.
    profiles.sort_by_cached_key(|profile| {
        let environment = &profile.run.environment;
        let document = serde_json::to_vec(profile).unwrap_or_default();
        (environment.date.clone(), environment.pid, md5::compute(document).0)
    });
    if profiles.len() == 1 {
        return profiles.pop().ok_or(MergeError::Nothing);
    }
    let mut merged = Merged { known: Known::default(), whole: empty(&profiles)?, notes: BTreeSet::new() };
    for profile in &profiles {
        merged.take(profile);
    }
    let Merged { mut whole, notes, .. } = merged;
    rows::order(&mut whole);
    spreads::merge(&mut whole, &profiles);
    whole.run.notes.extend(notes.into_iter().map(str::to_owned));
    // Rules add up more than one row.
    if plausible::is_plausible(&whole) && profiles.iter().all(plausible::is_plausible) {
        whole.findings = findings(&whole, &profiles);
    } else {
        whole.run.notes.push("findings are left out: the profiles have counts that no run can have".to_owned());
    }
    Ok(whole)
}

/// Those of the whole that are of one of the runs, too: what each of many processes does once is not done many times.
///
/// Rates are known of built-in models; a profile must not make anybody read a file that it names.
fn findings(whole: &Profile, profiles: &[Profile]) -> Vec<Finding> {
    let first = whole.run.models.first();
    let built_in = models::names().find(|name| first.is_some_and(|model| model == name));
    let rates = built_in.and_then(|name| models::find(name).ok()).map(|model| model.rates());
    let all = |profile: &Profile| findings::find(profile, rates.as_ref());
    let key = |profile: &Profile, finding: Finding| {
        let kernel = profile.kernels.iter().find(|kernel| Some(kernel.id) == finding.kernel);
        let name = kernel.map(|kernel| (kernel.module.clone(), kernel.mangled.clone()));
        (finding.id, name, finding.file, finding.line)
    };
    let keys = |profile: &Profile| all(profile).into_iter().map(|finding| key(profile, finding)).collect::<Vec<_>>();
    let known: BTreeSet<_> = profiles.iter().flat_map(keys).collect();
    let mut found: Vec<Finding> =
        all(whole).into_iter().filter(|finding| known.contains(&key(whole, finding.clone()))).collect();
    for (rank, finding) in (1..).zip(&mut found) {
        finding.rank = rank;
    }
    found
}

/// What there is so far.
struct Merged {
    known: Known,
    whole: Profile,
    notes: BTreeSet<&'static str>,
}

impl Merged {
    fn take(&mut self, profile: &Profile) {
        self.known.begin();
        let mut ids = Ids { launches: self.known.next_launch, ..Ids::default() };
        kernels::number(self, profile, &mut ids);
        rows::host_allocations(self, profile, &mut ids);
        rows::number_allocations(self, profile, &mut ids);
        kernels::take(self, profile, &ids);
        rows::allocations(self, profile, &ids);
        rows::sites(self, profile, &ids);
        rows::code(self, profile, &ids);
        rows::events(self, profile, &ids);
        rows::sources(self, profile);
        self.known.next_launch = ids.launches.saturating_add(launches(profile));
    }
}

/// One more than the highest number of a launch.
fn launches(profile: &Profile) -> u64 {
    let told = profile.kernels.iter().flat_map(|kernel| {
        let groups = kernel.launch_groups.iter().map(|group| group.last);
        kernel.launches.iter().map(|launch| launch.id).chain(groups)
    });
    told.max().map_or(0, |last| last.saturating_add(1))
}

/// A profile with all facts of the run and no rows.
fn empty(profiles: &[Profile]) -> Result<Profile, MergeError> {
    let first = profiles.first().ok_or(MergeError::Nothing)?;
    Ok(Profile {
        schema: first.schema.clone(),
        version: first.version,
        run: run::merge(first, profiles),
        kernels: Vec::new(),
        lines: Vec::new(),
        sites: Vec::new(),
        allocations: Vec::new(),
        host_allocations: Vec::new(),
        branches: Vec::new(),
        blocks: Vec::new(),
        faults: Vec::new(),
        conflicts: Vec::new(),
        findings: Vec::new(),
        not_seen: Vec::new(),
        sources: Default::default(),
    })
}
