//! Computes a comparison of two profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;

use super::document::{
    AllocationChange, Both, BranchChange, Changes, Diff, FindingChange, KernelChange, LineChange, Position, SCHEMA,
    Unchanged, VERSION,
};
use super::figures::{self, Figures, Subject};
use super::limits::{LimitSet, Row, check};
use super::matching::{
    AllocationGroup, Code, Lines, Pairs, SourceLine, groups, pair_allocations, pair_findings, pair_kernels,
};
use super::{differences, document};
use warpline_profile::Profile;
use warpline_profile::model::{Allocation, Branch, Finding, Severity};

/// Options of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Differences of a modelled figure below this share of its reference value are ignored.
    pub tolerance: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options { tolerance: 0.01 }
    }
}

/// Compares two profiles, and checks `limits` if given. Exchanging the profiles exchanges the sides of the document,
/// except for the limits.
pub fn compare(before: &Profile, after: &Profile, options: &Options, limits: Option<&LimitSet>) -> Diff {
    // If several pairs are equally good, the choice depends on the direction. The comparison is therefore always
    // computed in the same direction, and mirrored if necessary.
    let (mut diff, rows) = if fingerprint(before) > fingerprint(after) {
        let (diff, mut rows) = directed(after, before, options, limits.is_some());
        for row in &mut rows {
            row.name = std::mem::take(&mut row.name).mirrored();
            row.figures = std::mem::take(&mut row.figures).mirrored();
        }
        (diff.mirrored(), rows)
    } else {
        directed(before, after, options, limits.is_some())
    };
    diff.limits = limits.map(|limits| check(limits, &rows, &diff, after));
    diff
}

/// Returns a hash of all data that the pairing depends on.
fn fingerprint(profile: &Profile) -> u64 {
    let mut hasher = FxHasher::default();
    for kernel in &profile.kernels {
        (kernel.id, &kernel.mangled, &kernel.module, &kernel.name, &kernel.file, kernel.line).hash(&mut hasher);
    }
    for row in &profile.lines {
        (row.kernel, &row.file, row.line).hash(&mut hasher);
    }
    for row in &profile.sites {
        (row.kernel, &row.file, row.line).hash(&mut hasher);
    }
    for row in &profile.branches {
        (row.kernel, &row.file, row.line, row.column).hash(&mut hasher);
    }
    for row in &profile.allocations {
        (row.id, &row.name, &row.kind, row.bytes, row.count).hash(&mut hasher);
        let copies = row.copies.iter().flat_map(|copy| &copy.path);
        for frame in row.path.iter().chain(copies) {
            (&frame.function, &frame.file, frame.line, frame.column).hash(&mut hasher);
        }
        row.by_kernel.iter().for_each(|row| row.kernel.hash(&mut hasher));
    }
    for row in &profile.findings {
        (&row.id, row.kernel, &row.file, row.line, row.allocation, &row.object).hash(&mut hasher);
    }
    profile.sources.hash(&mut hasher);
    hasher.finish()
}

/// The data of one side.
pub(super) struct Side<'a> {
    code: &'a Code<'a>,
    pub(super) groups: Vec<AllocationGroup<'a>>,
    pub(super) kernels: Vec<Figures>,
    lines: BTreeMap<(usize, SourceLine<'a>), Figures>,
    branches: BTreeMap<(usize, SourceLine<'a>), Vec<Branch>>,
    pub(super) allocations: Vec<Figures>,
}

impl<'a> Side<'a> {
    pub(super) fn new(code: &'a Code<'a>) -> Side<'a> {
        let profile = code.profile;
        let groups = groups(code);
        let mut lines = BTreeMap::new();
        for row in &profile.lines {
            let Some(kernel) = code.kernel(row.kernel) else { continue };
            let figures = figures::of_spaces(&row.metrics);
            lines.entry((kernel, (row.file.as_str(), row.line))).or_insert(figures);
        }
        // Copies of one branch that result from unrolling are combined.
        let mut branches: BTreeMap<(usize, SourceLine<'a>), Vec<Branch>> = BTreeMap::new();
        for row in &profile.branches {
            let Some(kernel) = code.kernel(row.kernel) else { continue };
            let rows = branches.entry((kernel, (row.file.as_str(), row.line))).or_default();
            match rows.binary_search_by_key(&row.column, |branch| branch.column) {
                Ok(index) => {
                    let branch = &mut rows[index];
                    branch.executions = branch.executions.saturating_add(row.executions);
                    branch.divergent = branch.divergent.saturating_add(row.divergent);
                }
                Err(index) => rows.insert(index, row.clone()),
            }
        }
        let mut of_kernels: BTreeMap<usize, Vec<&Branch>> = BTreeMap::new();
        for row in &profile.branches {
            if let Some(kernel) = code.kernel(row.kernel) {
                of_kernels.entry(kernel).or_default().push(row);
            }
        }
        let none = Vec::new();
        let kernel = |(index, kernel)| {
            let branches = of_kernels.get(&index).unwrap_or(&none).iter().copied();
            figures::of_kernel(profile, kernel, branches)
        };
        let kernels = profile.kernels.iter().enumerate().map(kernel).collect();
        let allocations = groups.iter().map(|group| figures::of_allocations(&group.rows)).collect();
        Side { code, groups, kernels, lines, branches, allocations }
    }

    /// Returns sums over the whole program.
    pub(super) fn program(&self) -> Figures {
        let is_other = |row: &&Allocation| row.kind == "named" || row.kind.contains("Host");
        let is_apart = |index: usize| self.groups.get(index).is_some_and(|group| group.rows.iter().all(is_other));
        figures::of_program(self.code.profile, &self.kernels, &self.allocations, is_apart)
    }

    pub(super) fn position(&self, (file, line): SourceLine<'_>) -> Position {
        let text = self.code.profile.sources.get(file).and_then(|lines| lines.get(&line));
        Position { file: file.to_owned(), line, text: text.map_or(String::new(), |text| text.trim().to_owned()) }
    }

    fn kernel_id(&self, index: usize) -> u32 {
        self.code.profile.kernels[index].id
    }
}

/// Returns the two sides of each pair, and the rows without a pair.
pub(super) fn sides(
    pairs: &Pairs,
    before: usize,
    after: usize,
) -> impl Iterator<Item = (Option<usize>, Option<usize>)> {
    let (gone, new) = pairs.rest(before, after);
    let paired: Vec<_> = pairs.iter().map(|(one, other)| (Some(one), Some(other))).collect();
    let gone = gone.into_iter().map(|index| (Some(index), None));
    paired.into_iter().chain(gone).chain(new.into_iter().map(|index| (None, Some(index))))
}

/// Returns the comparison, and every row with all its figures if limits need them.
fn directed(before: &Profile, after: &Profile, options: &Options, judged: bool) -> (Diff, Vec<Row>) {
    let codes = (Code::new(before), Code::new(after));
    let kernels = pair_kernels(&codes.0, &codes.1);
    let lines = Lines::new(&codes.0, &codes.1, &kernels);
    let (one, other) = (Side::new(&codes.0), Side::new(&codes.1));
    let both_codes = (&codes.0, &codes.1);
    let allocations = pair_allocations(both_codes, (&one.groups, &other.groups), &kernels, &lines);
    let found = pair_findings(both_codes, (&one.groups, &other.groups), (&kernels, &lines, &allocations));
    let differences = differences::find(before, after);
    let mut unchanged = Unchanged::default();
    let sums = [&one, &other].map(Side::program);
    let rows = if judged { judged_rows((&one, &other), &kernels, &lines, &allocations, &sums) } else { Vec::new() };
    let mut diff = Diff {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        comparable: differences.is_empty(),
        differences,
        programs: Both { before: Some(before.run.program.clone()), after: Some(after.run.program.clone()) },
        program: figures::changes(Some(&sums[0]), Some(&sums[1]), options.tolerance),
        kernels: kernel_rows(&one, &other, &kernels, options, &mut unchanged),
        lines: line_rows(&one, &other, &kernels, &lines, options, &mut unchanged),
        branches: branch_rows(&one, &other, &kernels, &lines, options, &mut unchanged),
        allocations: super::allocations::rows(&one, &other, &allocations, &lines, options, &mut unchanged),
        findings: document::FindingChanges::default(),
        unchanged,
        whole_run: super::estimates::find([before, after], [&one.kernels, &other.kernels]),
        limits: None,
    };
    finding_rows(&mut diff, &before.findings, &after.findings, &found, options);
    (diff, rows)
}

/// Returns every row of a comparison with all its figures.
fn judged_rows(
    (one, other): (&Side<'_>, &Side<'_>),
    kernels: &Pairs,
    lines: &Lines<'_>,
    allocations: &Pairs,
    [before, after]: &[Figures; 2],
) -> Vec<Row> {
    let mut rows = vec![Row {
        subject: Subject::Program,
        name: Both { before: None, after: Some("the program".to_owned()) },
        texts: Vec::new(),
        figures: Both { before: Some(before.clone()), after: Some(after.clone()) },
    }];
    let mut add = |subject, name: Both<String>, more: Vec<String>, figures| {
        let texts = name.before.iter().chain(&name.after).cloned().chain(more).collect();
        rows.push(Row { subject, name, texts, figures });
    };
    for (before, after) in sides(kernels, one.kernels.len(), other.kernels.len()) {
        let name = |side: &Side<'_>, index: usize| side.code.profile.kernels[index].name.clone();
        let name = Both { before: before.map(|at| name(one, at)), after: after.map(|to| name(other, to)) };
        let figures =
            Both { before: before.map(|at| one.kernels[at].clone()), after: after.map(|to| other.kernels[to].clone()) };
        add(Subject::Kernel, name, Vec::new(), figures);
    }
    let paired =
        |(kernel, place): (usize, SourceLine<'_>)| Some((kernels.after(kernel)?, lines.after(Some(kernel), place)?));
    let befores: Vec<_> = one.lines.keys().map(|&key| (Some(key), paired(key))).collect();
    let known: BTreeSet<_> = befores.iter().filter_map(|(_, after)| *after).collect();
    let afters = other.lines.keys().filter(|key| !known.contains(*key)).map(|&key| (None, Some(key)));
    for (before, after) in befores.into_iter().chain(afters) {
        let position = Both {
            before: before.map(|(_, place)| one.position(place)),
            after: after.map(|(_, place)| other.position(place)),
        };
        let name = |position: &Position| {
            let file = position.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}: {}", position.line, position.text)
        };
        let texts = position.before.iter().chain(&position.after).map(|position| position.text.clone()).collect();
        let name = Both { before: position.before.as_ref().map(name), after: position.after.as_ref().map(name) };
        let figures = Both {
            before: before.and_then(|key| one.lines.get(&key).cloned()),
            after: after.and_then(|key| other.lines.get(&key).cloned()),
        };
        add(Subject::Line, name, texts, figures);
    }
    for (before, after) in sides(allocations, one.groups.len(), other.groups.len()) {
        let name = |side: &Side<'_>, index: usize| side.groups[index].first().name.clone();
        let name = Both { before: before.and_then(|at| name(one, at)), after: after.and_then(|to| name(other, to)) };
        let figures = Both {
            before: before.map(|at| one.allocations[at].clone()),
            after: after.map(|to| other.allocations[to].clone()),
        };
        add(Subject::Allocation, name, Vec::new(), figures);
    }
    rows
}

/// Sorts rows by descending weight.
pub(super) fn by_weight<T>(rows: Vec<T>, weight: impl Fn(&T) -> f64) -> Vec<T> {
    let mut weighed: Vec<(f64, T)> = rows.into_iter().map(|row| (weight(&row), row)).collect();
    weighed.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    weighed.into_iter().map(|(_, row)| row).collect()
}

fn kernel_rows(
    one: &Side<'_>,
    other: &Side<'_>,
    pairs: &Pairs,
    options: &Options,
    unchanged: &mut Unchanged,
) -> Vec<KernelChange> {
    let mut rows = Vec::new();
    for (before, after) in sides(pairs, one.kernels.len(), other.kernels.len()) {
        let of = |side: &Side<'_>, index: Option<usize>| {
            index.map(|index| {
                let kernel = &side.code.profile.kernels[index];
                (kernel.id, kernel.name.clone(), side.position((&kernel.file, kernel.line)))
            })
        };
        let figures = (before.map(|index| &one.kernels[index]), after.map(|index| &other.kernels[index]));
        let metrics = figures::changes(figures.0, figures.1, options.tolerance);
        if metrics.is_empty() && before.is_some() && after.is_some() {
            unchanged.kernels += 1;
            continue;
        }
        let (before, after) = (of(one, before), of(other, after));
        let name =
            Both { before: before.as_ref().map(|row| row.1.clone()), after: after.as_ref().map(|row| row.1.clone()) };
        rows.push(KernelChange {
            before: before.as_ref().map(|row| row.0),
            after: after.as_ref().map(|row| row.0),
            name,
            modelled: before.is_some() && after.is_some() && figures::only_modelled(&metrics),
            position: Both { before: before.map(|row| row.2), after: after.map(|row| row.2) },
            metrics,
        });
    }
    // Times of different models are of similar magnitude. The traffic is used if there are no times.
    let seconds = |changes: &Changes| {
        let sides = changes.get("estimate.seconds").copied().unwrap_or_default();
        let [before, after] = sides.map(|side| side.map_or(0.0, document::Value::number));
        (before - after).abs()
    };
    by_weight(by_weight(rows, |row| figures::weight(&row.metrics)), |row| seconds(&row.metrics))
}

/// Returns the numbers of a kernel on both sides, given a row's index on one side.
fn kernel_ids(
    one: &Side<'_>,
    other: &Side<'_>,
    kernels: &Pairs,
    before: Option<usize>,
    after: Option<usize>,
) -> Both<u32> {
    let before = before.or_else(|| kernels.before(after?));
    let after = after.or_else(|| kernels.after(before?));
    Both { before: before.map(|index| one.kernel_id(index)), after: after.map(|index| other.kernel_id(index)) }
}

fn line_rows(
    one: &Side<'_>,
    other: &Side<'_>,
    kernels: &Pairs,
    lines: &Lines<'_>,
    options: &Options,
    unchanged: &mut Unchanged,
) -> Vec<LineChange> {
    let mut rows = Vec::new();
    let mut taken = BTreeSet::new();
    let mut row = |before: Option<(usize, SourceLine<'_>)>, after: Option<(usize, SourceLine<'_>)>| {
        let figures = (before.and_then(|key| one.lines.get(&key)), after.and_then(|key| other.lines.get(&key)));
        let metrics = figures::changes(figures.0, figures.1, options.tolerance);
        if metrics.is_empty() {
            let said = |figures: Option<&Figures>| figures.is_some_and(|figures| figures.iter().next().is_some());
            unchanged.lines += u64::from(said(figures.0) && said(figures.1));
            return;
        }
        rows.push(LineChange {
            before: before.map(|(_, place)| one.position(place)),
            after: after.map(|(_, place)| other.position(place)),
            kernel: kernel_ids(one, other, kernels, before.map(|(kernel, _)| kernel), after.map(|(kernel, _)| kernel)),
            modelled: before.is_some() && after.is_some() && figures::only_modelled(&metrics),
            metrics,
        });
    };
    for &(kernel, place) in one.lines.keys() {
        let paired = kernels.after(kernel).zip(lines.after(Some(kernel), place));
        let there = paired.filter(|key| other.lines.contains_key(key));
        taken.extend(there);
        row(Some((kernel, place)), there);
    }
    for &key in other.lines.keys().filter(|key| !taken.contains(key)) {
        row(None, Some(key));
    }
    by_weight(rows, |row| figures::weight(&row.metrics))
}

fn branch_rows(
    one: &Side<'_>,
    other: &Side<'_>,
    kernels: &Pairs,
    lines: &Lines<'_>,
    options: &Options,
    unchanged: &mut Unchanged,
) -> Vec<BranchChange> {
    let mut rows = Vec::new();
    let mut row = |before: Option<(usize, SourceLine<'_>, &Branch)>,
                   after: Option<(usize, SourceLine<'_>, &Branch)>| {
        let [was, is] = [before, after].map(|side| side.map(|(_, _, branch)| figures::of_branch(branch)));
        let metrics = figures::changes(was.as_ref(), is.as_ref(), options.tolerance);
        if metrics.is_empty() {
            unchanged.branches += u64::from(before.is_some() && after.is_some());
            return;
        }
        rows.push(BranchChange {
            before: before.map(|(_, place, _)| one.position(place)),
            after: after.map(|(_, place, _)| other.position(place)),
            column: Both {
                before: before.map(|(_, _, branch)| branch.column),
                after: after.map(|(_, _, branch)| branch.column),
            },
            kernel: kernel_ids(
                one,
                other,
                kernels,
                before.map(|(kernel, ..)| kernel),
                after.map(|(kernel, ..)| kernel),
            ),
            metrics,
        });
    };
    let none = Vec::new();
    let mut taken = BTreeSet::new();
    for (&(kernel, place), befores) in &one.branches {
        let there = kernels.after(kernel).zip(lines.after(Some(kernel), place));
        let afters = there.and_then(|key| other.branches.get(&key)).unwrap_or(&none);
        taken.extend(there);
        // Branches of a line that stayed in their column are paired first, then the others in order.
        let mut pairs = Pairs::default();
        let sizes = (befores.len(), afters.len());
        let in_order = |one: &[usize], other: &[usize]| one.iter().copied().zip(other.iter().copied()).collect();
        if befores.len() != afters.len() {
            pairs.by_key(sizes, |at| Some(befores[at].column), |to| Some(afters[to].column), in_order);
        }
        pairs.by_key(sizes, |_| Some(()), |_| Some(()), in_order);
        for (before, after) in sides(&pairs, befores.len(), afters.len()) {
            let before = before.map(|index| (kernel, place, &befores[index]));
            let after = after.zip(there).map(|(index, (kernel, place))| (kernel, place, &afters[index]));
            row(before, after);
        }
    }
    for (&(kernel, place), afters) in other.branches.iter().filter(|(key, _)| !taken.contains(*key)) {
        for branch in afters {
            row(None, Some((kernel, place, branch)));
        }
    }
    by_weight(rows, |row| figures::weight(&row.metrics))
}

/// Returns the numbers of the kernels with any difference.
fn changed_kernels(diff: &Diff) -> Both<BTreeSet<u32>> {
    let kernels = diff.kernels.iter().map(|row| Both { before: row.before, after: row.after });
    let lines = diff.lines.iter().map(|row| row.kernel.clone());
    let branches = diff.branches.iter().map(|row| row.kernel.clone());
    let all: Vec<Both<u32>> = kernels.chain(lines).chain(branches).collect();
    Both {
        before: Some(all.iter().filter_map(|ids| ids.before).collect()),
        after: Some(all.iter().filter_map(|ids| ids.after).collect()),
    }
}

/// Returns the numbers of the allocations with any difference, except for modelled cache figures.
fn changed_allocations(diff: &Diff) -> Both<BTreeSet<u64>> {
    let all = |side: fn(&AllocationChange) -> Option<u64>| {
        Some(diff.allocations.iter().filter(|row| !row.modelled).filter_map(side).collect())
    };
    Both { before: all(|row| row.before), after: all(|row| row.after) }
}

/// Fills in the findings. All other rows must already be present.
fn finding_rows(diff: &mut Diff, befores: &[Finding], afters: &[Finding], pairs: &Pairs, options: &Options) {
    let (kernels, allocations) = (changed_kernels(diff), changed_allocations(diff));
    // An unchanged kernel may have another share of the total, and therefore one finding more or less. Such findings
    // are ignored, unless the kernel accesses memory of which something changed, such as its location.
    let stayed = |finding: &Finding, kernels: &Option<BTreeSet<u32>>, allocations: &Option<BTreeSet<u64>>| {
        let is_in = |allocation| allocations.as_ref().is_some_and(|changed| changed.contains(&allocation));
        finding.severity != Severity::Error
            && finding.kernel.is_some_and(|id| kernels.as_ref().is_some_and(|changed| !changed.contains(&id)))
            && !finding.allocation.is_some_and(is_in)
    };
    let rows = &mut diff.findings;
    for (before, after) in sides(pairs, befores.len(), afters.len()) {
        match (before.map(|index| &befores[index]), after.map(|index| &afters[index])) {
            (Some(before), Some(after))
                if before.severity != after.severity || differ(before, after, options.tolerance) =>
            {
                rows.changed.push(FindingChange { before: before.clone(), after: after.clone() });
            }
            (Some(_), Some(_)) => diff.unchanged.findings += 1,
            (Some(finding), None) if stayed(finding, &kernels.before, &allocations.before) => {
                diff.unchanged.findings += 1;
            }
            (None, Some(finding)) if stayed(finding, &kernels.after, &allocations.after) => {
                diff.unchanged.findings += 1
            }
            (Some(before), None) => rows.gone.push(before.clone()),
            (None, Some(after)) => rows.new.push(after.clone()),
            (None, None) => {}
        }
    }
}

/// Evidence that depends on the whole program.
pub const BESIDE_OTHERS: [&str; 3] = ["wasted_share", "share_of_time", "share_of_memory"];

/// Returns whether a finding on both sides has different evidence. Its text is not compared, because it contains line
/// numbers and figures.
fn differ(before: &Finding, after: &Finding, tolerance: f64) -> bool {
    let own = |finding: &Finding| -> BTreeMap<String, f64> {
        let evidence = finding.evidence.iter().filter(|(name, _)| !BESIDE_OTHERS.contains(&name.as_str()));
        evidence.map(|(name, value)| (name.clone(), *value)).collect()
    };
    let (one, other) = (own(before), own(after));
    let near = |(name, value): (&String, &f64)| {
        let there = other.get(name);
        there.is_some_and(|there| value == there || (value - there).abs() < tolerance * value.abs().max(there.abs()))
    };
    one.len() != other.len() || !one.iter().all(near)
}
