//! `warpline history`.

use std::path::Path;

use super::place::{failure, open, ordered};
use super::repository::Repository;
use crate::cli::args::{HistoryArguments, HistoryFormat};
use crate::cli::output::Color;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_comparison::history::{SeriesScope, collect};
use warpline_comparison::{Subject, names};
use warpline_profile::store::{Recorded, Store};
use warpline_report::{self as report, DiffOptions};

/// Name that selects the whole program instead of a kernel.
const PROGRAM: &str = "@program";
const NOTHING_RECORDED: &str = "nothing is recorded there; `warpline record` records a profile";

pub(in crate::cli) fn execute(arguments: &HistoryArguments, color: Color) -> Result<u8, Failure> {
    let wanted = arguments.kernel.as_deref().zip(arguments.metric.as_deref());
    let wanted = wanted.map(|(kernel, metric)| Ok((self::wanted(kernel, metric)?, metric))).transpose()?;
    let store = open(&arguments.store, false)?;
    let mut listing = store.records(arguments.name.as_deref()).map_err(failure)?;
    if let Some(branch) = &arguments.branch {
        listing.records.retain(|recorded| recorded.record.branch.as_ref() == Some(branch));
    }
    let records = ordered(listing, Repository::here().as_ref());
    match wanted {
        None if records.is_empty() => Err(Failure::new(exit_code::NOTHING_MATCHED, NOTHING_RECORDED)),
        None => super::listing::execute(arguments, &store, &records),
        Some((wanted, metric)) => draw(arguments, color, &store, &records, &wanted, metric),
    }
}

/// Returns the subject of the series, after checking that the figure exists.
fn wanted(kernel: &str, metric: &str) -> Result<SeriesScope, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let (wanted, subject) = if kernel == PROGRAM {
        (SeriesScope::Program, Subject::Program)
    } else {
        let regex =
            regex::Regex::new(kernel).map_err(|error| usage(format!("KERNEL is no regular expression: {error}")))?;
        (SeriesScope::Kernels(regex), Subject::Kernel)
    };
    let known = names(subject);
    if !known.iter().any(|name| name == metric) {
        let like: Vec<&str> = known.iter().filter(|name| name.contains(metric)).map(String::as_str).take(8).collect();
        let like = if like.is_empty() { String::new() } else { format!("; there are {}", like.join(", ")) };
        let what = if subject == Subject::Program { "the program has" } else { "kernels have" };
        return Err(usage(format!("{what} no figure `{metric}`{like} (docs/comparison.md lists all)")));
    }
    Ok(wanted)
}

fn draw(
    arguments: &HistoryArguments,
    color: Color,
    store: &Store,
    records: &[Recorded],
    wanted: &SeriesScope,
    metric: &str,
) -> Result<u8, Failure> {
    let history = collect(store, records, wanted, metric, arguments.tolerance / 100.0).map_err(failure)?;
    let nothing = history.series.iter().all(|series| series.points.iter().all(|point| point.value.is_none()));
    if nothing {
        let what = if records.is_empty() {
            NOTHING_RECORDED.to_owned()
        } else {
            format!("none of {} recordings has `{metric}` of such a kernel", records.len())
        };
        return Err(Failure::new(exit_code::NOTHING_MATCHED, what));
    }
    if matches!(arguments.format, HistoryFormat::Svg | HistoryFormat::Html) {
        let extension = if arguments.format == HistoryFormat::Svg { "svg" } else { "html" };
        output::refuse_terminal(arguments.output.as_deref(), Path::new("history"), extension)?;
    }
    let options = DiffOptions {
        color: color.stdout && arguments.output.is_none(),
        top: usize::MAX,
        all: arguments.all,
        width: crate::cli::profiles::report::width(arguments.output.is_none()),
    };
    let text = match arguments.format {
        HistoryFormat::Text => report::history_text(&history, &options),
        HistoryFormat::Csv => report::history_csv(&history),
        HistoryFormat::Json => report::history_json(&history),
        HistoryFormat::Svg => report::history_svg(&history),
        HistoryFormat::Html => report::history_html(&history),
    };
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    Ok(exit_code::OK)
}
