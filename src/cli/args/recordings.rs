//! Arguments of `record`, `history` and `gate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::several::percent;

/// Location of recordings.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArguments {
    /// Store of recordings: a folder, or s3://BUCKET/PREFIX in builds with object-store [default: WARPLINE_STORE, or .warpline]
    #[arg(long, value_name = "DIR|URL")]
    pub store: Option<String>,
}

/// Origin of a profile.
#[derive(Clone, Debug, Default, Args)]
pub struct OriginArguments {
    /// Commit of the build [default: the profile's label `commit`, the CI service's variables, or git's HEAD]
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// Branch of the commit [default: the profile's label `branch`, the CI service's variables, or git's]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Compiler and options; profiles with different ones are not compared [default: the profile's label `compiler`]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub compiler: Option<String>,
}

/// Arguments of `record`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline record app.wlprof                                 with commit and branch from git or the CI service
  warpline record app.wlprof --commit 1a2b3c --branch main   with explicit values
  warpline record --verify                                   check the whole store")]
pub struct RecordArguments {
    /// Profiles
    #[arg(required_unless_present = "verify", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of their history [default: the program's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub origin: OriginArguments,
    /// Check every record and profile of the store; exit code 3 if one is damaged or missing
    #[arg(long, conflicts_with_all = ["files", "name", "commit", "branch", "compiler"])]
    pub verify: bool,
}

/// Arguments of `history`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline history                                           list recordings
  warpline history --name app --profiles old                 and extract the profiles
  warpline history transpose global.sectors                  when it changed
  warpline history @program estimate.seconds --branch main   of the whole program
  warpline history . shared.wavefronts --format html -o h.html")]
pub struct HistoryArguments {
    /// Kernels whose demangled name matches this regular expression, or @program [default: list recordings]
    #[arg(value_name = "KERNEL", requires = "metric")]
    pub kernel: Option<String>,
    /// Figure, named as in limits: global.sectors, estimate.seconds, …
    pub metric: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Only recordings of this name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Only recordings of this branch
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Write the listed profiles to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "kernel")]
    pub profiles: Option<PathBuf>,
    /// Format of the history
    #[arg(long, value_enum, default_value_t = HistoryFormat::Text)]
    pub format: HistoryFormat,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Show every recording, including those without a change of the figure
    #[arg(long)]
    pub all: bool,
    /// Smallest change to show, in per cent of the earlier value
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    pub tolerance: f64,
}

/// Formats of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormat {
    /// A chart for terminals.
    Text,
    /// A row per value.
    Csv,
    /// For programs.
    Json,
    /// A picture.
    Svg,
    /// A page for a browser.
    Html,
}

/// Arguments of `gate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline gate --baseline main app.wlprof                       with the built-in limits
  warpline gate --baseline main --limits limits.toml app.wlprof  with your own
  warpline gate --baseline main --write markdown=summary.md --write sarif=new.sarif --write benchmark=figures.json

Exit codes: 0 within all limits, 5 a limit is exceeded, 2 no comparable recording, 4 no recording (0 with --allow-no-baseline)")]
pub struct GateArguments {
    /// Profiles to check [default: the recordings of the current commit]
    #[arg(value_name = "AFTER")]
    pub files: Vec<PathBuf>,
    /// Baseline: a commit, or a branch (its latest recording, which is an ancestor if git has the history)
    #[arg(long, value_name = "BRANCH|COMMIT", default_value = "main")]
    pub baseline: String,
    /// File of limits (TOML, as for `diff`) [default: built in, see docs/ci.md]
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Pass if there is no recording; absolute limits still apply
    #[arg(long)]
    pub allow_no_baseline: bool,
    /// Accept recordings that differ in this fact: version, compiler, arguments, …; repeatable
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// Name of their history [default: the program's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub origin: OriginArguments,
    /// Format of the standard output
    #[arg(long, value_enum, default_value_t = GateFormat::Text)]
    pub format: GateFormat,
    /// Also write another format to a file: sarif=new.sarif; repeatable
    #[arg(long, value_name = "FORMAT=FILE")]
    pub write: Vec<String>,
    /// Suppress findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; repeatable
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
    /// Number of rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Smallest change of modelled figures to show, in per cent of their total
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub tolerance: f64,
}

/// Formats of a gate's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GateFormat {
    /// For people.
    Text,
    /// For a pull request.
    Markdown,
    /// For programs.
    Json,
    /// New findings, for code review (SARIF 2.1.0).
    Sarif,
    /// Figures for which lower is better, for services that plot them over commits.
    Benchmark,
}
