//! The `trust` block of documents.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::Basis;

/// The reliability of a profile's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trust {
    /// Certainty of each group of figures in the profile.
    pub figures: BTreeMap<Group, Certainty>,
    /// Executed operations that no figure contains, or whose figures depend on an assumption.
    pub not_counted: Vec<Uncounted>,
    /// Parameters of the model and of the analysis that figures depend on.
    pub assumed: Vec<Assumption>,
    /// Launches that are missing in the figures or incomplete.
    pub missing: Vec<MissingLaunches>,
}

/// Returns whether a group consists of counts that are exact if nothing is missing. This excludes conflicts, which are
/// checked in a sample by default.
pub fn is_count(group: Group, certainty: &Certainty) -> bool {
    certainty.basis == Basis::Counted && group != Group::Conflicts
}

/// Groups of figures that are obtained in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Requests, lanes, bytes, sectors, lines touched.
    Accesses,
    /// Branches, blocks, instructions.
    ControlFlow,
    /// Allocations, copies, calls.
    Allocations,
    /// Conflicts between warps.
    Conflicts,
    /// Passes of shared and constant memory and of L1.
    Passes,
    /// Lookups, hits and traffic of L1, L2 and device memory.
    Caches,
    /// Reuse distances.
    ReuseDistances,
    /// Resident blocks per SM.
    Occupancy,
    /// Seconds, limits and gains.
    Time,
    /// Figures of all launches, if a budget recorded only a part.
    WholeRun,
}

impl Group {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Group::Accesses => "accesses",
            Group::ControlFlow => "control flow",
            Group::Allocations => "allocations and copies",
            Group::Conflicts => "conflicts between warps",
            Group::Passes => "passes and bank conflicts",
            Group::Caches => "caches and DRAM",
            Group::ReuseDistances => "reuse distances",
            Group::Occupancy => "occupancy",
            Group::Time => "times and gains",
            Group::WholeRun => "figures of the whole run",
        }
    }
}

/// The certainty of a group's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certainty {
    /// Counted, modelled or estimated.
    pub basis: Basis,
    /// Whether the figures are exact counts of the whole run; `false` for figures that are not counted.
    pub exact: bool,
    /// Data that the figures lack, or assumptions that they depend on.
    pub reasons: Vec<String>,
}

/// The effect of an uncounted operation. Values that the program computes are never affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The operation is executed, but no count contains it.
    Counts,
    /// The order in which lanes continue is assumed, and therefore also the requests that they share.
    ControlFlow,
    /// The model does not support the operation.
    Model,
}

impl Effect {
    /// Returns the name in documents for people.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Counts => "counts",
            Effect::ControlFlow => "control flow",
            Effect::Model => "the model",
        }
    }
}

/// An operation that no figure contains, or whose figures depend on an assumption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncounted {
    /// Description of the operation.
    pub what: String,
    /// Function that contains it, or the called function.
    pub function: String,
    /// Source file; empty if unknown.
    pub file: String,
    /// Line, counted from 1; 0 if unknown.
    pub line: u32,
    /// The effect on figures.
    pub affects: Effect,
}

/// A parameter that figures depend on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumption {
    /// Name of the parameter, as in `run.assumptions`.
    pub parameter: String,
    /// Value.
    pub value: String,
}

/// Launches that are missing in the figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingLaunches {
    /// `ended_early`, `after_stop`, `not_instrumented`, `refused`, or `not_recorded`.
    pub what: String,
    /// Name of the kernel; empty if unknown.
    pub kernel: String,
    /// Number of launches.
    pub launches: u64,
    /// The reason.
    pub reason: String,
}
