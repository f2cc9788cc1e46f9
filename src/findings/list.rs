//! The list of all rules.

#[cfg(test)]
use super::diagnosis::Row;
use super::draft::Draft;
use super::facts::Facts;
pub(super) use super::rules::RULES;
use warpline_profile::model::{Basis, Finding};

/// Subject of a finding, which determines its rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Share of kernel time: the score is a share of the estimated time of kernels.
    KernelTime,
    /// Code of a kernel: for a library's kernel it is a note, because the user cannot change the code.
    Code,
    /// Limit of the GPU: for a library's kernel it is reported only if the kernel waits for that limit.
    Limit,
    /// Launch of a kernel: the finding is at the line of the launch.
    Launch,
    /// Launches that could be fewer: for a library's kernels, the user can merge the calls.
    Calls,
    /// Control flow in a kernel: for a library's kernel it is not reported.
    Inner,
    /// Order of accesses: for a library's kernel it is a note about the ranges that the user passes.
    Order,
    /// Modelled cause: it depends on values that a GPU model computes from counts.
    Modelled,
    /// Estimated cause: it depends on times that are computed from assumed rates.
    Estimated,
}

/// A rule and its page.
pub(super) struct Rule {
    pub id: &'static str,
    pub about: &'static [About],
    pub page: &'static str,
    pub find: fn(&Facts<'_>) -> Vec<Draft>,
    /// Ids of its causes and remedies, with the names of their figures. A test compares them with the page.
    #[cfg(test)]
    pub causes: &'static [Row],
    #[cfg(test)]
    pub remedies: &'static [Row],
}

/// Returns whether a rule's findings have this subject.
pub(super) fn is_about(id: &str, about: About) -> bool {
    RULES.iter().any(|rule| rule.id == id && rule.about.contains(&about))
}

/// Returns how the figures for the cause of a finding are obtained; `None` for an unknown id. Documents of earlier
/// versions lack this information, so the id determines it.
pub fn confidence(finding: &Finding) -> Option<Basis> {
    let is_known = RULES.iter().any(|rule| rule.id == finding.id);
    finding.confidence.or_else(|| is_known.then(|| basis(&finding.id)))
}

/// Returns how the figures for the causes of a rule are obtained.
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
    /// Text of the page in Markdown.
    pub text: &'static str,
}

impl Page {
    /// Returns the first sentence of the page, which describes the rule's findings.
    pub fn summary(&self) -> &'static str {
        let mut lines = self.text.lines().skip_while(|line| line.starts_with('#') || line.trim().is_empty());
        lines.next().unwrap_or_default()
    }
}

/// Returns all pages in the order of the rules.
pub fn pages() -> impl Iterator<Item = Page> {
    RULES.iter().map(|rule| Page { id: rule.id, text: rule.page })
}

/// Returns the message for an unknown finding id.
pub fn unknown(id: &str) -> String {
    let alike = crate::nearest::nearest(id, RULES.iter().map(|rule| rule.id));
    match alike.is_empty() {
        true => format!("`{id}` is no finding; `warpline explain` lists them"),
        false => format!("`{id}` is no finding; did you mean {}?", crate::nearest::listed(alike)),
    }
}
