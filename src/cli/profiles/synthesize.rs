//! `warpline synthesize` (hidden): creates profiles of fictitious ranks, to measure the cost of merging.

use crate::cli::args::SynthesizeArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_profile::{self as profile, ranks};

pub(in crate::cli) fn execute(arguments: &SynthesizeArguments) -> Result<u8, Failure> {
    let read =
        |file: &std::path::PathBuf| profile::read(file).map_err(|error| Failure::new(exit_code::UNREADABLE, error));
    let real = arguments.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let whole = ranks::with_sites(&real, arguments.sites)
        .ok_or_else(|| Failure::new(exit_code::NOTHING_MATCHED, "no profile has a memory instruction"))?;
    std::fs::create_dir_all(&arguments.output).map_err(|error| {
        Failure::new(exit_code::UNEXPECTED, format!("{}: cannot be made: {error}", arguments.output.display()))
    })?;
    for index in 0..arguments.ranks {
        let file = arguments.output.join(ranks::file_name(index, "wlprof"));
        let own = ranks::of_rank(&whole, index, arguments.ranks);
        profile::write(&own, &file).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
    }
    let sites = whole.sites.len();
    output::say(format_args!("wrote {} profiles of {sites} sites to {}", arguments.ranks, arguments.output.display()));
    Ok(exit_code::OK)
}
