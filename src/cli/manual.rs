//! `warpline completions` and `warpline man`: generate the completions and manual pages that `make install` installs,
//! from the definition of the command line.

use clap::CommandFactory as _;

use crate::cli::args::{Cli, CompletionsArguments, ManArguments};
use crate::cli::{Failure, output};
use crate::exit_code;

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "warpline", &mut text);
    output::write(&text, None)?;
    Ok(exit_code::OK)
}

pub(super) fn man(arguments: &ManArguments) -> Result<u8, Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("{}: {error}", folder.display())))?;
    Ok(exit_code::OK)
}
