//! `warpline report`.

use regex::Regex;

use crate::cli::args::{FilterArguments, Format, ReportArguments};
use crate::cli::output::Color;
use crate::cli::profiles::findings;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_profile::{self as profile, Profile, ProfileError};
use warpline_report::{self as report, Filter};

pub(in crate::cli) fn execute(arguments: &ReportArguments, color: Color) -> Result<u8, Failure> {
    let filter = filter(&arguments.filters)?;
    if let Some(output) = &arguments.output {
        output::refuse_same(&arguments.file, output)?;
    }
    if let Some(extension) = arguments.format.not_for_terminals() {
        output::refuse_terminal(arguments.output.as_deref(), &arguments.file, extension)?;
    }
    let rules = findings::fail_on(&arguments.findings.fail_on)?;
    let mut profile = profile::read(&arguments.file).map_err(|error| {
        let code = match error {
            ProfileError::Write { .. } => exit_code::UNEXPECTED,
            _ => exit_code::UNREADABLE,
        };
        Failure::new(code, error)
    })?;
    let ignored = findings::suppress(&mut profile, &arguments.findings)?;
    let to_terminal = arguments.output.is_none();
    let cost = report::COSTS.iter().position(|(name, _)| *name == arguments.metric).unwrap_or_default();
    let looks =
        Looks { color: color.stdout && to_terminal, all: arguments.filters.all, width: width(to_terminal), cost };
    let (filtered, text) = render(&profile, arguments.format, &filter, looks)?;
    output::write(&text, arguments.output.as_deref())?;
    if ignored.by_comment + ignored.by_request > 0 {
        output::say(format_args!(
            "note: findings left out: {} by comments in the source, {} by --ignore",
            ignored.by_comment, ignored.by_request
        ));
    }
    if !profile.run.complete {
        output::say("note: the profile is incomplete, see its notes");
    }
    if let Some(message) = findings::breach(&filtered, &rules) {
        return Err(Failure::new(exit_code::THRESHOLD, message));
    }
    Ok(exit_code::OK)
}

/// Options for the appearance of text.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Looks {
    pub(in crate::cli) color: bool,
    pub(in crate::cli) all: bool,
    pub(in crate::cli) width: usize,
    /// Kind of cost in stacks, as an index into [`report::COSTS`].
    pub(in crate::cli) cost: usize,
}

/// Width in columns if the output is not a terminal.
const USUAL_WIDTH: usize = 100;
/// Maximum width, because long lines are hard to read.
const MOST_WIDTH: usize = 120;

/// Returns the width in columns: that of the terminal, if the output is one.
pub(in crate::cli) fn width(to_terminal: bool) -> usize {
    let size = if to_terminal { terminal_size::terminal_size_of(std::io::stdout()) } else { None };
    size.map_or(USUAL_WIDTH, |(columns, _)| usize::from(columns.0).min(MOST_WIDTH))
}

/// Returns the report of a profile with the rows that match the filters, or an error if nothing matches.
pub(in crate::cli) fn render(
    profile: &Profile,
    format: Format,
    filter: &Filter,
    looks: Looks,
) -> Result<(Profile, Vec<u8>), Failure> {
    let filtered = report::apply(profile, filter)
        .ok_or_else(|| Failure::new(exit_code::NOTHING_MATCHED, report::unmatched(profile, filter)))?;
    // With `--all`, all sections are shown for the filtered rows.
    let answers = match format {
        Format::Text | Format::Markdown if !looks.all => report::answers(profile, filter),
        _ => Vec::new(),
    };
    let text = match format {
        Format::Text => {
            let Looks { color, all, width, .. } = looks;
            let shown = if filter.source.is_some() { report::Shown::Source } else { report::Shown::Summary };
            let options = report::TextOptions { color, top: filter.top, all, width, shown };
            match &answers[..] {
                [] => report::text(&filtered, &options),
                views => report::answers_text(&filtered, views, &options),
            }
        }
        Format::Markdown if answers.is_empty() => report::markdown(&filtered, filter.top),
        Format::Markdown => {
            let views = answers.iter().map(|view| report::views::markdown(view, filter.top));
            views.collect::<Vec<_>>().join("")
        }
        Format::Brief => report::brief_markdown(&filtered),
        Format::BriefJson => report::brief_json(&filtered),
        Format::Json => report::json(&filtered),
        Format::Html => report::html(&filtered),
        Format::Csv => report::csv(&filtered),
        Format::Callgrind => report::callgrind(&filtered),
        Format::Sarif => report::sarif(&filtered),
        Format::Hatchet => report::hatchet(&filtered),
        Format::Folded => report::folded(&filtered, looks.cost),
        Format::Speedscope => report::speedscope(&filtered, looks.cost),
        Format::Tables => report::tables(&filtered),
        Format::Perfetto => {
            let bytes = report::perfetto(&filtered);
            return Ok((filtered, bytes));
        }
        Format::Pprof => {
            let bytes = report::pprof(&filtered);
            return Ok((filtered, bytes));
        }
    };
    Ok((filtered, text.into_bytes()))
}

/// Validates the filters.
pub(in crate::cli) fn filter(arguments: &FilterArguments) -> Result<Filter, Failure> {
    let kernel =
        match &arguments.kernel {
            Some(pattern) => Some(Regex::new(pattern).map_err(|error| {
                Failure::new(exit_code::USAGE, format!("--kernel is no regular expression: {error}"))
            })?),
            None => None,
        };
    let FilterArguments { source, allocation, .. } = arguments.clone();
    let line = arguments.line.as_deref().map(str::parse).transpose();
    let line = line.map_err(|error: report::PlaceError| Failure::new(exit_code::USAGE, format!("--line {error}")))?;
    let finding = arguments.finding.as_deref().map(str::parse).transpose();
    let finding = finding.map_err(|error: warpline_findings::SuppressionError| {
        Failure::new(exit_code::USAGE, format!("--finding {error}"))
    })?;
    Ok(Filter { kernel, source, allocation, line, finding, top: arguments.top.max(1) })
}
