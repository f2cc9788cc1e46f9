//! `warpline explain`.

use crate::cli::args::ExplainArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_findings::{pages, unknown};

pub(in crate::cli) fn execute(arguments: &ExplainArguments) -> Result<u8, Failure> {
    let text = match &arguments.id {
        None => {
            let rows = pages().map(|page| format!("{:<22} {}\n", page.id, page.summary()));
            rows.collect::<String>() + "\nwarpline explain ID prints the page of one.\n"
        }
        Some(id) => match pages().find(|page| page.id == *id) {
            Some(page) => page.text.to_owned(),
            None => {
                return Err(Failure::new(exit_code::USAGE, unknown(id)));
            }
        },
    };
    output::write(text.as_bytes(), None)?;
    Ok(exit_code::OK)
}
