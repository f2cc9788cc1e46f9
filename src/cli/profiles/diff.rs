//! `warpline diff`.

use std::path::Path;

use crate::cli::Failure;
use crate::cli::args::{DiffArguments, DiffFormat, FindingArguments};
use crate::cli::output::{self, Color};
use crate::cli::profiles::findings;
use crate::exit_code;
use warpline_comparison::limits::LimitSet;
use warpline_comparison::{self as comparison, Diff, Options};
use warpline_profile::{self as profile, Profile};
use warpline_report::{self as report, DiffOptions};

pub(in crate::cli) fn execute(arguments: &DiffArguments, color: Color) -> Result<u8, Failure> {
    if let Some(output) = &arguments.output {
        for needed in [Some(&arguments.before), Some(&arguments.after), arguments.limits.as_ref()].into_iter().flatten()
        {
            output::refuse_same(needed, output)?;
        }
    }
    let limits = arguments.limits.as_deref().map(limits).transpose()?;
    let (mut before, mut after) = (read(&arguments.before)?, read(&arguments.after)?);
    // Findings that a comment in the source suppresses are omitted on both sides.
    let left_out = FindingArguments { ignore: arguments.ignore.clone(), ..FindingArguments::default() };
    for profile in [&mut before, &mut after] {
        findings::suppress(profile, &left_out)?;
    }
    let options = Options { tolerance: arguments.tolerance / 100.0 };
    if matches!(arguments.format, DiffFormat::Html) {
        output::refuse_terminal(arguments.output.as_deref(), Path::new("diff"), "html")?;
    }
    let diff = comparison::compare(&before, &after, &options, limits.as_ref());
    if arguments.strict && !diff.comparable {
        return Err(Failure::new(exit_code::USAGE, refusal(arguments, &diff)));
    }
    let top = if arguments.all { usize::MAX } else { arguments.top.max(1) };
    let shown = DiffOptions {
        color: color.stdout && arguments.output.is_none(),
        top,
        all: arguments.all,
        width: crate::cli::profiles::report::width(arguments.output.is_none()),
    };
    let text = match arguments.format {
        DiffFormat::Text => report::diff_text(&diff, &before, &after, &shown),
        DiffFormat::Markdown => report::diff_markdown(&diff, &before, &after, &shown),
        DiffFormat::Json => report::diff_json(&diff),
        DiffFormat::Html => report::diff_html(&diff, &before, &after),
    };
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    for (profile, path) in [(&before, &arguments.before), (&after, &arguments.after)] {
        if !profile.run.complete {
            output::say(format_args!("note: {} is incomplete, see its notes", path.display()));
        }
    }
    let broken = diff.limits.as_ref().map_or(0, |limits| limits.broken.len());
    if broken > 0 {
        let plural = if broken == 1 { "limit is" } else { "limits are" };
        output::say(format_args!("{broken} {plural} broken"));
        return Ok(exit_code::THRESHOLD);
    }
    Ok(exit_code::OK)
}

pub(in crate::cli) fn limits(path: &Path) -> Result<LimitSet, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(exit_code::UNREADABLE, format!("{}: cannot read the limits: {error}", path.display()))
    })?;
    comparison::limits::parse(&text, path).map_err(|error| Failure::new(exit_code::USAGE, error))
}

fn read(path: &Path) -> Result<Profile, Failure> {
    profile::read(path).map_err(|error| Failure::new(exit_code::UNREADABLE, error))
}

/// Explains why profiles are not compared, and what to do.
fn refusal(arguments: &DiffArguments, diff: &Diff) -> String {
    let each = |difference: &comparison::document::Difference| {
        format!("\n  {}: {} before, {} after", difference.what, difference.before, difference.after)
    };
    let list: String = diff.differences.iter().map(each).collect();
    format!(
        "{} and {} were not made alike, and --strict refuses that:{list}\nprofile both in the same way, or leave --strict away",
        arguments.before.display(),
        arguments.after.display()
    )
}
