//! Selects the GPU model if none is requested: that of the installed GPU, or otherwise by the architecture for which
//! the program was built.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::read::ReadCache;
use object::{Object as _, ObjectSection as _};
use warpline_format::abi::{ARCHITECTURE_SECTION, architectures_of};
use warpline_format::device::model_for;
use warpline_format::event::Event;
use warpline_format::site_table::SiteTable;
use warpline_toolchain::gpu;

use warpline_analyzer::trace::{self, Message, TraceReader};
use warpline_simulator::models::{self, DEFAULT_MODEL};

/// A selection with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct DefaultModel {
    pub(in crate::cli) model: String,
    pub(in crate::cli) reason: String,
    /// Note for the user about the selection.
    pub(in crate::cli) note: Option<String>,
}

impl DefaultModel {
    fn by_architecture(number: u32) -> DefaultModel {
        let model = model_for(number).to_owned();
        DefaultModel { model, reason: format!("the program was built for sm_{number}"), note: None }
    }

    /// Selects the model of a program whose executed code is for the architecture `runs`, although `requested` was
    /// requested.
    fn by_architectures(runs: u32, requested: u32) -> DefaultModel {
        let by_code = DefaultModel::by_architecture(runs);
        if requested == runs || requested == 0 {
            return by_code;
        }
        let (model, wanted) = (&by_code.model, model_for(requested));
        let note = format!(
            "the program was built for sm_{requested}, which the CUDA toolkit of the build does not support: the code of sm_{runs} runs, \
             and the GPU model is {model}; --gpu {wanted} runs it on a GPU of the requested kind"
        );
        let reason = format!("the code of sm_{runs} runs, although sm_{requested} was requested");
        DefaultModel { reason, note: Some(note), ..by_code }
    }

    fn none() -> DefaultModel {
        DefaultModel { model: DEFAULT_MODEL.to_owned(), reason: "the default".to_owned(), note: None }
    }

    fn by_gpu(name: &str) -> Option<DefaultModel> {
        let model = models::for_gpu(name)?.to_owned();
        Some(DefaultModel { model, reason: format!("it runs on {name}"), note: None })
    }
}

/// Selects the model for a program to be run.
pub(in crate::cli) fn of_program(program: &OsStr, on_gpu: bool) -> DefaultModel {
    let gpu = if on_gpu { first_gpu().and_then(|name| DefaultModel::by_gpu(&name)) } else { None };
    let built = || {
        found(program)
            .and_then(|path| built_for(&path))
            .map(|(runs, requested)| DefaultModel::by_architectures(runs, requested))
    };
    gpu.or_else(built).or_else(|| interpreted(program)).unwrap_or_else(DefaultModel::none)
}

/// Selects the model for an interpreter, which compiles its kernels for the modelled GPU: the newest one that does not
/// need Hopper's special instructions.
fn interpreted(program: &OsStr) -> Option<DefaultModel> {
    let name = Path::new(program).file_name()?.to_str()?;
    let python = ["python", "ipython", "pytest", "jupyter"].iter().any(|one| name.starts_with(one));
    python.then(|| DefaultModel { model: "a100".to_owned(), reason: "the program is in Python".to_owned(), note: None })
}

/// Selects the model for a trace: the GPU that ran the kernels, or the model of the run. A program for an old
/// architecture that was started without `warpline run` used [`DEFAULT_MODEL`] without requesting it; the first
/// module's architecture then decides.
pub(in crate::cli) fn of_trace(path: &Path) -> DefaultModel {
    let mut recorded = None;
    let Ok(opened) = trace::open(path) else { return DefaultModel::none() };
    let Ok(mut reader) = TraceReader::new(opened.stream) else { return DefaultModel::none() };
    // Modules precede the first launch.
    while let Ok(Message::Event(event)) = reader.next() {
        match *event {
            Event::Program { device, .. } => {
                let reason = format!("the trace was recorded for {}", device.name);
                recorded = models::for_gpu(&device.name).map(|model| DefaultModel {
                    model: model.to_owned(),
                    reason,
                    note: None,
                });
            }
            Event::Module { site_table, .. } => {
                let Ok(table) = SiteTable::from_bytes(&site_table) else { break };
                let built = DefaultModel::by_architecture(table.arch);
                return match recorded {
                    Some(recorded) if recorded.model != DEFAULT_MODEL && recorded.model != built.model => recorded,
                    _ => built,
                };
            }
            Event::Launch(_) => break,
            _ => {}
        }
    }
    recorded.unwrap_or_else(DefaultModel::none)
}

/// Returns the file of a program's name.
pub(in crate::cli) fn found(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Returns the oldest architecture among the executed code of an executable's units, and the architecture that was
/// requested for it.
fn built_for(path: &Path) -> Option<(u32, u32)> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let section = file.section_by_name(ARCHITECTURE_SECTION)?;
    let words = section.data().ok()?.as_chunks::<4>().0;
    words.iter().map(|word| architectures_of(u32::from_le_bytes(*word))).filter(|(runs, _)| *runs != 0).min()
}

/// Returns the name of the first GPU, from the driver's tool.
fn first_gpu() -> Option<String> {
    gpu::query().ok()?.into_iter().next().map(|gpu| gpu.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_hint_there_is_a_default() {
        assert_eq!(of_program(OsStr::new("/no/such/program"), false), DefaultModel::none());
        // This program was not built by Warpline.
        assert_eq!(of_program(OsStr::new("sh"), false), DefaultModel::none());
        assert_eq!(of_trace(Path::new("/no/such/trace")), DefaultModel::none());
    }
}
