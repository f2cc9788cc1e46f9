//! Groups findings that are one change. Findings of one rule, kernel, object and remedy become one finding with a list
//! of lines. The same applies to findings on one line in several instantiations of a template.

use std::collections::{BTreeMap, BTreeSet};

use super::diagnosis::{Count, Diagnosis, Names};
use super::draft::Draft;
use super::facts::Facts;
use super::phrase::{Phrase, push};
use warpline_profile::model::{FindingLine, also_on};

/// Common properties of findings that are grouped.
type Key = (&'static str, Option<u32>, String, Option<u64>, Option<String>, String);

/// Groups findings. The first finding of a group, which is the worst, determines kind and position.
pub(super) fn group(drafts: Vec<(&'static str, Draft)>, facts: &Facts<'_>) -> Vec<(&'static str, Draft)> {
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut groups: Vec<(&'static str, Vec<Draft>)> = Vec::new();
    for (id, draft) in drafts {
        match key(id, &draft).map(|key| *places.entry(key).or_insert(groups.len())) {
            Some(place) if place < groups.len() => groups[place].1.push(draft),
            _ => groups.push((id, vec![draft])),
        }
    }
    let of_kernels = groups.into_iter().map(|(id, drafts)| (id, together(drafts, facts))).collect();
    instantiations(of_kernels, facts)
}

/// Merges findings on one line that differ only in the instantiation of the kernel.
fn instantiations(drafts: Vec<(&'static str, Draft)>, facts: &Facts<'_>) -> Vec<(&'static str, Draft)> {
    type Key = (&'static str, String, String, u32, u32, Option<String>, String);
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut groups: Vec<(&'static str, Draft)> = Vec::new();
    for (id, draft) in drafts {
        let key = template(facts, &draft).filter(|_| draft.line != 0).map(|name| {
            let cure = what_to_do(&draft);
            (id, name.to_owned(), draft.file.clone(), draft.line, draft.column, draft.object.clone(), cure)
        });
        match key.map(|key| *places.entry(key).or_insert(groups.len())) {
            Some(place) if groups.get(place).is_some_and(|(_, whole)| whole.kernel != draft.kernel) => {
                let (_, whole) = &mut groups[place];
                whole.other_kernels.extend(draft.kernel.filter(|&kernel| whole.kernel != Some(kernel)));
                whole.score = (whole.score + draft.score).min(1.0);
                whole.severity = whole.severity.max(draft.severity);
            }
            _ => groups.push((id, draft)),
        }
    }
    for (_, draft) in &mut groups {
        draft.other_kernels.sort_unstable();
        draft.other_kernels.dedup();
        if !draft.other_kernels.is_empty() {
            let instantiations = Count(draft.other_kernels.len() as u64);
            push(&mut draft.remarks, &Phrase::OtherInstantiations { instantiations });
        }
    }
    groups
}

/// Returns the name of the template whose instantiation is the finding's kernel.
fn template<'a>(facts: &Facts<'a>, draft: &Draft) -> Option<&'a str> {
    let kernel = facts.profile.kernels.iter().find(|kernel| Some(kernel.id) == draft.kernel)?;
    let (name, _) = kernel.name.split_once('<')?;
    Some(name)
}

/// Returns the key of a finding; `None` if it is not grouped because its combined gain, or its subject, is unknown.
fn key(id: &'static str, draft: &Draft) -> Option<Key> {
    let about_something = draft.allocation.is_some() || draft.object.is_some();
    if draft.line == 0 || !about_something {
        return None;
    }
    if let Some(cause) = &draft.one_cause {
        return Some((id, draft.kernel, draft.file.clone(), None, None, cause.clone()));
    }
    draft.saved.as_ref()?;
    let cure = what_to_do(draft);
    Some((id, draft.kernel, draft.file.clone(), draft.allocation, draft.object.clone(), cure))
}

/// Returns the common property of findings with one remedy, independent of their figures.
fn what_to_do(draft: &Draft) -> String {
    draft.alike.clone().unwrap_or_else(|| format!("{} {}", draft.diagnosis.cause, draft.diagnosis.remedy))
}

fn together(drafts: Vec<Draft>, facts: &Facts<'_>) -> Draft {
    let mut drafts = drafts.into_iter();
    let mut whole = drafts.next().unwrap_or_else(|| Draft::new(Diagnosis::default()));
    let mut lines = Vec::new();
    let mut others = BTreeSet::new();
    for more in drafts {
        others.extend(more.object.filter(|name| whole.object.as_ref() != Some(name)));
        lines.push(FindingLine { line: more.line, column: more.column });
        whole.severity = whole.severity.max(more.severity);
        whole.at_most_note &= more.at_most_note;
        match (&mut whole.saved, more.saved) {
            (Some(sum), Some(saved)) => sum.add(saved),
            _ => whole.score = (whole.score + more.score).min(1.0),
        }
    }
    if lines.is_empty() {
        return whole;
    }
    lines.sort_unstable();
    if !others.is_empty() {
        let names = Names(others.into_iter().collect());
        push(&mut whole.remarks, &Phrase::OtherObjects { names });
    }
    let elsewhere: Vec<FindingLine> = lines.iter().copied().filter(|line| line.line != whole.line).collect();
    whole.remarks.push_str(&also_on(&elsewhere));
    let whole = Draft { lines, ..whole };
    whole.rated(facts)
}
