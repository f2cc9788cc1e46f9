//! Fills the templates of a diagnosis in.

use super::super::diagnosis::{Described, Diagnosis};
use super::pages::{self, Templates};
use super::template::Template;

/// A diagnosis in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// At most 60 characters, as far as names allow.
    pub title: String,
    pub reason: String,
    pub remedy: String,
    /// What the gain assumes.
    pub assumption: String,
}

/// Puts a finding's diagnosis into words, in those of Triton for its kernels.
pub fn write(finding: &str, diagnosis: &Diagnosis, is_triton: bool) -> Text {
    let all = pages::all();
    let of_finding = all.get(finding);
    let own = of_finding.into_iter().chain(all.get(""));
    let fill = |template: &Template| {
        let text = template.fill(&diagnosis.figures);
        debug_assert!(text.is_some(), "{finding}, {}, {}: a figure is missing", diagnosis.cause, diagnosis.remedy);
        text.unwrap_or_else(|| diagnosis.cause.to_owned())
    };
    let cause = own.clone().find_map(|page| page.causes.get(diagnosis.cause));
    let remedy = own.clone().find_map(|page| remedy(page, diagnosis.remedy, is_triton));
    Text {
        title: cause.map(|cause| fill(&cause.title)).unwrap_or_default(),
        reason: cause.map(|cause| fill(&cause.reason)).unwrap_or_default(),
        remedy: remedy.map(|remedy| fill(&remedy.remedy)).unwrap_or_default(),
        assumption: remedy.and_then(|remedy| remedy.assumption.as_ref()).map(fill).unwrap_or_default(),
    }
}

/// Puts a phrase into words.
pub fn write_phrase(phrase: &impl Described) -> String {
    let template = pages::all().get("").and_then(|page| page.phrases.get(phrase.id()));
    template.and_then(|template| template.fill(&phrase.figures())).unwrap_or_default()
}

fn remedy<'p>(page: &'p Templates, id: &str, is_triton: bool) -> Option<&'p pages::RemedyText> {
    let of_triton = || page.remedies.get(&format!("{id} (Triton)"));
    is_triton.then(of_triton).flatten().or_else(|| page.remedies.get(id))
}
