//! Tools that run the `warpline` executable with fixed options.

use std::ffi::OsString;
use std::fmt::Write as _;

use rmcp::service::{RequestContext, RoleServer};

use super::options::RunOptions;
use super::{Answer, Shared, model, run_options};
use crate::arguments::{GpusArguments, PredictArguments, RunArguments};
use crate::child::{self, Bounds, Finished};
use crate::error::Refusal;
use crate::uri;
use warpline_profile::Profile;
use warpline_profile::model::Severity;
use warpline_report as report;

/// Options that `check` adds to a run: every check that needs no other build.
const CHECKS: [&str; 5] = ["--check=report", "--check-race", "--check-init", "--check-leaks", "--check-float=report"];
/// Ids of findings that these checks report with a severity below error.
const FOUND_BY_CHECKS: [&str; 4] = ["race", "memory-leak", "uninitialised-read", "float-exception"];
/// Maximum number of message lines that an answer shows of a failed run.
const MOST_MESSAGES: usize = 60;
/// Number of configurations of a prediction.
const CONFIGURATIONS: u32 = 10;
const MOST_CONFIGURATIONS: u32 = 1000;

/// Compiles and runs a program, and returns the brief of the profile.
pub(crate) async fn profile(
    shared: &Shared,
    arguments: &RunArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Refusal> {
    let values: &[&str] = if arguments.values { &["--values=memory"] } else { &[] };
    let options = run_options(shared, arguments, values)?;
    let (finished, profile) = run(shared, arguments, &options, context).await?;
    let text = format!("{}{}", ending(&finished), report::brief_markdown(&profile));
    Ok(Answer { text, profile: Some(uri::of_path(&shared.roots.shown(&options.output))) })
}

/// Compiles and runs a program with all checks, and returns their results.
pub(crate) async fn check(
    shared: &Shared,
    arguments: &RunArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Refusal> {
    let options = run_options(shared, arguments, &CHECKS)?;
    let (finished, profile) = run(shared, arguments, &options, context).await?;
    let rows: Vec<_> = report::brief_findings(&profile)
        .filter(|finding| finding.severity == Severity::Error || FOUND_BY_CHECKS.contains(&&finding.id[..]))
        .collect();
    let errors = rows.iter().filter(|finding| finding.severity == Severity::Error).count();
    let mut text = ending(&finished);
    let plural = if errors == 1 { "" } else { "s" };
    _ = writeln!(text, "{errors} error{plural}, {} other results of {}", rows.len() - errors, CHECKS.join(" "));
    if !profile.run.complete {
        text.push_str("the run is incomplete: code that did not run is not checked\n");
    }
    for row in rows {
        let line =
            serde_json::to_string(&row).map_err(|error| Refusal::Failed(format!("a finding is no JSON: {error}")))?;
        _ = writeln!(text, "{line}");
    }
    Ok(Answer { text, profile: Some(uri::of_path(&shared.roots.shown(&options.output))) })
}

/// Predicts other launches of a kernel.
pub(crate) async fn predict(
    shared: &Shared,
    arguments: &PredictArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Refusal> {
    let path = shared.profiles.path(&shared.roots, &arguments.profile)?;
    // Only profiles are accepted. The command line also accepts executables, but clients may not name them.
    shared.profiles.read(&shared.roots, &arguments.profile)?;
    let mut command: Vec<OsString> = vec!["predict".into(), path.clone().into()];
    if let Some(kernel) = &arguments.kernel {
        regex::Regex::new(kernel).map_err(|error| Refusal::argument("kernel", kernel, error.to_string()))?;
        command.push(format!("--kernel={kernel}").into());
    }
    for block in &arguments.blocks {
        let sizes: Vec<&str> = block.split('x').collect();
        let is_size = |size: &&str| (1..=4).contains(&size.len()) && size.bytes().all(|byte| byte.is_ascii_digit());
        if sizes.len() > 3 || !sizes.iter().all(is_size) {
            return Err(Refusal::argument("blocks", block, "a block shape is 256, 32x8 or 8x8x4"));
        }
    }
    if !arguments.blocks.is_empty() {
        command.push(format!("--block={}", arguments.blocks.join(",")).into());
    }
    if let Some(name) = &arguments.gpu {
        command.push(format!("--gpu={}", model(name)?).into());
    }
    for value in &arguments.set {
        let parts = value.split_once('=');
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !parts.is_some_and(|(name, number)| is_name(name) && number.parse::<i64>().is_ok()) {
            return Err(Refusal::argument("set", value, "a parameter is NAME=NUMBER, as n=4096"));
        }
        command.push(format!("--set={value}").into());
    }
    let top = arguments.top.unwrap_or(CONFIGURATIONS);
    if !(1..=MOST_CONFIGURATIONS).contains(&top) {
        return Err(Refusal::argument("top", top.to_string(), format!("pass 1 to {MOST_CONFIGURATIONS}")));
    }
    command.push(format!("--top={top}").into());
    if let Some(budget) = arguments.budget {
        if !(1..=MOST_CONFIGURATIONS).contains(&budget) {
            let expected = format!("pass 1 to {MOST_CONFIGURATIONS}");
            return Err(Refusal::argument("budget", budget.to_string(), expected));
        }
        command.push(format!("--budget={budget}").into());
    }
    let text = printed(shared, &command, bounds(shared, arguments.seconds)?, context).await?;
    Ok(Answer { text, profile: Some(uri::of_path(&shared.roots.shown(&path))) })
}

/// Returns the GPU models, or one of them.
pub(crate) async fn gpus(
    shared: &Shared,
    arguments: &GpusArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Refusal> {
    let mut command: Vec<OsString> = vec!["gpus".into()];
    if let Some(name) = &arguments.model {
        command.push(model(name)?.into());
    }
    Ok(Answer::new(printed(shared, &command, bounds(shared, None)?, context).await?))
}

/// Returns the output of a command if it succeeds.
async fn printed(
    shared: &Shared,
    command: &[OsString],
    bounds: Bounds,
    context: &RequestContext<RoleServer>,
) -> Result<String, Refusal> {
    let finished = in_turn(shared, command, bounds, context).await?;
    if finished.status.success() { Ok(finished.output) } else { Err(Refusal::Failed(last_lines(&finished.messages))) }
}

/// Runs a program, and reads the profile that it writes.
async fn run(
    shared: &Shared,
    arguments: &RunArguments,
    options: &RunOptions,
    context: &RequestContext<RoleServer>,
) -> Result<(Finished, std::sync::Arc<Profile>), Refusal> {
    let version = || std::fs::metadata(&options.output).and_then(|metadata| metadata.modified()).ok();
    let before = version();
    let finished = in_turn(shared, &options.command, bounds(shared, arguments.seconds)?, context).await?;
    if version().is_none() || version() == before {
        let text = format!("no profile was written ({})\n{}", finished.status, last_lines(&finished.messages));
        return Err(Refusal::Failed(text));
    }
    let profile = shared.profiles.read(&shared.roots, &options.output.to_string_lossy())?;
    Ok((finished, profile))
}

/// Waits until other runs have ended, then runs.
async fn in_turn(
    shared: &Shared,
    command: &[OsString],
    bounds: Bounds,
    context: &RequestContext<RoleServer>,
) -> Result<Finished, Refusal> {
    let turn = tokio::select! {
        turn = shared.turn.acquire() => turn.map_err(|_| Refusal::Cancelled)?,
        () = context.ct.cancelled() => return Err(Refusal::Cancelled),
    };
    let finished = child::run(&shared.executable, command, shared.roots.first(), bounds, context).await;
    drop(turn);
    finished
}

fn bounds(shared: &Shared, seconds: Option<u64>) -> Result<Bounds, Refusal> {
    let seconds = seconds.unwrap_or(shared.seconds);
    if !(1..=shared.seconds).contains(&seconds) {
        let expected = format!("pass 1 to {}, which the server was started with", shared.seconds);
        return Err(Refusal::argument("seconds", seconds.to_string(), expected));
    }
    Ok(Bounds { seconds, most_seconds: shared.seconds, memory: shared.memory })
}

/// Returns a description of how a failed run ended.
fn ending(finished: &Finished) -> String {
    match finished.status.success() {
        true => String::new(),
        false => format!("the run ended with {}\n{}\n\n", finished.status, last_lines(&finished.messages)),
    }
}

fn last_lines(messages: &str) -> String {
    let lines: Vec<&str> = messages.lines().collect();
    lines[lines.len().saturating_sub(MOST_MESSAGES)..].join("\n")
}
