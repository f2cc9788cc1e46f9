//! `warpline gate`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::origin::{self, Origin};
use super::place::{failure, open, ordered};
use super::record::name_of;
use super::repository::Repository;
use crate::cli::args::{FindingArguments, GateArguments, GateFormat};
use crate::cli::output::Color;
use crate::cli::profiles::{diff, findings};
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_comparison::Options;
use warpline_comparison::gate::{self, Accepted, Candidates, Case, DEFAULT_LIMITS, Gate, Judged, Verdict};
use warpline_comparison::limits::{LimitSet, parse};
use warpline_profile as profile;
use warpline_profile::store::{Listing, Recorded, Store};
use warpline_report::{self as report, DiffOptions};

/// Minimum length of an abbreviated commit. A shorter name may be that of a branch.
const LEAST_COMMIT: usize = 7;

pub(in crate::cli) fn execute(arguments: &GateArguments, color: Color) -> Result<u8, Failure> {
    let writes = arguments.write.iter().map(|text| destination(text)).collect::<Result<Vec<_>, _>>()?;
    for (_, path) in &writes {
        for needed in arguments.files.iter().chain(&arguments.limits) {
            output::refuse_same(needed, path)?;
        }
    }
    let (limits, built_in) = limits(arguments.limits.as_deref())?;
    let repository = Repository::here();
    let store = open(&arguments.store, false)?;
    let cases = cases(arguments, &store, repository.as_ref())?;
    let accepted = Accepted::new(arguments.accept.iter().cloned());
    let left_out = FindingArguments { ignore: arguments.ignore.clone(), ..FindingArguments::default() };
    let options = Options { tolerance: arguments.tolerance / 100.0 };
    let mut judged = Vec::with_capacity(cases.len());
    for (mut case, own) in cases {
        let listing = store.records(Some(&case.name)).map_err(failure)?;
        let candidates = candidates(&arguments.baseline, listing, &case, own.as_ref(), repository.as_ref());
        let mut choice = gate::choose(&store, &candidates, &case, &accepted).map_err(failure)?;
        findings::suppress(&mut case.profile, &left_out)?;
        if let Some((_, before)) = &mut choice.chosen {
            findings::suppress(before, &left_out)?;
        }
        judged.push(gate::judge(case, choice, &candidates.why, &limits, &options));
    }
    if built_in {
        // If the user chose no limits, limits that match nothing are not reported.
        let limits = judged.iter_mut().filter_map(|one| one.program.comparison.as_mut()?.limits.as_mut());
        limits.for_each(|limits| limits.unmatched.clear());
    }
    let root = repository.map(|repository| repository.root);
    let shown = |path: Option<&Path>| DiffOptions {
        color: color.stdout && path.is_none(),
        top: arguments.top.max(1),
        all: false,
        width: crate::cli::profiles::report::width(path.is_none()),
    };
    let programs = judged.iter().map(|one| one.program.clone()).collect();
    let document = Gate::new(&arguments.baseline, programs);
    let all = std::iter::once((arguments.format, None)).chain(writes.iter().map(|(form, path)| (*form, Some(path))));
    for (format, path) in all {
        let path = path.map(PathBuf::as_path);
        let text = match format {
            GateFormat::Text => report::gate_text(&judged, &shown(path)),
            GateFormat::Markdown => report::gate_markdown(&judged, &shown(path)),
            GateFormat::Json => report::gate_json(&document),
            GateFormat::Sarif => report::gate_sarif(&judged, root.as_deref()),
            GateFormat::Benchmark => report::gate_benchmark(&judged),
        };
        output::write(text.as_bytes(), path)?;
    }
    Ok(verdict(&judged, arguments))
}

/// Returns the exit code, and prints the next step after a failure. A broken limit has priority over a failed
/// comparison.
fn verdict(judged: &[Judged], arguments: &GateArguments) -> u8 {
    let of = |verdict: Verdict| judged.iter().filter(move |one| one.program.verdict == verdict);
    for one in of(Verdict::Unlike) {
        let names = one.program.passed.first().map(|passed| {
            passed.differences.iter().map(|difference| difference.what.clone()).collect::<Vec<_>>().join(",")
        });
        let names = names.unwrap_or_default();
        output::say(format_args!(
            "{}: no recording of {} was made alike: they differ in {names}; record one that is, or accept that (--accept {names})",
            one.program.name, arguments.baseline
        ));
    }
    for one in of(Verdict::NoBaseline) {
        let cure = if arguments.allow_no_baseline { "" } else { ", or give --allow-no-baseline for a first run" };
        output::say(format_args!(
            "{}: {} has no recording yet; `warpline record` on that branch makes one{cure}",
            one.program.name, arguments.baseline
        ));
    }
    let broken: usize = of(Verdict::Broken)
        .filter_map(|one| one.program.comparison.as_ref()?.limits.as_ref())
        .map(|limits| limits.broken.len())
        .sum();
    if broken > 0 {
        let plural = if broken == 1 { "limit is" } else { "limits are" };
        output::say(format_args!("{broken} {plural} broken"));
        return exit_code::THRESHOLD;
    }
    if of(Verdict::Unlike).next().is_some() {
        return exit_code::USAGE;
    }
    if of(Verdict::NoBaseline).next().is_some() && !arguments.allow_no_baseline {
        return exit_code::NOTHING_MATCHED;
    }
    exit_code::OK
}

/// Returns the limits, and whether they are the built-in ones.
fn limits(path: Option<&Path>) -> Result<(LimitSet, bool), Failure> {
    match path {
        Some(path) => Ok((diff::limits(path)?, false)),
        None => parse(DEFAULT_LIMITS, Path::new("the limits that are built in"))
            .map(|limits| (limits, true))
            .map_err(|error| Failure::new(exit_code::UNEXPECTED, error)),
    }
}

/// Parses `FORMAT=FILE` of `--write`.
fn destination(text: &str) -> Result<(GateFormat, PathBuf), Failure> {
    let found = text.split_once('=').filter(|(_, path)| !path.is_empty());
    let format = found.and_then(|(format, _)| <GateFormat as clap::ValueEnum>::from_str(format, false).ok());
    match (format, found) {
        (Some(format), Some((_, path))) => Ok((format, path.into())),
        _ => {
            let message = format!(
                "--write takes FORMAT=FILE, where FORMAT is text, markdown, json, sarif or benchmark, not `{text}`"
            );
            Err(Failure::new(exit_code::USAGE, message))
        }
    }
}

/// Returns the profiles to judge, with their recordings: the given files, or the recordings of the current commit.
fn cases(
    arguments: &GateArguments,
    store: &Store,
    repository: Option<&Repository>,
) -> Result<Vec<(Case, Option<Recorded>)>, Failure> {
    let origin = |labels: &BTreeMap<String, String>| {
        origin::resolve(&arguments.origin, labels, repository, |name| std::env::var(name).ok())
    };
    if !arguments.files.is_empty() {
        let one = |path: &PathBuf| {
            let profile = profile::read(path).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
            let Origin { commit, branch, compiler, .. } = origin(&profile.run.environment.labels)?;
            let name = arguments.name.clone().unwrap_or_else(|| name_of(&profile, path));
            Ok((Case { name, commit, branch, compiler, profile }, None))
        };
        return arguments.files.iter().map(one).collect();
    }
    let Origin { commit: Some(commit), compiler, .. } = origin(&BTreeMap::new())? else {
        let message = "which profile is to be checked? Give its file, or --commit, or call this in a repository";
        return Err(Failure::new(exit_code::USAGE, message));
    };
    let listing = store.records(arguments.name.as_deref()).map_err(failure)?;
    let mut newest: Vec<Recorded> = Vec::new();
    for recorded in ordered(listing, repository) {
        if recorded.record.commit.as_ref() != Some(&commit) {
            continue;
        }
        let alike = |other: &Recorded| {
            (&other.record.name, &other.record.models) == (&recorded.record.name, &recorded.record.models)
        };
        match newest.iter_mut().find(|other| alike(other)) {
            Some(other) => *other = recorded,
            None => newest.push(recorded),
        }
    }
    if newest.is_empty() {
        let message =
            format!("nothing is recorded of {commit}; `warpline record FILE` does it, or give the profile's file");
        return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
    }
    let one = |recorded: Recorded| {
        let record = &recorded.record;
        let case = Case {
            name: record.name.clone(),
            commit: record.commit.clone(),
            branch: record.branch.clone(),
            compiler: arguments
                .origin
                .compiler
                .clone()
                .or_else(|| record.compiler.clone())
                .or_else(|| compiler.clone()),
            profile: store.profile(record).map_err(failure)?,
        };
        Ok((case, Some(recorded)))
    };
    newest.into_iter().map(one).collect()
}

/// Returns the recordings that match `baseline`, the nearest first.
fn candidates(
    baseline: &str,
    listing: Listing,
    case: &Case,
    own: Option<&Recorded>,
    repository: Option<&Repository>,
) -> Candidates {
    let mut records = ordered(listing, repository);
    records.reverse();
    let on_branch = records.iter().any(|recorded| recorded.record.branch.as_deref() == Some(baseline));
    if !on_branch {
        // No branch has this name, so it is a commit.
        let resolved = repository.and_then(|repository| repository.resolve(baseline));
        let is_it = |recorded: &Recorded| {
            let commit = recorded.record.commit.as_deref().unwrap_or_default();
            resolved.as_deref() == Some(commit) || (baseline.len() >= LEAST_COMMIT && commit.starts_with(baseline))
        };
        records.retain(is_it);
        return Candidates { records, why: "the requested commit".to_owned() };
    }
    // On the baseline's own branch, a commit is compared with earlier commits. On other branches, a recording of the
    // same commit is the nearest.
    let itself = |recorded: &Recorded| {
        own.is_some_and(|own| own.id == recorded.id)
            || (case.branch.as_deref() == Some(baseline)
                && case.commit.is_some()
                && recorded.record.commit == case.commit)
    };
    records.retain(|recorded| recorded.record.branch.as_deref() == Some(baseline) && !itself(recorded));
    let commits: BTreeSet<&str> = records.iter().filter_map(|recorded| recorded.record.commit.as_deref()).collect();
    let ancestors = case
        .commit
        .as_deref()
        .zip(repository)
        .map(|(commit, repository)| repository.ancestors(commit, &commits))
        .unwrap_or_default();
    if ancestors.is_empty() {
        return Candidates { records, why: format!("the newest recording of {baseline}") };
    }
    let place = |recorded: &Recorded| {
        let commit = recorded.record.commit.as_ref()?;
        ancestors.iter().position(|ancestor| ancestor == commit)
    };
    records.retain(|recorded| place(recorded).is_some());
    // Among recordings of one commit, the newest stays first.
    records.sort_by_key(place);
    Candidates { records, why: "the nearest ancestor that is recorded".to_owned() }
}
