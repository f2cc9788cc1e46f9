//! Command-line arguments.

mod build;
mod command;
mod manual;
mod mcp;
mod models;
mod predict;
mod recordings;
mod report;
mod run;
mod several;
mod traces;

pub use build::{CcArguments, ProfileArguments};
pub use command::{Cli, ColorChoice, Command};
pub use manual::{CompletionsArguments, ManArguments, SetupArguments};
pub use mcp::McpArguments;
pub use models::{GpusArguments, ValidateArguments, ValidateFormat};
pub use predict::{PredictArguments, PredictFormat};
pub use recordings::{
    GateArguments, GateFormat, HistoryArguments, HistoryFormat, OriginArguments, RecordArguments, StoreArguments,
};
pub use report::{ExplainArguments, ExploreArguments, FilterArguments, FindingArguments, Format, ReportArguments};
pub use run::{
    CheckChoice, CopiesChoice, DeviceChoice, FloatChoice, HostAllocationChoice, LaunchesChoice, ModeChoice,
    RestartChoice, ReuseChoice, ReuseScopeChoice, RunArguments, StateArguments, StopArguments, StopOn,
    TraceValuesChoice, ValuesChoice,
};
pub use several::{DiffArguments, DiffFormat, ExportArguments, MergeArguments, QueryArguments, SynthesizeArguments};
pub use traces::{CompactArguments, SimArguments, TopArguments, TopFormat};
