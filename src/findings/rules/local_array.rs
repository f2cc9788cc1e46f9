//! Arrays of a thread that lie in local memory, mostly as their index is computed: registers have no addresses.

use super::super::diagnosis::{Bytes, Choice, Count, Diagnosis, Name, Names, Share, described};
use super::super::draft::{Draft, Saved};
use super::super::facts::Facts;
use super::super::facts::access::{Access, Sums, share};
use super::super::facts::local::{LocalVariable, local_variables};
use super::super::gain::Saving;
use super::super::thresholds::local_memory::{LEAST_ARRAY_SHARE, MOST_BYTES_OF_THREAD};
use warpline_simulator::geometry::SECTOR_BYTES;

described! {
    /// Why a variable has no registers.
    pub(in super::super) enum Cause {
        /// An array in it is indexed at run time, and all functions are inlined.
        MemberIndex { members: Names } => "run-time-index-of-member",
        /// A function that is not inlined reaches it.
        PassedToFunction { function: Name, members: Option<Names> } => "passed-to-function",
        /// It is no array, so that something has its address.
        AddressTaken { members: Option<Names> } => "address-taken",
        /// All threads fill it with the same numbers.
        SameInAllThreads => "same-values-in-all-threads",
        RunTimeIndex => "run-time-index",
        /// The profile does not show which of both.
        IndexOrAddress => "run-time-index-or-address",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// With the threads of a block where a column for each fits into shared memory, and the bytes of one where the size is unknown.
        ConstantMemberIndices { threads: Option<Count>, room: Option<Bytes> } => "constant-member-indices",
        InlineFunction { kind: Choice } => "inline-function",
        InlineAndIndex { threads: Option<Count>, room: Option<Bytes> } => "inline-and-constant-indices",
        InlineOrByValue => "inline-or-pass-by-value",
        InlineAndUnroll { threads: Option<Count>, room: Option<Bytes> } => "inline-and-unroll",
        ShareTable => "share-constant-table",
        ShareArray { size: Bytes } => "share-array-between-threads",
        ConstantIndices { threads: Option<Count>, room: Option<Bytes> } => "constant-indices",
        /// The same where the size is unknown.
        IndicesIfSmall { most: Bytes, threads: Option<Count>, room: Option<Bytes> } => "constant-indices-if-small",
    }
}

/// Names as a figure, if there are any.
fn members(variable: &LocalVariable<'_, '_>) -> Option<Names> {
    let names: Vec<String> = variable.indexed_members().into_iter().collect();
    (variable.is_object() && !names.is_empty()).then_some(Names(names))
}

type Classifier = fn(&LocalVariable<'_, '_>) -> Option<Cause>;

/// In this order: the first that applies is the cause.
const ORDER: &[Classifier] = &[
    |it| members(it).filter(|_| it.all_inlined).map(|members| Cause::MemberIndex { members }),
    |it| {
        let function = Name(it.function()?.to_owned());
        Some(Cause::PassedToFunction { function, members: members(it) })
    },
    |it| it.is_object().then(|| Cause::AddressTaken { members: members(it) }),
    |it| it.is_table().then_some(Cause::SameInAllThreads),
    |it| (it.is_computed() || it.all_inlined && it.has_variable_index()).then_some(Cause::RunTimeIndex),
];

fn classify(variable: &LocalVariable<'_, '_>) -> Cause {
    ORDER.iter().find_map(|cause| cause(variable)).unwrap_or(Cause::IndexOrAddress)
}

impl Cause {
    fn remedy(&self, variable: &LocalVariable<'_, '_>) -> Remedy {
        let size = variable.declared_bytes();
        let (room, of_block) = variable.column();
        let threads = size.is_none_or(|bytes| bytes <= room).then_some(Count(of_block));
        let room = size.is_none().then_some(Bytes(room.min(MOST_BYTES_OF_THREAD)));
        match self {
            Cause::MemberIndex { .. } => Remedy::ConstantMemberIndices { threads, room },
            Cause::PassedToFunction { members: Some(_), .. } | Cause::AddressTaken { members: Some(_) } => {
                Remedy::InlineAndIndex { threads, room }
            }
            Cause::PassedToFunction { .. } => {
                let kind = if !variable.is_object() { 2 } else { u8::from(variable.name != "this") };
                Remedy::InlineFunction { kind: Choice(kind) }
            }
            Cause::AddressTaken { .. } => Remedy::InlineOrByValue,
            Cause::SameInAllThreads => Remedy::ShareTable,
            Cause::RunTimeIndex | Cause::IndexOrAddress => match size {
                Some(bytes) if bytes > MOST_BYTES_OF_THREAD => Remedy::ShareArray { size: Bytes(bytes) },
                _ if *self == Cause::IndexOrAddress && variable.is_reached_elsewhere() => {
                    Remedy::InlineAndUnroll { threads, room }
                }
                Some(_) => Remedy::ConstantIndices { threads, room },
                None => Remedy::IndicesIfSmall { most: Bytes(MOST_BYTES_OF_THREAD), threads, room },
            },
        }
    }
}

impl Remedy {
    /// Functions become a part of their callers.
    fn is_inlining(&self) -> bool {
        matches!(
            self,
            Remedy::InlineFunction { .. }
                | Remedy::InlineAndIndex { .. }
                | Remedy::InlineOrByValue
                | Remedy::InlineAndUnroll { .. }
        )
    }
}

/// What is found of a variable.
struct Found<'f> {
    kernel: u32,
    name: &'f str,
    is_parameter: bool,
    is_inlining: bool,
    draft: Draft,
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let variables = local_variables(facts);
    joined(facts, variables.iter().filter_map(|variable| found(facts, variable)).collect())
}

fn found<'f>(facts: &Facts<'_>, variable: &LocalVariable<'f, '_>) -> Option<Found<'f>> {
    let sum = |value: fn(&Sums) -> u64| {
        variable.accesses.iter().map(|access| value(&access.sums)).fold(0, u64::saturating_add)
    };
    let (requests, bytes) = (sum(|sums| sums.requests), sum(|sums| sums.bytes));
    let of_kernel = share(requests, facts.requests(variable.kernel));
    if of_kernel < LEAST_ARRAY_SHARE {
        return None;
    }
    let worst = variable.worst()?;
    let cause = classify(variable);
    let remedy = cause.remedy(variable);
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    diagnosis.figures.set("share", Share(of_kernel));
    diagnosis.figures.set("requests", Count(requests));
    diagnosis.figures.set("bytes", Bytes(bytes));
    let one_cause = match &cause {
        Cause::PassedToFunction { function, .. } => Some(format!("passed to {}", function.0)),
        // Arrays of a loop, an element of each in each iteration.
        Cause::RunTimeIndex | Cause::IndexOrAddress => {
            Some(format!("{requests} requests, {bytes} bytes of {:?}", variable.declared_bytes()))
        }
        _ => None,
    };
    let saving = variable.accesses.iter().fold(Saving::default(), |sum, access| sum.and(traffic(access)));
    let draft = Draft::of_access(facts, diagnosis, worst)
        .object(Some(variable.name))
        .evidence("requests", requests as f64)
        .evidence("bytes", bytes as f64)
        .evidence("share_of_requests", of_kernel)
        .one_cause(one_cause)
        .saves(facts, Saved { saving, otherwise: of_kernel, ..Saved::default() });
    let is_inlining = remedy.is_inlining();
    let is_parameter = variable.is_parameter();
    Some(Found { kernel: variable.kernel.id, name: variable.name, is_parameter, is_inlining, draft })
}

fn traffic(access: &Access<'_>) -> Saving {
    let sums = &access.sums;
    let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES) as f64;
    Saving::of("l1_tag", sums.stages.tag as f64)
        .and(Saving::of("l1_data", sums.stages.data as f64))
        .and(Saving::of("l1_lanes", sums.stages.words.saturating_mul(32) as f64))
        .and(Saving::of("l2", bytes(sums.l2_lookups)))
        .and(Saving::of("dram", bytes(sums.dram_reads.saturating_add(sums.dram_writes))))
}

/// Adds what functions call their parameters to the finding of what is passed to them, where the kernel has one.
fn joined(facts: &Facts<'_>, found: Vec<Found<'_>>) -> Vec<Draft> {
    let (parameters, own): (Vec<Found<'_>>, Vec<Found<'_>>) = found.into_iter().partition(|one| one.is_parameter);
    let mut own: Vec<(Found<'_>, Vec<String>)> = own.into_iter().map(|one| (one, Vec::new())).collect();
    let mut alone = Vec::new();
    for one in parameters {
        let is_origin = |(other, _): &&mut (Found<'_>, _)| other.kernel == one.kernel && other.is_inlining;
        let Some((origin, names)) = own.iter_mut().find(is_origin) else {
            alone.push(one.draft);
            continue;
        };
        names.push(one.name.to_owned());
        if let (Some(sum), Some(more)) = (&mut origin.draft.saved, one.draft.saved) {
            sum.add(more);
        }
    }
    let with_names = own.into_iter().map(|(Found { mut draft, .. }, names)| {
        if names.is_empty() {
            return draft;
        }
        draft.diagnosis.figures.set("others", Names(names));
        draft.rated(facts)
    });
    with_names.chain(alone).collect()
}
