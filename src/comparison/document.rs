//! The JSON document of `diff --format json`, version 1. `docs/diff-v1.schema.json` is its schema, `docs/comparison.md`
//! describes it. Fields are only ever added.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::estimates::Estimates;
use warpline_profile::model::Finding;

/// Value of [`Diff::schema`].
pub const SCHEMA: &str = "warpline.diff";
/// Value of [`Diff::version`] that this release writes.
pub const VERSION: u32 = 1;

/// Something on both sides; `None` where a side has nothing like it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Both<T> {
    /// In the profile before.
    pub before: Option<T>,
    /// In the profile after.
    pub after: Option<T>,
}

impl<T> Both<T> {
    /// Returns the other way round.
    pub(super) fn mirrored(self) -> Both<T> {
        Both { before: self.after, after: self.before }
    }

    /// What there is, after first.
    pub fn any(&self) -> Option<&T> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// A figure's value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Something that is counted.
    Count(u64),
    /// A share, a mean or a time.
    Ratio(f64),
}

impl Value {
    /// As a number for arithmetic.
    pub fn number(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Ratio(ratio) => ratio,
        }
    }
}

/// Figures that differ, by name: before and after; `None` where a side has none.
pub type Changes = BTreeMap<String, [Option<Value>; 2]>;

/// Two profiles next to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// Both were made alike and are whole, so that differences are the program's.
    pub comparable: bool,
    /// Why they are not.
    pub differences: Vec<Difference>,
    /// Executable and arguments of each.
    pub programs: Both<Vec<String>>,
    /// Figures of the whole program.
    pub program: Changes,
    /// What matters most first.
    pub kernels: Vec<KernelChange>,
    /// What matters most first.
    pub lines: Vec<LineChange>,
    /// What matters most first.
    pub branches: Vec<BranchChange>,
    /// What matters most first. Allocations of one name, kind and call path are one row.
    pub allocations: Vec<AllocationChange>,
    /// Findings that came, went or changed.
    pub findings: FindingChanges,
    /// How much is the same on both sides.
    pub unchanged: Unchanged,
    /// Where a budget recorded some of the launches of a side: what whole runs did. All other figures are of what was
    /// recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<Estimates>,
    /// What limits were checked and which are broken; absent where none were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Something in which the two profiles were not made alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `model`, `architecture`, `incomplete`, …, or the name of an assumption.
    pub what: String,
    /// In the profile before; empty where it has nothing of the kind.
    pub before: String,
    /// In the profile after.
    pub after: String,
}

/// A source position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Text of the line; empty where it is not known.
    pub text: String,
}

/// A kernel with other figures, a new one, or one that is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelChange {
    /// Its number; `None`: it is new.
    pub before: Option<u32>,
    /// Its number; `None`: it is gone.
    pub after: Option<u32>,
    /// Demangled names.
    pub name: Both<String>,
    /// Definitions.
    pub position: Both<Position>,
    /// Only modelled figures differ: caches and DRAM behave otherwise because of what runs before or at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modelled: bool,
    /// What differs.
    pub metrics: Changes,
}

/// A line of a kernel with other figures, a new one, or one that is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineChange {
    /// Where it is; `None`: it is new.
    pub before: Option<Position>,
    /// Where it is; `None`: it is gone.
    pub after: Option<Position>,
    /// Numbers of its kernel.
    pub kernel: Both<u32>,
    /// Only modelled figures differ: caches and DRAM behave otherwise because of what runs before or at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modelled: bool,
    /// What differs.
    pub metrics: Changes,
}

/// A branch with other figures, a new one, or one that is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BranchChange {
    /// Where it is; `None`: it is new.
    pub before: Option<Position>,
    /// Where it is; `None`: it is gone.
    pub after: Option<Position>,
    /// Columns.
    pub column: Both<u32>,
    /// Numbers of its kernel.
    pub kernel: Both<u32>,
    /// What differs.
    pub metrics: Changes,
}

impl BranchChange {
    /// It belongs to a kernel of both sides and diverges more or less. How often it is reached follows from the code.
    pub fn is_significant(&self) -> bool {
        self.kernel.before.is_some() && self.kernel.after.is_some() && self.metrics.contains_key("divergent")
    }
}

/// Allocations of one name, kind and call path with other figures, new ones, or ones that are gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocationChange {
    /// Number of the first one; `None`: they are new.
    pub before: Option<u64>,
    /// Number of the first one; `None`: they are gone.
    pub after: Option<u64>,
    /// Names of the variables.
    pub name: Both<String>,
    /// `cudaMalloc` and the like.
    pub kind: Both<String>,
    /// The user's lines that make them.
    pub position: Both<Position>,
    /// Only modelled figures differ: caches and DRAM behave otherwise because of what runs before or at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modelled: bool,
    /// What differs.
    pub metrics: Changes,
}

/// Findings that came, went or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingChanges {
    /// Only after.
    pub new: Vec<Finding>,
    /// Only before.
    pub gone: Vec<Finding>,
    /// In both, with another severity or other evidence.
    pub changed: Vec<FindingChange>,
}

/// A finding of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    /// The finding in the profile before.
    pub before: Finding,
    /// The finding in the profile after.
    pub after: Finding,
}

/// How many rows are the same on both sides, and are left out for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchanged {
    /// Kernels.
    pub kernels: u64,
    /// Lines of kernels.
    pub lines: u64,
    /// Branches.
    pub branches: u64,
    /// Allocations of different name, kind or call path.
    pub allocations: u64,
    /// Findings.
    pub findings: u64,
}

/// What came of a file of limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Comparisons of a figure with a limit.
    pub checked: u64,
    /// Those that do not hold.
    pub broken: Vec<BrokenLimit>,
    /// Limits that nothing in either profile is meant by.
    pub unmatched: Vec<String>,
}

/// A limit that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenLimit {
    /// The limit as its file names it: `kernels."transpose".global.sectors`.
    pub limit: String,
    /// `soft` (percent worse than before) or `hard` (absolute).
    pub kind: String,
    /// Kernel, line, allocation or finding that breaks it.
    pub subject: String,
    /// Name of the figure.
    pub metric: String,
    /// Value before.
    pub before: Option<Value>,
    /// Value after.
    pub after: Option<Value>,
    /// What was allowed: the value after that would just do.
    pub allowed: Option<f64>,
}

impl Diff {
    /// Nothing differs between the programs' profiles.
    pub fn is_empty(&self) -> bool {
        let findings = &self.findings;
        self.program.is_empty()
            && self.kernels.is_empty()
            && self.lines.is_empty()
            && self.branches.is_empty()
            && self.allocations.is_empty()
            && findings.new.is_empty()
            && findings.gone.is_empty()
            && findings.changed.is_empty()
    }

    /// With the sides exchanged; without limits, which have a direction.
    pub(super) fn mirrored(mut self) -> Diff {
        fn metrics(changes: &mut Changes) {
            changes.values_mut().for_each(|sides| sides.reverse());
        }
        for difference in &mut self.differences {
            std::mem::swap(&mut difference.before, &mut difference.after);
        }
        self.programs = self.programs.mirrored();
        self.whole_run = self.whole_run.map(Estimates::mirrored);
        metrics(&mut self.program);
        for row in &mut self.kernels {
            std::mem::swap(&mut row.before, &mut row.after);
            row.name = std::mem::take(&mut row.name).mirrored();
            row.position = std::mem::take(&mut row.position).mirrored();
            metrics(&mut row.metrics);
        }
        for row in &mut self.lines {
            std::mem::swap(&mut row.before, &mut row.after);
            row.kernel = std::mem::take(&mut row.kernel).mirrored();
            metrics(&mut row.metrics);
        }
        for row in &mut self.branches {
            std::mem::swap(&mut row.before, &mut row.after);
            row.column = std::mem::take(&mut row.column).mirrored();
            row.kernel = std::mem::take(&mut row.kernel).mirrored();
            metrics(&mut row.metrics);
        }
        for row in &mut self.allocations {
            std::mem::swap(&mut row.before, &mut row.after);
            row.name = std::mem::take(&mut row.name).mirrored();
            row.kind = std::mem::take(&mut row.kind).mirrored();
            row.position = std::mem::take(&mut row.position).mirrored();
            metrics(&mut row.metrics);
        }
        let findings = &mut self.findings;
        std::mem::swap(&mut findings.new, &mut findings.gone);
        for change in &mut findings.changed {
            std::mem::swap(&mut change.before, &mut change.after);
        }
        self.limits = None;
        self
    }
}
