//! `warpline validate`: validates caches with pointer chases, or profiles with counters.

mod chases;
mod counters;
mod program;

use crate::cli::Failure;
use crate::cli::args::{DeviceChoice, ValidateArguments, ValidateFormat};
use crate::cli::output;
use crate::exit_code;
use crate::validate::METRICS;

pub(super) fn execute(arguments: &ValidateArguments) -> Result<u8, Failure> {
    if arguments.list_counters {
        output::print(format!("{}\n", METRICS.join(",")).as_bytes())?;
        return Ok(exit_code::OK);
    }
    if arguments.device == DeviceChoice::GpuEmulated {
        let why = "there is nothing to measure on an emulated GPU: validate takes --device cpu or gpu";
        return Err(Failure::new(exit_code::USAGE, why.to_owned()));
    }
    if arguments.profiles.is_empty() { chases::execute(arguments) } else { counters::execute(arguments) }
}

/// Writes a result in the requested format.
fn write(
    arguments: &ValidateArguments,
    document: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let bytes = match arguments.format {
        ValidateFormat::Text => text().into_bytes(),
        ValidateFormat::Json => {
            let json = serde_json::to_vec_pretty(document);
            let mut json = json.map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
            json.push(b'\n');
            json
        }
    };
    output::write(&bytes, arguments.output.as_deref())
}
