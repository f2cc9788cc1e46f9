//! The block `trust` of documents.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::Basis;

/// How far the figures of a profile can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trust {
    /// Each group of figures that the profile has.
    pub figures: BTreeMap<Group, Certainty>,
    /// Operations that were executed and are in no figure, or whose figures depend on an assumption.
    pub not_counted: Vec<Uncounted>,
    /// Parameters of the model and of the analysis that figures depend on.
    pub assumed: Vec<Assumption>,
    /// Launches that are missing in the figures, or missing in part.
    pub missing: Vec<MissingLaunches>,
}

/// Returns whether a group consists of counts that are exact unless something is missing. Conflicts are searched in a sample by default.
pub fn is_count(group: Group, certainty: &Certainty) -> bool {
    certainty.basis == Basis::Counted && group != Group::Conflicts
}

/// Figures that are obtained in the same way.
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
    /// Blocks that share an SM.
    Occupancy,
    /// Seconds, limits and gains.
    Time,
    /// Figures of all launches, where a budget recorded a part.
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

/// How the figures of a group are obtained.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certainty {
    /// Counted, modelled or estimated.
    pub basis: Basis,
    /// The figures are exact counts of the whole run; `false` for whatever is not counted.
    pub exact: bool,
    /// What they lack or depend on.
    pub reasons: Vec<String>,
}

/// What an uncounted operation affects. Values that the program computes are never among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The operation is executed, and no count contains it.
    Counts,
    /// The order in which lanes continue is assumed, and with it the requests that they share.
    ControlFlow,
    /// The model has no counterpart of it.
    Model,
}

impl Effect {
    /// Returns the word of documents, for people.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Counts => "counts",
            Effect::ControlFlow => "control flow",
            Effect::Model => "the model",
        }
    }
}

/// An operation that is in no figure, or in figures that depend on an assumption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncounted {
    /// What it is.
    pub what: String,
    /// Function that contains it, or the called function.
    pub function: String,
    /// Source file; empty when unknown.
    pub file: String,
    /// From 1; 0 unknown.
    pub line: u32,
    /// What it affects.
    pub affects: Effect,
}

/// A parameter that figures depend on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumption {
    /// Name, as in `run.assumptions`.
    pub parameter: String,
    /// Value.
    pub value: String,
}

/// Launches that are missing in the figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissingLaunches {
    /// `ended_early`, `after_stop`, `not_instrumented`, `refused`, or `not_recorded`.
    pub what: String,
    /// Kernel; empty when unknown.
    pub kernel: String,
    /// How many.
    pub launches: u64,
    /// Cause.
    pub reason: String,
}
