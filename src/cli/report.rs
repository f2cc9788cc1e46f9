//! `warpline report`.

use regex::Regex;

use super::args::{FilterArguments, Format, ReportArguments};
use super::output::Color;
use super::{Failure, output};
use crate::exit_code;
use crate::profile::{self, Profile, ProfileError};
use crate::report::{self, Filter};

pub(super) fn execute(arguments: &ReportArguments, color: Color) -> Result<u8, Failure> {
    let filter = filter(&arguments.filters)?;
    if let Some(output) = &arguments.output {
        output::refuse_same(&arguments.file, output)?;
    }
    let profile = profile::read(&arguments.file).map_err(|error| {
        let code = match error {
            ProfileError::Write { .. } => exit_code::UNEXPECTED,
            _ => exit_code::UNREADABLE,
        };
        Failure::new(code, error)
    })?;
    let colored = color.stdout && arguments.output.is_none();
    let text = render(&profile, arguments.format, &filter, colored)?;
    output::write(&text, arguments.output.as_deref())?;
    if !profile.run.complete {
        eprintln!("warpline: note: the profile is incomplete, see its notes");
    }
    Ok(exit_code::OK)
}

/// The report of a profile, or that nothing matches the filters.
pub(super) fn render(profile: &Profile, format: Format, filter: &Filter, color: bool) -> Result<Vec<u8>, Failure> {
    let filtered = report::apply(profile, filter)
        .ok_or_else(|| Failure::new(exit_code::NOTHING_MATCHED, "nothing in the profile matches the filters"))?;
    let text = match format {
        Format::Text => report::text(&filtered, &report::TextOptions { color, top: filter.top }),
        Format::Json => report::json(&filtered),
        Format::Html => report::html(&filtered, filter.top),
        Format::Csv => report::csv(&filtered),
        Format::Callgrind => report::callgrind(&filtered),
        Format::Sarif => report::sarif(&filtered, filter.top),
        Format::Pprof => return Ok(report::pprof(&filtered)),
    };
    Ok(text.into_bytes())
}

/// Checks the filters.
pub(super) fn filter(arguments: &FilterArguments) -> Result<Filter, Failure> {
    let kernel =
        match &arguments.kernel {
            Some(pattern) => Some(Regex::new(pattern).map_err(|error| {
                Failure::new(exit_code::USAGE, format!("--kernel is no regular expression: {error}"))
            })?),
            None => None,
        };
    Ok(Filter { kernel, source: arguments.source.clone(), top: arguments.top.max(1) })
}
