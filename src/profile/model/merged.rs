//! What a profile of several runs or ranks has in addition to the sums: how figures differ from rank to rank, and what
//! is needed to merge it again without losing a digit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::number::Wide;

/// Ranks as first and last numbers, rising and apart from each other.
pub type Ranges = Vec<[u32; 2]>;

/// Profiles that a merged one consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedFrom {
    /// How many.
    pub profiles: u64,
    /// Those of them that are incomplete.
    pub incomplete: u64,
    /// How many of the runs ended with each exit code, or `unknown`.
    pub exit_codes: BTreeMap<String, u64>,
    /// Their notes, and in how many of them each stands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// What could not be put together, in sentences.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
    /// The findings of the single profiles: only these can be findings of the whole.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub findings: BTreeSet<FoundBefore>,
    /// Files that could not be read, by name, with the rank's number if the name contains it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unreadable: BTreeMap<String, Option<u32>>,
    /// The profile has so many launches that all of them are in groups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub launches_in_groups: bool,
    /// The job, where they are of its ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<MergedRanks>,
}

/// Ranks of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedRanks {
    /// How many the job has; `None` if its launcher does not report it.
    pub count: Option<u32>,
    /// Those whose profiles are in this one.
    pub present: Ranges,
    /// Those of them that were given more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Ranges,
    /// Those of them whose profiles are incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Ranges,
    /// Those of them whose programs ended with another exit code than 0, by that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, Ranges>,
}

/// A finding of one of the profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FoundBefore {
    /// Rule.
    pub id: String,
    /// Module and mangled name of the kernel.
    pub kernel: Option<(String, String)>,
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
}

/// How a figure differs over the ranks that have the place: by name of the figure.
pub type OverRanks = BTreeMap<String, RankSpread>;

/// Spread of a count over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankSpread {
    /// Ranks that have it.
    pub ranks: u64,
    /// Sum.
    pub sum: Wide,
    /// Sum of the squares.
    pub squares: Wide,
    /// Least.
    pub min: u64,
    /// The lowest rank that has the least.
    pub min_rank: u32,
    /// Mean.
    pub mean: f64,
    /// Greatest.
    pub max: u64,
    /// The lowest rank that has the greatest.
    pub max_rank: u32,
    /// Standard deviation of the population.
    pub stddev: f64,
}

/// Launches from one host call path, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathOverRanks {
    /// Host call path.
    pub path: Vec<Frame>,
    /// Figures.
    pub over_ranks: OverRanks,
}

/// Allocations of one name, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NameOverRanks {
    /// Variable's name.
    pub name: String,
    /// Figures.
    pub over_ranks: OverRanks,
}

/// Sum and sum of squares of a figure over launches, to merge again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact {
    /// Sum.
    pub sum: Wide,
    /// Sum of the squares.
    pub squares: Wide,
}

/// What a merged kernel needs to be merged again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelExact {
    /// Sums behind `over_launches`, where several profiles have launches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_launches: BTreeMap<String, Exact>,
    /// Groups of launches have no shapes any more, as there were too many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shapes_left_out: bool,
}

impl KernelExact {
    /// Nothing is needed.
    pub fn is_none(&self) -> bool {
        *self == KernelExact::default()
    }
}

/// Exact femtoseconds of an estimate, to merge again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimateExact {
    /// All.
    pub femtoseconds: Wide,
    /// Keyed by limit.
    pub limits: BTreeMap<String, Wide>,
    /// Ideal time, by what limits then.
    pub ideal: BTreeMap<String, Wide>,
}
