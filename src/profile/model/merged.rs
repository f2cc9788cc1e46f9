//! Additional data of a profile of several runs or ranks: the spread of figures over ranks, and exact sums for further
//! merging without loss of precision.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::number::Wide;

/// Ranges of ranks as first and last numbers, in ascending order and not adjacent.
pub type Ranges = Vec<[u32; 2]>;

/// The profiles that a merged profile consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedFrom {
    /// Number of profiles.
    pub profiles: u64,
    /// Number of incomplete profiles.
    pub incomplete: u64,
    /// Number of runs by exit code, or `unknown`.
    pub exit_codes: BTreeMap<String, u64>,
    /// Notes of the profiles, and the number of profiles with each note.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, u64>,
    /// Sentences about data that could not be merged.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
    /// The findings of the single profiles. Only these can be findings of the merged profile.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub findings: BTreeSet<FoundBefore>,
    /// Files that could not be read, by name, with the rank's number if the name contains it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unreadable: BTreeMap<String, Option<u32>>,
    /// Whether the profile has so many launches that all of them are in groups.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub launches_in_groups: bool,
    /// The ranks of the job, if the profiles are those of a job's ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<MergedRanks>,
}

/// Ranks of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedRanks {
    /// Number of ranks in the job; `None` if its launcher does not report it.
    pub count: Option<u32>,
    /// Ranks whose profiles are included.
    pub present: Ranges,
    /// Ranks whose profiles were given more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Ranges,
    /// Ranks whose profiles are incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Ranges,
    /// Ranks whose programs ended with an exit code other than 0, by exit code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, Ranges>,
}

/// A finding of one of the profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FoundBefore {
    /// Name of the rule.
    pub id: String,
    /// Module and mangled name of the kernel.
    pub kernel: Option<(String, String)>,
    /// Source file.
    pub file: String,
    /// Line.
    pub line: u32,
}

/// Spread of figures over the ranks that have the row, by name of the figure.
pub type OverRanks = BTreeMap<String, RankSpread>;

/// Spread of a count over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankSpread {
    /// Number of ranks that have the count.
    pub ranks: u64,
    /// Sum.
    pub sum: Wide,
    /// Sum of the squares.
    pub squares: Wide,
    /// Minimum.
    pub min: u64,
    /// The lowest rank with the minimum.
    pub min_rank: u32,
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: u64,
    /// The lowest rank with the maximum.
    pub max_rank: u32,
    /// Standard deviation of the population.
    pub stddev: f64,
}

/// Spread over ranks of launches from one host call path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathOverRanks {
    /// Host call path.
    pub path: Vec<Frame>,
    /// Spread of the figures.
    pub over_ranks: OverRanks,
}

/// Spread over ranks of allocations with one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NameOverRanks {
    /// Variable's name.
    pub name: String,
    /// Spread of the figures.
    pub over_ranks: OverRanks,
}

/// Sum and sum of squares of a figure over launches, for further merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact {
    /// Sum.
    pub sum: Wide,
    /// Sum of the squares.
    pub squares: Wide,
}

/// Exact sums of a kernel for further merging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelExact {
    /// Sums for `over_launches`, if several profiles have launches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over_launches: BTreeMap<String, Exact>,
    /// Whether groups of launches have lost their shapes because there were too many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shapes_left_out: bool,
}

impl KernelExact {
    /// Returns whether there is no data.
    pub fn is_none(&self) -> bool {
        *self == KernelExact::default()
    }
}

/// Estimated times in exact femtoseconds, for further merging.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimateExact {
    /// Total time.
    pub femtoseconds: Wide,
    /// Time by limit.
    pub limits: BTreeMap<String, Wide>,
    /// Ideal time, by its limit.
    pub ideal: BTreeMap<String, Wide>,
}
