//! Reads the templates of a finding's page.
//!
//! Below `## Causes` each cause has a heading `### id`, its title in bold and the reason. A title and a reason before
//! the first heading apply to all causes: a cause without a title uses that title, and each reason starts with that
//! reason. Below `## Remedies`, each remedy has a heading, the suggested change, and a paragraph `Assumes …` with the
//! assumption of the gain. Such a paragraph before the first heading is the default. A heading `### id (Triton)` starts
//! the text for Triton kernels.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::list::pages;
use super::template::{Template, TemplateError};

/// Page of texts that several findings share.
pub(super) const COMMON: &str = include_str!("common.md");

/// Start of a remedy's paragraph about its gain.
const ASSUMES: &str = "Assumes ";

/// The texts of a cause.
#[derive(Clone, Debug)]
pub(super) struct CauseText {
    pub title: Template,
    pub reason: Template,
}

/// The texts of a remedy.
#[derive(Clone, Debug)]
pub(super) struct RemedyText {
    pub remedy: Template,
    pub assumption: Option<Template>,
}

/// The templates of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    pub causes: BTreeMap<String, CauseText>,
    pub remedies: BTreeMap<String, RemedyText>,
    /// Phrases; only the common page has them.
    pub phrases: BTreeMap<String, Template>,
}

/// Reasons why a page is invalid.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("`{0}`: {1}")]
    Template(String, TemplateError),
    #[error("`{0}` has no title in bold")]
    Title(String),
    #[error("`{0}` has no text")]
    Empty(String),
}

/// Returns the templates of all pages by the finding's id. The common templates have an empty id.
pub(super) fn all() -> &'static BTreeMap<&'static str, Templates> {
    static ALL: LazyLock<BTreeMap<&'static str, Templates>> = LazyLock::new(|| {
        let own = pages().map(|page| (page.id, page.text)).chain([("", COMMON)]);
        // A test checks that all pages are valid.
        own.map(|(id, text)| (id, read(text).unwrap_or_default())).collect()
    });
    &ALL
}

/// Reads a page.
pub(super) fn read(page: &str) -> Result<Templates, PageError> {
    let mut templates = Templates::default();
    let (of_all, causes) = entries(page, "Causes");
    let (common_title, common_reason) = titled(&of_all);
    for (id, paragraphs) in causes {
        let template = |text: &str| Template::parse(text).map_err(|error| PageError::Template(id.clone(), error));
        let (title, reason) = titled(&paragraphs);
        let title = template(title.or(common_title).ok_or_else(|| PageError::Title(id.clone()))?)?;
        let reason = template(&[common_reason, reason].concat().join(" "))?;
        templates.causes.insert(id, CauseText { title, reason });
    }
    let (of_all, remedies) = entries(page, "Remedies");
    for (id, paragraphs) in remedies {
        let template = |text: &str| Template::parse(text).map_err(|error| PageError::Template(id.clone(), error));
        let (assumption, remedy): (Vec<String>, Vec<String>) =
            paragraphs.into_iter().partition(|paragraph| paragraph.starts_with(ASSUMES));
        if remedy.is_empty() {
            return Err(PageError::Empty(id));
        }
        let assumption =
            assumption.first().or(of_all.first()).map(|text| template(text[ASSUMES.len()..].trim_end_matches('.')));
        let remedy = RemedyText { remedy: template(&remedy.join(" "))?, assumption: assumption.transpose()? };
        templates.remedies.insert(id, remedy);
    }
    for (id, paragraphs) in entries(page, "Phrases").1 {
        let template =
            Template::parse(&paragraphs.join(" ")).map_err(|error| PageError::Template(id.clone(), error))?;
        templates.phrases.insert(id, template);
    }
    Ok(templates)
}

/// Returns the bold title, if there is one, and the paragraphs after it.
fn titled(paragraphs: &[String]) -> (Option<&str>, &[String]) {
    let title = paragraphs.first().and_then(|first| first.strip_prefix("**")?.strip_suffix("**"));
    (title, &paragraphs[usize::from(title.is_some())..])
}

/// Paragraphs, each as one line, and the entries below them by id.
type Section = (Vec<String>, Vec<(String, Vec<String>)>);

/// Returns the contents below a heading of the second level.
fn entries(page: &str, heading: &str) -> Section {
    let below = page.split("\n## ").find_map(|section| section.strip_prefix(heading)?.strip_prefix('\n'));
    let paragraphs = |text: &str| -> Vec<String> {
        let lines = text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|paragraph| !paragraph.is_empty()).collect()
    };
    let mut parts = below.unwrap_or_default().split("### ");
    let of_all = paragraphs(parts.next().unwrap_or_default());
    let entry = |text: &str| {
        let (id, text) = text.split_once('\n').unwrap_or((text, ""));
        (id.trim().to_owned(), paragraphs(text))
    };
    (of_all, parts.map(entry).collect())
}
