//! Arrays of a thread in local memory, usually because their index is computed at run time and registers cannot be
//! indexed.

use super::super::facts::local::{LocalVariable, local_variables};
use super::super::gain::total;
use super::super::prelude::*;
use super::super::thresholds::local_memory::*;

described! {
    enum Cause {
        MemberIndex { members: Names } => "run-time-index-of-member",
        PassedToFunction { function: Option<Name>, members: Option<Names> } => "passed-to-function",
        RunTimeIndex => "run-time-index",
    }
    enum Remedy {
        ConstantMemberIndices { threads: Count, room: Bytes } => "constant-member-indices",
        InlineFunction { kind: Choice } => "inline-function",
        ConstantIndices { most: Bytes, threads: Count, room: Bytes } => "constant-indices-if-small",
    }
}

type Classifier = fn(&LocalVariable<'_, '_>) -> Option<Cause>;

/// Classifiers of causes; the first one that applies determines the cause.
const ORDER: &[Classifier] = &[
    |it| {
        names(it.indexed_members())
            .filter(|_| it.is_object() && it.all_inlined)
            .map(|members| Cause::MemberIndex { members })
    },
    |it| {
        let function = it.function().map(|name| Name(name.to_owned()));
        let members = names(it.indexed_members()).filter(|_| it.is_object());
        (function.is_some() || it.is_object()).then_some(Cause::PassedToFunction { function, members })
    },
    |_| Some(Cause::RunTimeIndex),
];

impl Cause {
    fn remedy(&self, variable: &LocalVariable<'_, '_>) -> Remedy {
        let (room, of_block) = variable.column();
        let (threads, room) = (Count(of_block), Bytes(room.min(MOST_BYTES_OF_THREAD)));
        match self {
            Cause::MemberIndex { .. } => Remedy::ConstantMemberIndices { threads, room },
            Cause::PassedToFunction { .. } => {
                let kind = if !variable.is_object() { 2 } else { u8::from(variable.name != "this") };
                Remedy::InlineFunction { kind: Choice(kind) }
            }
            Cause::RunTimeIndex => Remedy::ConstantIndices { most: Bytes(MOST_BYTES_OF_THREAD), threads, room },
        }
    }

    /// Returns the common part of findings about several variables that one change fixes: a function, or a loop that
    /// accesses an element of each variable per iteration.
    fn shared_by(&self, requests: u64, bytes: u64) -> Option<String> {
        match self {
            Cause::PassedToFunction { function, .. } => Some(format!("passed to {}", function.as_ref()?.0)),
            Cause::RunTimeIndex => Some(format!("{requests} requests, {bytes} bytes")),
            Cause::MemberIndex { .. } => None,
        }
    }
}

/// A finding about a variable, before findings are merged.
struct Found<'f> {
    variable: &'f str,
    is_parameter: bool,
    draft: Draft,
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let variables = local_variables(facts);
    joined(facts, variables.iter().filter_map(|variable| found(facts, variable)).collect())
}

fn found<'f>(facts: &Facts<'_>, variable: &LocalVariable<'f, '_>) -> Option<Found<'f>> {
    let (requests, bytes) =
        (total(&variable.accesses, |sums| sums.requests), total(&variable.accesses, |sums| sums.bytes));
    let of_kernel = share(requests, facts.requests(variable.kernel));
    let worst = variable.worst().filter(|_| of_kernel >= LEAST_ARRAY_SHARE)?;
    let cause = ORDER.iter().find_map(|cause| cause(variable))?;
    let mut diagnosis = Diagnosis::new(&cause, &cause.remedy(variable));
    diagnosis.figures.set("share", Share(of_kernel));
    diagnosis.figures.set("requests", Count(requests));
    diagnosis.figures.set("bytes", Bytes(bytes));
    let draft = Draft::for_access(facts, diagnosis, worst)
        .object(Some(variable.name))
        .evidence("requests", requests as f64)
        .evidence("bytes", bytes as f64)
        .evidence("share_of_requests", of_kernel)
        .one_cause(cause.shared_by(requests, bytes))
        .saves(facts, Saved::new(Saving::without_traffic(&variable.accesses), of_kernel));
    Some(Found { variable: variable.name, is_parameter: variable.is_parameter(), draft })
}

/// Merges the finding about a function's parameter into the finding about the variable that is passed to it, if the
/// kernel has such a finding.
fn joined(facts: &Facts<'_>, found: Vec<Found<'_>>) -> Vec<Draft> {
    let (parameters, own): (Vec<Found<'_>>, Vec<Found<'_>>) = found.into_iter().partition(|one| one.is_parameter);
    let mut own: Vec<(Draft, Vec<&str>)> = own.into_iter().map(|one| (one.draft, Vec::new())).collect();
    for one in parameters {
        let is_origin = |(other, _): &&mut (Draft, Vec<&str>)| {
            other.kernel == one.draft.kernel && other.diagnosis.cause == "passed-to-function"
        };
        match own.iter_mut().find(is_origin) {
            Some((origin, others)) => {
                others.push(one.variable);
                if let (Some(sum), Some(more)) = (&mut origin.saved, one.draft.saved) {
                    sum.add(more);
                }
            }
            None => own.push((one.draft, Vec::new())),
        }
    }
    let with_others = own.into_iter().map(|(mut draft, others)| {
        let others = names(others);
        let is_sum = others.is_some();
        draft.diagnosis.figures.set("others", others);
        if is_sum { draft.rated(facts) } else { draft }
    });
    with_others.collect()
}
