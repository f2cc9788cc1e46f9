//! Reads the templates of a finding's page.
//!
//! Below `## Causes` each cause has a heading `### id`, its title in bold and the reason; below `## Remedies` each remedy has a
//! heading, what to do, and `Assumes …`, what the gain assumes. A heading `### id (Triton)` has the form for kernels of Triton.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::list::pages;
use super::template::{Template, TemplateError};

/// Page of what several findings have in common.
pub(super) const COMMON: &str = include_str!("common.md");

/// How a remedy's paragraph about its gain starts.
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
}

/// What is wrong with a page.
#[derive(Debug, thiserror::Error)]
pub(super) enum PageError {
    #[error("`{0}`: {1}")]
    Template(String, TemplateError),
    #[error("`{0}` has no title in bold")]
    Title(String),
    #[error("`{0}` has no text")]
    Empty(String),
}

/// The templates of all pages by the finding's id, and those in common under no id.
pub(super) fn all() -> &'static BTreeMap<&'static str, Templates> {
    static ALL: LazyLock<BTreeMap<&'static str, Templates>> = LazyLock::new(|| {
        let own = pages().map(|page| (page.id, page.text)).chain([("", COMMON)]);
        // A test reads all pages.
        own.map(|(id, text)| (id, read(text).unwrap_or_default())).collect()
    });
    &ALL
}

/// Reads a page.
pub(super) fn read(page: &str) -> Result<Templates, PageError> {
    let mut templates = Templates::default();
    for (id, paragraphs) in entries(page, "Causes") {
        let template = |text: &str| Template::parse(text).map_err(|error| PageError::Template(id.clone(), error));
        let (title, reason) = paragraphs.split_first().ok_or_else(|| PageError::Empty(id.clone()))?;
        let title = title.strip_prefix("**").and_then(|title| title.strip_suffix("**"));
        let title = template(title.ok_or_else(|| PageError::Title(id.clone()))?)?;
        let reason = template(&reason.join(" "))?;
        templates.causes.insert(id, CauseText { title, reason });
    }
    for (id, paragraphs) in entries(page, "Remedies") {
        let template = |text: &str| Template::parse(text).map_err(|error| PageError::Template(id.clone(), error));
        let (assumption, remedy): (Vec<String>, Vec<String>) =
            paragraphs.into_iter().partition(|paragraph| paragraph.starts_with(ASSUMES));
        if remedy.is_empty() {
            return Err(PageError::Empty(id));
        }
        let assumption = assumption.first().map(|text| template(text[ASSUMES.len()..].trim_end_matches('.')));
        let remedy = RemedyText { remedy: template(&remedy.join(" "))?, assumption: assumption.transpose()? };
        templates.remedies.insert(id, remedy);
    }
    Ok(templates)
}

/// The entries below a heading of the second level: their ids and their paragraphs, each as one line.
fn entries(page: &str, heading: &str) -> Vec<(String, Vec<String>)> {
    let below = page.split("\n## ").find_map(|section| section.strip_prefix(heading)?.strip_prefix('\n'));
    let entry = |text: &str| {
        let (id, text) = text.split_once('\n').unwrap_or((text, ""));
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
        (id.trim().to_owned(), paragraphs.filter(|paragraph| !paragraph.is_empty()).collect())
    };
    below.unwrap_or_default().split("### ").skip(1).map(entry).collect()
}
