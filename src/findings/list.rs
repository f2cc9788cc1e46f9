//! All rules.

#[cfg(test)]
use super::diagnosis::Row;
use super::draft::Draft;
use super::facts::Facts;
pub(super) use super::rules::RULES;
use warpline_profile::model::{Basis, Finding};

/// What a finding is about, which decides how it is rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Its score is a share of the estimated time of kernels.
    KernelTime,
    /// How a kernel is written: of a library's kernel it is a note, as the user cannot change that.
    Code,
    /// A limit of the GPU: of a library's kernel it is reported only where the kernel waits for that.
    Limit,
    /// How a kernel is launched: it is at the line of the launch.
    Launch,
    /// Launches that could be fewer: of a library's kernels the user can merge the calls.
    Calls,
    /// Control flow inside a kernel: of a library's kernel it is not reported.
    Inner,
    /// The order of accesses: of a library's kernel it is a note on the ranges that the user passes.
    Order,
    /// Its cause depends on what a GPU model computes from counts.
    Modelled,
    /// Its cause depends on times, which follow from assumed rates.
    Estimated,
}

/// A rule and its page.
pub(super) struct Rule {
    pub id: &'static str,
    pub about: &'static [About],
    pub page: &'static str,
    pub find: fn(&Facts<'_>) -> Vec<Draft>,
    /// Ids of its causes and remedies, with the names of their figures: a test compares them with the page.
    #[cfg(test)]
    pub causes: &'static [Row],
    #[cfg(test)]
    pub remedies: &'static [Row],
}

/// Returns whether the findings of a rule are about something.
pub(super) fn is_about(id: &str, about: About) -> bool {
    RULES.iter().any(|rule| rule.id == id && rule.about.contains(&about))
}

/// Returns how the figures are obtained that the cause of a finding depends on; `None` for the id of no rule. Documents of
/// earlier versions lack it, so the id decides there.
pub fn confidence(finding: &Finding) -> Option<Basis> {
    let is_known = RULES.iter().any(|rule| rule.id == finding.id);
    finding.confidence.or_else(|| is_known.then(|| basis(&finding.id)))
}

/// How the figures are obtained that the causes of a rule depend on.
pub(super) fn basis(id: &str) -> Basis {
    if is_about(id, About::Estimated) {
        Basis::Estimated
    } else if is_about(id, About::Modelled) {
        Basis::Modelled
    } else {
        Basis::Counted
    }
}

/// The page of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Id of the rule.
    pub id: &'static str,
    /// The page, Markdown.
    pub text: &'static str,
}

impl Page {
    /// Its first sentence: what the rule finds.
    pub fn summary(&self) -> &'static str {
        let mut lines = self.text.lines().skip_while(|line| line.starts_with('#') || line.trim().is_empty());
        lines.next().unwrap_or_default()
    }
}

/// All pages, in the order of the rules.
pub fn pages() -> impl Iterator<Item = Page> {
    RULES.iter().map(|rule| Page { id: rule.id, text: rule.page })
}

/// Returns the message for an id that no finding has.
pub fn unknown(id: &str) -> String {
    let alike = crate::nearest::nearest(id, RULES.iter().map(|rule| rule.id));
    match alike.is_empty() {
        true => format!("`{id}` is no finding; `warpline explain` lists them"),
        false => format!("`{id}` is no finding; did you mean {}?", crate::nearest::listed(alike)),
    }
}
