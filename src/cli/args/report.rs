//! Arguments of what shows a profile.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArguments {
    /// Profile
    pub file: PathBuf,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Cost of folded stacks, and the one that speedscope shows first
    #[arg(long, value_name = "COST", default_value = warpline_report::COSTS[0].0, value_parser = costs())]
    pub metric: String,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What to show
    #[command(flatten)]
    pub filters: FilterArguments,
    /// Which findings count
    #[command(flatten)]
    pub findings: FindingArguments,
}

/// Which findings count.
#[derive(Clone, Debug, Default, Args)]
pub struct FindingArguments {
    /// Exit with code 5 if there is a finding of this severity (error, warning, note) or graver, or with this id; may be given
    /// several times
    #[arg(long, value_name = "SEVERITY|ID")]
    pub fail_on: Vec<String>,
    /// Leave out findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; may be given several times. A comment
    /// `warpline: ignore ID` in the source does the same
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
}

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
pub struct ExploreArguments {
    /// Profile
    pub file: PathBuf,
    /// Profile from before, to compare with
    pub before: Option<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Id of a finding, as `strided-access`; without it all are listed
    pub id: Option<String>,
}

/// What a report shows.
#[derive(Clone, Debug, Default, Args)]
pub struct FilterArguments {
    /// Only kernels whose demangled name matches; everything of it, where that is one
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Everything of a line: kernels, accesses, allocations, branches, findings; the end of its path is enough
    #[arg(long, value_name = "FILE:LINE")]
    pub line: Option<String>,
    /// Everything of a finding, by its rank, id or place
    #[arg(long, value_name = "RANK|ID[@PLACE]")]
    pub finding: Option<String>,
    /// Only lines of files whose path contains this; as text, the source with what each line costs (with --all the usual sections)
    #[arg(long, value_name = "PART")]
    pub source: Option<String>,
    /// Everything of the allocations of this name, or whose name contains it: where they are made, copies, kernels, lines, findings
    #[arg(long, value_name = "NAME")]
    pub allocation: Option<String>,
    /// Rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// All sections of the text: lines, caches, reuse distances, estimates, launches, allocations, branches
    #[arg(long)]
    pub all: bool,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The whole profile, for programs.
    Json,
    /// Findings and kernels, for a pull request or an issue.
    Markdown,
    /// A row per memory instruction.
    Csv,
    /// One page for a browser.
    Html,
    /// Cost by line with calls, for KCachegrind.
    Callgrind,
    /// Cost by call path, for pprof (gzip).
    Pprof,
    /// Findings by line, for editors and code review.
    Sarif,
    /// The call tree as a literal of Hatchet, for it and Thicket.
    Hatchet,
    /// Launches, copies and allocations in the order of launches, for Perfetto; traces of several ranks, one behind the other,
    /// are one.
    Perfetto,
    /// A line per call stack with its cost, for flame graphs.
    Folded,
    /// Call stacks with all costs, for speedscope.
    Speedscope,
    /// Tables of kernels, lines, accesses, allocations, launches and findings by columns, as JSON, for data frames.
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
