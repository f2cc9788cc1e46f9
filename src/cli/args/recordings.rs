//! Arguments of `record`, `history` and `gate`, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::several::percent;

/// Where recordings are kept.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArguments {
    /// The store of recordings: a folder, or s3://BUCKET/PREFIX where warpline is built for it [default: WARPLINE_STORE, or .warpline]
    #[arg(long, value_name = "DIR|URL")]
    pub store: Option<String>,
}

/// Where a profile comes from.
#[derive(Clone, Debug, Default, Args)]
pub struct OriginArguments {
    /// The commit that was built [default: the profile's label `commit`, the CI service's variables, or git's HEAD]
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    /// The branch that it is on [default: the profile's label `branch`, the CI service's variables, or git's]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Compiler and options: profiles of different ones are not compared [default: the profile's label `compiler`]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub compiler: Option<String>,
}

/// Arguments of `record`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline record app.wlprof                                 what git and the CI service know goes with it
  warpline record app.wlprof --commit 1a2b3c --branch main   or it is said
  warpline record --verify                                   look at everything in the store")]
pub struct RecordArguments {
    /// Profiles
    #[arg(required_unless_present = "verify", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the history that they belong to [default: the program's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub origin: OriginArguments,
    /// Check every record and profile of the store; exit code 3 where something is damaged or missing
    #[arg(long, conflicts_with_all = ["files", "name", "commit", "branch", "compiler"])]
    pub verify: bool,
}

/// Arguments of `history`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline history                                           what is recorded
  warpline history --name app --profiles old                 and the profiles as files
  warpline history transpose global.sectors                  where it changed
  warpline history @program estimate.seconds --branch main   of the whole program
  warpline history . shared.wavefronts --format html -o h.html")]
pub struct HistoryArguments {
    /// Kernels whose demangled name matches (a regular expression), or @program; without it what is recorded is listed
    #[arg(value_name = "KERNEL", requires = "metric")]
    pub kernel: Option<String>,
    /// The figure, as limits name it: global.sectors, estimate.seconds, …
    pub metric: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Only recordings of this name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Only recordings of this branch
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// Write the profiles that are listed to this folder, as they were recorded
    #[arg(long, value_name = "DIR", conflicts_with = "kernel")]
    pub profiles: Option<PathBuf>,
    /// Form of the history
    #[arg(long, value_enum, default_value_t = HistoryFormat::Text)]
    pub format: HistoryFormat,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// In the text a row for every recording, not only for those at which the figure changed
    #[arg(long)]
    pub all: bool,
    /// Least change that counts, in percent of the value before
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    pub tolerance: f64,
}

/// Forms of a history.
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
  warpline gate --baseline main app.wlprof                       held to the limits that are built in
  warpline gate --baseline main --limits limits.toml app.wlprof  to your own
  warpline gate --baseline main --write markdown=summary.md --write sarif=new.sarif --write benchmark=figures.json

Exit codes: 0 all limits hold, 5 one is broken, 2 no recording was made alike, 4 there is none (0 with --allow-no-baseline)")]
pub struct GateArguments {
    /// Profiles to judge [default: what is recorded of the current commit]
    #[arg(value_name = "AFTER")]
    pub files: Vec<PathBuf>,
    /// What to compare with: a branch (its nearest recording, an ancestor where git knows) or a commit
    #[arg(long, value_name = "BRANCH|COMMIT", default_value = "main")]
    pub baseline: String,
    /// Limits of what may get worse (TOML, as for `diff`) [default: built in, docs/ci.md shows them]
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Pass where nothing is recorded yet; limits of worst values count still
    #[arg(long)]
    pub allow_no_baseline: bool,
    /// Compare all the same with recordings that differ in this: version, compiler, arguments, …; may be given several times
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// Name of the history that the profiles belong to [default: the program's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub origin: OriginArguments,
    /// Form of what goes to standard output
    #[arg(long, value_enum, default_value_t = GateFormat::Text)]
    pub format: GateFormat,
    /// Write another form to a file as well, as sarif=new.sarif; may be given several times
    #[arg(long, value_name = "FORMAT=FILE")]
    pub write: Vec<String>,
    /// Leave out findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; may be given several times
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
    /// Rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Least change of modelled figures that is shown, in percent of what they are a part of
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub tolerance: f64,
}

/// Forms of a gate's verdict.
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
    /// Figures of which less is better, for services that draw them over commits.
    Benchmark,
}
