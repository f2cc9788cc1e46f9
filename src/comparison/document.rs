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

/// A value on both sides; `None` if a side has no counterpart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Both<T> {
    /// Value in the old profile.
    pub before: Option<T>,
    /// Value in the new profile.
    pub after: Option<T>,
}

impl<T> Both<T> {
    /// Exchanges the sides.
    pub(super) fn mirrored(self) -> Both<T> {
        Both { before: self.after, after: self.before }
    }

    /// Returns the value of any side, preferably `after`.
    pub fn any(&self) -> Option<&T> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// The value of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A ratio, a mean or a time.
    Ratio(f64),
}

impl Value {
    /// Returns the value as a floating-point number.
    pub fn number(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Ratio(ratio) => ratio,
        }
    }
}

/// Figures that differ, by name: the values before and after; `None` if a side has none.
pub type Changes = BTreeMap<String, [Option<Value>; 2]>;

/// The comparison of two profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// Whether both profiles are complete and were created in the same way, so that differences are caused by the
    /// program.
    pub comparable: bool,
    /// Differences in how the profiles were created.
    pub differences: Vec<Difference>,
    /// Executable and arguments of each.
    pub programs: Both<Vec<String>>,
    /// Differing figures of the whole program.
    pub program: Changes,
    /// Kernels, the most important first.
    pub kernels: Vec<KernelChange>,
    /// Lines, the most important first.
    pub lines: Vec<LineChange>,
    /// Branches, the most important first.
    pub branches: Vec<BranchChange>,
    /// Allocations, the most important first. Allocations with the same name, kind and call path form one row.
    pub allocations: Vec<AllocationChange>,
    /// Findings that are new, gone or changed.
    pub findings: FindingChanges,
    /// Number of rows that are equal on both sides.
    pub unchanged: Unchanged,
    /// Estimates of the whole runs, if a budget recorded only some launches of a side. All other figures include only
    /// recorded launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<Estimates>,
    /// Results of the limits; absent if none were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// A difference in how the two profiles were created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `model`, `architecture`, `incomplete` or similar, or the name of an assumption.
    pub what: String,
    /// Value in the old profile; empty if absent.
    pub before: String,
    /// Value in the new profile; empty if absent.
    pub after: String,
}

/// A source position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// File.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Text of the line; empty if unknown.
    pub text: String,
}

/// A kernel that changed, is new or is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelChange {
    /// Number of the kernel before; `None` if it is new.
    pub before: Option<u32>,
    /// Number of the kernel after; `None` if it is gone.
    pub after: Option<u32>,
    /// Demangled names.
    pub name: Both<String>,
    /// Source positions of the definitions.
    pub position: Both<Position>,
    /// Whether only modelled figures differ. Caches and DRAM depend on work that runs before or at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modelled: bool,
    /// Differing figures.
    pub metrics: Changes,
}

/// A line of a kernel that changed, is new or is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineChange {
    /// Position before; `None` if it is new.
    pub before: Option<Position>,
    /// Position after; `None` if it is gone.
    pub after: Option<Position>,
    /// Numbers of its kernel.
    pub kernel: Both<u32>,
    /// Whether only modelled figures differ. Caches and DRAM depend on work that runs before or at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modelled: bool,
    /// Differing figures.
    pub metrics: Changes,
}

/// A branch that changed, is new or is gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BranchChange {
    /// Position before; `None` if it is new.
    pub before: Option<Position>,
    /// Position after; `None` if it is gone.
    pub after: Option<Position>,
    /// Columns of the branch.
    pub column: Both<u32>,
    /// Numbers of its kernel.
    pub kernel: Both<u32>,
    /// Differing figures.
    pub metrics: Changes,
}

impl BranchChange {
    /// Returns whether the branch belongs to a kernel of both sides and its divergence changed. The number of its
    /// executions follows from the code.
    pub fn is_significant(&self) -> bool {
        self.kernel.before.is_some() && self.kernel.after.is_some() && self.metrics.contains_key("divergent")
    }
}

/// Allocations with the same name, kind and call path that changed, are new or are gone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocationChange {
    /// Number of the first allocation before; `None` if they are new.
    pub before: Option<u64>,
    /// Number of the first allocation after; `None` if they are gone.
    pub after: Option<u64>,
    /// Names of the variables.
    pub name: Both<String>,
    /// Kinds, such as `cudaMalloc`.
    pub kind: Both<String>,
    /// The user's lines that allocate.
    pub position: Both<Position>,
    /// Whether only modelled figures differ. Caches and DRAM depend on work that runs before or at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modelled: bool,
    /// Differing figures.
    pub metrics: Changes,
}

/// Findings that are new, gone or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingChanges {
    /// Findings only in the profile after.
    pub new: Vec<Finding>,
    /// Findings only in the profile before.
    pub gone: Vec<Finding>,
    /// Findings in both profiles with different severity or evidence.
    pub changed: Vec<FindingChange>,
}

/// A finding in both profiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    /// The finding in the profile before.
    pub before: Finding,
    /// The finding in the profile after.
    pub after: Finding,
}

/// Number of rows that are equal on both sides and are therefore omitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unchanged {
    /// Kernels.
    pub kernels: u64,
    /// Lines of kernels.
    pub lines: u64,
    /// Branches.
    pub branches: u64,
    /// Allocations with distinct name, kind or call path.
    pub allocations: u64,
    /// Findings.
    pub findings: u64,
}

/// Results of checking a file of limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Number of comparisons of a figure with a limit.
    pub checked: u64,
    /// Limits that are broken.
    pub broken: Vec<BrokenLimit>,
    /// Limits that match nothing in either profile.
    pub unmatched: Vec<String>,
}

/// A broken limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenLimit {
    /// The limit as its file names it: `kernels."transpose".global.sectors`.
    pub limit: String,
    /// `soft` (percent worse than before) or `hard` (absolute).
    pub kind: String,
    /// Kernel, line, allocation or finding that breaks the limit.
    pub subject: String,
    /// Name of the figure.
    pub metric: String,
    /// Value in the old profile.
    pub before: Option<Value>,
    /// Value in the new profile.
    pub after: Option<Value>,
    /// The worst value that the limit allows in the new profile.
    pub allowed: Option<f64>,
}

impl Diff {
    /// Returns whether the profiles do not differ.
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

    /// Exchanges the sides. Limits are removed, because they have a direction.
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
