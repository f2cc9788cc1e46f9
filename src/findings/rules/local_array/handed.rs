//! What functions that are not inlined call the arrays and objects of their callers: `this`, or a parameter.

use super::super::super::draft::Draft;
use super::super::super::facts::Facts;
use super::super::super::facts::access::Access;
use super::super::super::words;
use super::Found;
use super::source::{has_variable_index, is_declared};
use crate::profile::model::Site;

/// Bytes of the widest access of a thread, of which elements have fewer.
const WIDEST: u32 = 16;

/// A function that is not inlined and reaches a variable of its caller's.
#[derive(Clone)]
pub(super) struct Handed {
    /// Its name, without its parameters.
    pub function: String,
    /// Nothing else reaches it under this name: it is `this`, or a parameter.
    pub only_there: bool,
}

/// The function that a variable is handed to; `None` where none is.
pub(super) fn to(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> Option<Handed> {
    let first = accesses.first()?;
    let outer = |site: &Site| {
        let function = site.inlined_at.last().map_or(&site.leaf.function, |frame| &frame.function);
        (*function != first.kernel.name).then(|| function.clone())
    };
    let all: Vec<Option<String>> = sites_of(facts, name, accesses).map(outer).collect();
    let function = all.iter().flatten().next()?.clone();
    let only_there = all.iter().all(Option::is_some);
    // An array of the function's own is none of its caller's.
    let takes_pointers = function.split_once('(').is_some_and(|(_, types)| types.contains(['*', '&']));
    let lines = facts.profile.sources.get(first.file);
    let is_own =
        lines.is_some_and(|lines| lines.values().any(|text| is_declared(text, name) && text.trim_end().ends_with(';')));
    let is_handed = !only_there || name == "this" || takes_pointers && !is_own;
    let plain = function.split(['(', '<']).next().unwrap_or(&function);
    let plain = plain.rsplit([':', ' ']).next().unwrap_or(plain).to_owned();
    is_handed.then_some(Handed { function: plain, only_there })
}

/// The sites of a variable in local memory.
fn sites_of<'a>(facts: &'a Facts<'_>, name: &'a str, accesses: &[&Access<'_>]) -> impl Iterator<Item = &'a Site> {
    let kernel = accesses.first().map(|access| access.kernel.id);
    facts.profile.sites.iter().filter(move |site| {
        Some(site.kernel) == kernel
            && site.space == "local"
            && site.operand.as_ref().is_some_and(|operand| operand.variable.as_deref() == Some(name))
    })
}

/// Whether unrolling has made constants of the indices that have names: most of their lines have a site for each element.
pub(super) fn are_unrolled(facts: &Facts<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let named: Vec<&&Access<'_>> = accesses.iter().filter(|access| has_variable_index(facts, name, access)).collect();
    let is_unrolled = |access: &&&&Access<'_>| {
        let there = |site: &&Site| (site.line, &site.op[..], &site.file[..]) == (access.line, access.op, access.file);
        // Several elements at once have constant indices as well.
        let sites: Vec<&Site> = sites_of(facts, name, accesses).filter(there).collect();
        sites.len() > 1 || sites.iter().any(|site| site.bytes >= WIDEST)
    };
    // What is copied as a whole, as by a loop that the compiler made one copy of, has one site, too.
    named.is_empty() || 2 * named.iter().filter(is_unrolled).count() > named.len()
}

/// Leaves what is handed on to the finding of what it is a part of, where the kernel has one.
pub(super) fn joined(facts: &Facts<'_>, found: Vec<Found>) -> Vec<Draft> {
    let (handed, own): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|one| one.is_handed);
    let mut own: Vec<(Found, Vec<String>)> = own.into_iter().map(|one| (one, Vec::new())).collect();
    let mut alone = Vec::new();
    for one in handed {
        let is_origin = |(other, _): &&mut (Found, Vec<String>)| other.kernel == one.kernel && other.asks_inlining;
        match own.iter_mut().find(is_origin) {
            Some((origin, names)) => {
                names.push(one.name);
                if let (Some(sum), Some(more)) = (&mut origin.draft.saved, one.draft.saved) {
                    sum.add(more);
                }
            }
            None => alone.push(one.draft),
        }
    }
    let told = own.into_iter().map(|(one, names)| match &names[..] {
        [] => one.draft,
        names => {
            let reason =
                format!("{}; functions that are not inlined reach it as {}", one.draft.reason, words::list(names));
            Draft { reason, ..one.draft }.rated(facts)
        }
    });
    told.chain(alone).collect()
}
