//! Fills the templates of a diagnosis.

use super::super::diagnosis::{Described, Diagnosis};
use super::pages::{self, Templates};
use super::template::Template;

/// The texts of a diagnosis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Title of at most 60 characters, unless names are too long.
    pub title: String,
    pub reason: String,
    pub remedy: String,
    /// Assumption of the gain.
    pub assumption: String,
}

/// Returns the texts of a finding's diagnosis; kernels of Triton have their own texts.
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

/// Returns the text of a phrase.
pub fn write_phrase(phrase: &impl Described) -> String {
    let template = pages::all().get("").and_then(|page| page.phrases.get(phrase.id()));
    template.and_then(|template| template.fill(&phrase.figures())).unwrap_or_default()
}

fn remedy<'p>(page: &'p Templates, id: &str, is_triton: bool) -> Option<&'p pages::RemedyText> {
    let of_triton = || page.remedies.get(&format!("{id} (Triton)"));
    is_triton.then(of_triton).flatten().or_else(|| page.remedies.get(id))
}
