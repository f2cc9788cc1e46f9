//! `warpline export`.

use crate::cli::Failure;
use crate::cli::args::ExportArguments;

#[cfg(not(feature = "parquet"))]
pub(in crate::cli) fn execute(_: &ExportArguments) -> Result<u8, Failure> {
    Err(without())
}

/// Returns the failure of a build without Parquet support.
#[cfg(any(test, not(feature = "parquet")))]
fn without() -> Failure {
    let message = "this warpline was built without Parquet. Install the Python package, whose warpline has it \
                   (`pip install warpline`), or build with it: cargo build --release --features parquet";
    Failure::new(crate::exit_code::TOOLCHAIN, message)
}

#[cfg(feature = "parquet")]
pub(in crate::cli) fn execute(arguments: &ExportArguments) -> Result<u8, Failure> {
    use crate::cli::output;
    use crate::exit_code;
    use warpline_dataset::{ExportError, Exported, Folder, Requests, RequestsError, runs_of};
    use warpline_profile as profile;

    let labels = crate::cli::labels::parse(&arguments.label)?;
    let failed = |error: ExportError| {
        let code = match error {
            ExportError::Foreign(_) => exit_code::USAGE,
            ExportError::Version { .. } | ExportError::Damaged { .. } => exit_code::UNREADABLE,
            ExportError::Write { .. } | ExportError::Encode { .. } => exit_code::UNEXPECTED,
        };
        Failure::new(code, error)
    };
    if !arguments.requests.is_empty() && arguments.requests.len() != arguments.profiles.len() {
        let (traces, profiles) = (arguments.requests.len(), arguments.profiles.len());
        let message = format!(
            "--requests is given {traces} times for {profiles} profiles; give the trace of each, in their order"
        );
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let mut code = exit_code::OK;
    let mut folder = None;
    let mut done = Exported::default();
    for (number, file) in arguments.profiles.iter().enumerate() {
        let mut profile = profile::read(file).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
        profile.run.environment.labels.extend(labels.clone());
        // The folder is created only when there is data for it.
        let folder = match &folder {
            Some(folder) => folder,
            None => folder.insert(Folder::open(&arguments.folder).map_err(failed)?),
        };
        for run in runs_of(&profile) {
            let more = folder.add(&run).map_err(failed)?;
            done.files += more.files;
            done.rows += more.rows;
            if let Some(trace) = arguments.requests.get(number).filter(|_| run.first) {
                let found = Requests::write(folder, &run, trace).map_err(|error| match error {
                    RequestsError::Export(error) => failed(error),
                    RequestsError::Trace { .. } => Failure::new(exit_code::UNREADABLE, error),
                    RequestsError::OtherProfile { .. } => Failure::new(exit_code::USAGE, error),
                })?;
                done.files += found.done.files;
                done.rows += found.done.rows;
                if let Some(why) = found.cut {
                    output::say(format_args!(
                        "note: {}: only what comes before this was exported: {why}",
                        trace.display()
                    ));
                    code = exit_code::PARTIAL;
                }
            }
        }
    }
    output::say(format_args!("wrote {} rows in {} files to {}", done.rows, done.files, arguments.folder.display()));
    output::say(format_args!("next: warpline query {} --views", arguments.folder.display()));
    Ok(code)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_build_without_parquet_names_the_cure() {
        let failure = super::without();
        assert_eq!(failure.code, crate::exit_code::TOOLCHAIN);
        assert!(failure.message.contains("--features parquet") && failure.message.contains("pip install"));
    }
}
