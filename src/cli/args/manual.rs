//! Arguments of commands that write completions and manual pages.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `warpline completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `warpline man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder for the pages
    pub folder: PathBuf,
}

/// Arguments of `warpline setup`.
#[derive(Debug, Args)]
pub struct SetupArguments {
    /// Folder with wheels that `pip download` fetched on another machine; nothing is downloaded then
    #[arg(long, value_name = "DIR")]
    pub wheels: Option<PathBuf>,
}
