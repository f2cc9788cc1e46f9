//! Arguments of commands that show a profile.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArguments {
    /// Profile
    pub file: PathBuf,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Cost that folded stacks contain, and that speedscope shows first
    #[arg(long, value_name = "COST", default_value = warpline_report::COSTS[0].0, value_parser = costs())]
    pub metric: String,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Filters of the report
    #[command(flatten)]
    pub filters: FilterArguments,
    /// Selection of findings
    #[command(flatten)]
    pub findings: FindingArguments,
}

/// Selection of findings.
#[derive(Clone, Debug, Default, Args)]
pub struct FindingArguments {
    /// Exit with code 5 if there is a finding of at least this severity (error, warning, note), or with this id; repeatable
    #[arg(long, value_name = "SEVERITY|ID")]
    pub fail_on: Vec<String>,
    /// Suppress findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; repeatable. A comment `warpline: ignore ID` in the source
    /// has the same effect
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
}

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
pub struct ExploreArguments {
    /// Profile
    pub file: PathBuf,
    /// Earlier profile to compare with
    pub before: Option<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Id of a finding, such as `strided-access` [default: list all]
    pub id: Option<String>,
}

/// Filters of a report.
#[derive(Clone, Debug, Default, Args)]
pub struct FilterArguments {
    /// Show only kernels whose demangled name matches; if only one matches, show its details
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Show a source line (kernels, accesses, allocations, branches, findings); a suffix of the path suffices
    #[arg(long, value_name = "FILE:LINE")]
    pub line: Option<String>,
    /// Show a finding, by its rank, id or location
    #[arg(long, value_name = "RANK|ID[@PLACE]")]
    pub finding: Option<String>,
    /// Show annotated source of files whose path contains this text (with --all: the usual sections for these files)
    #[arg(long, value_name = "PART")]
    pub source: Option<String>,
    /// Show the allocations whose name contains this text: call paths, copies, kernels, lines, findings
    #[arg(long, value_name = "NAME")]
    pub allocation: Option<String>,
    /// Number of rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Show all sections: lines, caches, reuse distances, estimates, launches, allocations, branches
    #[arg(long)]
    pub all: bool,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The most important results, in at most 60 lines of Markdown.
    Brief,
    /// The content of `brief` as JSON.
    BriefJson,
    /// The whole profile as JSON, for programs.
    Json,
    /// Findings and kernels, for a pull request or an issue.
    Markdown,
    /// One row per memory instruction.
    Csv,
    /// A single page for a browser.
    Html,
    /// Cost by line with calls, for KCachegrind.
    Callgrind,
    /// Cost by call path, for pprof (gzip).
    Pprof,
    /// Findings by line, for editors and code review.
    Sarif,
    /// The call tree in Hatchet's literal format, for Hatchet and Thicket.
    Hatchet,
    /// Launches, copies and allocations in the order of launches, for Perfetto; concatenated files of several ranks
    /// form one trace.
    Perfetto,
    /// One line per call stack with its cost, for flame graphs.
    Folded,
    /// Call stacks with all costs, for speedscope.
    Speedscope,
    /// Tables of kernels, lines, accesses, allocations, launches and findings, stored by columns as JSON, for data
    /// frames.
    Tables,
}

impl Format {
    /// Returns the usual extension of a page or of binary data, which no terminal can show; `None` for text.
    pub fn not_for_terminals(self) -> Option<&'static str> {
        match self {
            Format::Html => Some("html"),
            Format::Pprof => Some("pb.gz"),
            Format::Perfetto => Some("pftrace"),
            Format::Text
            | Format::Brief
            | Format::BriefJson
            | Format::Json
            | Format::Markdown
            | Format::Csv
            | Format::Callgrind
            | Format::Sarif
            | Format::Hatchet
            | Format::Folded
            | Format::Speedscope
            | Format::Tables => None,
        }
    }
}

/// Names of costs of call stacks.
fn costs() -> clap::builder::PossibleValuesParser {
    warpline_report::COSTS.map(|(name, _)| name).into()
}
