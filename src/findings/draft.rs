//! A finding before it is ranked.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::launches::launch_line;
use super::phrase::{Phrase, push};
use super::prelude::*;

/// Minimum share of the estimated time that a finding must waste for a severity above a note.
pub(super) const WORTH_A_CHANGE: f64 = 0.05;

/// A finding before it is ranked.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub severity: Severity,
    /// Cause and remedy; [`super::text`] converts them to text.
    pub diagnosis: Diagnosis,
    pub kernel: Option<u32>,
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub inside_library: Option<Frame>,
    pub allocation: Option<u64>,
    pub object: Option<String>,
    pub evidence: BTreeMap<String, f64>,
    /// Remarks that follow the reason, separated by semicolons.
    pub remarks: String,
    pub gain: Option<Gain>,
    /// Wasted share of the time, 0 to 1; findings are ranked by it.
    pub score: f64,
    /// Savings from which gain and score are computed, for findings that are merged with others.
    pub saved: Option<Saved>,
    /// Common property of findings with the same remedy whose figures differ.
    pub alike: Option<String>,
    /// Common property of findings about several objects that one change fixes, such as the index array that selects
    /// elements of all objects.
    pub one_cause: Option<String>,
    /// Further source lines.
    pub lines: Vec<FindingLine>,
    /// Other instantiations of the kernel's template.
    pub other_kernels: Vec<u32>,
    /// Whether the rule limits the severity to a note.
    pub at_most_note: bool,
}

/// Savings of a remedy.
#[derive(Clone, Debug, Default)]
pub(super) struct Saved {
    pub saving: Saving,
    /// Share of the kernel's time that is used if no estimate exists.
    pub otherwise: f64,
    /// Savings in other kernels, by kernel number.
    pub elsewhere: BTreeMap<u32, Saving>,
}

impl Saved {
    /// Creates the savings in one kernel.
    pub(super) fn new(saving: Saving, otherwise: f64) -> Saved {
        Saved { saving, otherwise, elsewhere: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, more: Saved) {
        self.saving = std::mem::take(&mut self.saving).and(more.saving);
        self.otherwise += more.otherwise;
        for (kernel, saving) in more.elsewhere {
            let sum = self.elsewhere.entry(kernel).or_default();
            *sum = std::mem::take(sum).and(saving);
        }
    }
}

impl Draft {
    /// Creates a note without a source position.
    pub(super) fn new(diagnosis: Diagnosis) -> Draft {
        Draft {
            severity: Severity::Note,
            diagnosis,
            kernel: None,
            file: String::new(),
            line: 0,
            column: 0,
            inside_library: None,
            allocation: None,
            object: None,
            evidence: BTreeMap::new(),
            remarks: String::new(),
            gain: None,
            score: 0.0,
            saved: None,
            alike: None,
            one_cause: None,
            lines: Vec::new(),
            other_kernels: Vec::new(),
            at_most_note: false,
        }
    }

    /// Creates a note about an access. The names of the data and of the operation are figures of the diagnosis.
    pub(super) fn for_access(facts: &Facts<'_>, mut diagnosis: Diagnosis, access: &Access<'_>) -> Draft {
        diagnosis.figures.extend(figures(facts, access));
        Draft::new(diagnosis).at_access(access)
    }

    /// Returns the same finding with another remedy.
    pub(super) fn with_remedy(mut self, remedy: &impl Described) -> Draft {
        self.diagnosis.remedy = remedy.id();
        self.diagnosis.verified = false;
        self.diagnosis.figures.replace(remedy.figures());
        self
    }

    pub(super) fn at_access(mut self, access: &Access<'_>) -> Draft {
        if access.is_near {
            push(&mut self.remarks, &Phrase::NearLine);
        }
        Draft {
            kernel: Some(access.kernel.id),
            file: access.file.to_owned(),
            line: access.line,
            column: access.column,
            allocation: access.allocation,
            object: access.variable().map(str::to_owned),
            ..self
        }
    }

    pub(super) fn at_frame(self, frame: Option<&Frame>) -> Draft {
        let Some(frame) = frame else { return self };
        Draft { file: frame.file.clone(), line: frame.line, column: frame.column, ..self }
    }

    /// Places the finding at the line of the copies, with the device memory that they read or write.
    pub(super) fn at_copies(self, copies: &Copies<'_>) -> Draft {
        let allocation = copies.allocation();
        let draft = self.at_frame(innermost(copies.path)).evidence("copies", copies.count as f64);
        let name = allocation.and_then(|allocation| allocation.name.clone());
        Draft { allocation: allocation.map(|allocation| allocation.id), ..draft.object(name) }
    }

    pub(super) fn at_kernel(self, kernel: &Kernel) -> Draft {
        Draft { kernel: Some(kernel.id), file: kernel.file.clone(), line: kernel.line, column: 0, ..self }
    }

    /// Places the finding at the line of the launch, or at the kernel if that line is unknown.
    pub(super) fn at_launch(self, kernel: &Kernel) -> Draft {
        let draft = self.at_frame(launch_line(kernel)).of_kernel(kernel);
        if draft.line == 0 { draft.at_kernel(kernel) } else { draft }
    }

    pub(super) fn of_kernel(self, kernel: &Kernel) -> Draft {
        Draft { kernel: Some(kernel.id), ..self }
    }

    pub(super) fn of_allocation(self, id: u64) -> Draft {
        Draft { allocation: Some(id), ..self }
    }

    pub(super) fn object(self, name: Option<impl Into<String>>) -> Draft {
        Draft { object: name.map(Into::into), ..self }
    }

    /// Adds a number on which the finding is based.
    pub(super) fn evidence(mut self, name: &str, value: f64) -> Draft {
        if value.is_finite() {
            // Six digits are sufficient, and the document keeps this value exactly.
            let rounded = if value.fract() == 0.0 { value } else { format!("{value:.5e}").parse().unwrap_or(value) };
            self.evidence.insert(name.to_owned(), rounded);
        }
        self
    }

    /// Adds the requests and sectors of accesses.
    pub(super) fn sectors(self, sums: &Sums) -> Draft {
        self.evidence("requests", sums.requests as f64)
            .evidence("sectors", sums.sectors as f64)
            .evidence("ideal_sectors", sums.ideal_sectors as f64)
    }

    pub(super) fn gain(self, gain: Option<Gain>) -> Draft {
        Draft { gain, ..self }
    }

    /// Sets the score, a share of the time. From [`WORTH_A_CHANGE`] on, the finding is a warning.
    pub(super) fn score(self, score: f64) -> Draft {
        let score = if score.is_finite() { score.clamp(0.0, 1.0) } else { 0.0 };
        let severity = if score >= WORTH_A_CHANGE { Severity::Warning } else { Severity::Note };
        Draft { score, severity: self.severity.max(severity), ..self }
    }

    pub(super) fn severity(self, severity: Severity) -> Draft {
        Draft { severity, at_most_note: severity == Severity::Note, ..self }
    }

    pub(super) fn note_if(self, is_note: bool) -> Draft {
        if is_note { self.severity(Severity::Note) } else { self }
    }

    /// Adds further lines, which the reason lists.
    pub(super) fn with_lines(mut self, lines: BTreeSet<FindingLine>) -> Draft {
        self.lines = lines.into_iter().collect();
        self.remarks.push_str(&also_on(&self.lines));
        self
    }

    /// Sets gain and score from the savings.
    pub(super) fn saves(self, facts: &Facts<'_>, saved: Saved) -> Draft {
        Draft { saved: Some(saved), ..self }.rated(facts)
    }

    /// Computes gain and score from the stored savings.
    pub(super) fn rated(self, facts: &Facts<'_>) -> Draft {
        let (Some(kernel), Some(saved)) = (facts.kernel(self.kernel), &self.saved) else { return self };
        let elsewhere: Vec<(&Kernel, &Saving)> =
            saved.elsewhere.iter().filter_map(|(&id, saving)| Some((facts.kernel(Some(id))?, saving))).collect();
        let gain = facts.gain_with_others(kernel, &saved.saving, &elsewhere);
        let of = |(kernel, saving): &(&Kernel, &Saving)| facts.waste(kernel, saving, saved.otherwise);
        let waste = of(&(kernel, &saved.saving)) + elsewhere.iter().map(of).sum::<f64>();
        let at_most_note = self.at_most_note;
        self.gain(gain).score(waste).note_if(at_most_note)
    }

    /// Sets the common property of findings about other objects that the same change fixes.
    pub(super) fn one_cause(self, what: Option<String>) -> Draft {
        Draft { one_cause: what, ..self }
    }

    /// Sets the common property of other findings about the object with the same remedy.
    pub(super) fn alike(self, what: impl Into<String>) -> Draft {
        Draft { alike: Some(what.into()), ..self }
    }
}

/// Creates a figure from names, if there are any.
pub(super) fn names(all: impl IntoIterator<Item = impl Into<String>>) -> Option<Names> {
    let all: Vec<String> = all.into_iter().map(Into::into).collect();
    (!all.is_empty()).then_some(Names(all))
}

/// Returns the figures of an access: `{target}` is the data with its allocation, `{data}` the name alone, and
/// `{op:read|write|update}` the operation. Other figures are the requests, the mean sectors and lanes per request, and
/// the bytes per lane.
fn figures(facts: &Facts<'_>, access: &Access<'_>) -> Figures {
    let target = facts.target(access);
    let named = access.variable().map(|name| format!("`{name}`"));
    let data = named.unwrap_or_else(|| target.split(" (").next().unwrap_or(&target).to_owned());
    let op = match access.op {
        "store" => 1,
        "atomic" => 2,
        _ => 0,
    };
    let mut figures = Figures::default();
    figures.set("target", Shown(target));
    figures.set("data", Shown(data));
    figures.set("op", Choice(op));
    figures.set("space", Shown(access.space.to_owned()));
    figures.set("thread", Shown(thread_index(lane_axis(access.kernel)).to_owned()));
    let per_request = |value: u64| Ratio(share(value, access.sums.requests));
    figures.set("sectors", per_request(access.sums.sectors));
    figures.set("ideal", per_request(access.sums.ideal_sectors));
    figures.set("lanes", per_request(access.sums.lanes));
    figures.set("requests", Count(access.sums.requests));
    figures.set("bytes", Bytes(access.bytes.into()));
    figures
}
