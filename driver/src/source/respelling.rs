//! Arguments and overlays with which clang accepts a CUDA source as nvcc does.

use super::{cccl, command_line_macros, overlay, standard, standard_input, unit};
use crate::command::Command;
use crate::error::DriverError;
use crate::invocation::{GpuCode, Input, Invocation};
use crate::programs::tools::Tools;
use std::path::{Path, PathBuf};

/// The additions to the command line of one source.
pub struct Respelling {
    /// Macros, folders and the standard.
    pub arguments: Vec<String>,
    /// The files for which clang receives other texts.
    pub changed: Vec<PathBuf>,
    /// The path of these texts.
    overlay: Option<PathBuf>,
}

impl Respelling {
    /// Creates a `Respelling` for a source.
    pub fn new(tools: &Tools, invocation: &Invocation, input: &Input) -> Result<Respelling, DriverError> {
        let mut arguments = standard_input::arguments(input);
        let mut folders = invocation.include_folders();
        folders.extend(unit::folders_of_environment());
        let mut roots = vec![PathBuf::from(&input.path)];
        roots.extend(invocation.included_before().iter().filter_map(|file| unit::find(file, Path::new("."), &folders)));
        let files = unit::files(&roots, &folders);
        let all = unit::all_files(&roots, &folders);
        if all.iter().any(|(_, text)| unit::has_texture_references(text)) {
            arguments.push("-DWARPLINE_TEXTURE_REFERENCES".into());
        }
        let raised = tools.cuda.cccl_include().and_then(|_| standard::raised(&invocation.common, &all));
        arguments.extend(raised.map(String::from));
        let mut texts = overlay::respelled_files(&files, invocation.dialect);
        texts.extend(overlay::respelled_libraries(&all, &files, invocation.dialect));
        if let Some(folder) = tools.cuda.cccl_include().filter(|_| cccl::concerns(&files)) {
            texts.extend(cccl::changed(&folder, invocation.gpu == GpuCode::Real));
        }
        let changed = texts.iter().map(|(path, _)| path.clone()).collect();
        texts.extend(macros(tools, invocation));
        let overlay = overlay::overlay(Path::new(&input.path), &texts, tools.temporary())?;
        Ok(Respelling { arguments, changed, overlay })
    }

    /// Creates the part that does not depend on a source: the macros of a command line.
    pub fn of_command_line(tools: &Tools, invocation: &Invocation) -> Result<Respelling, DriverError> {
        let texts: Vec<_> = macros(tools, invocation).into_iter().collect();
        let overlay = overlay::overlay(Path::new("command-line"), &texts, tools.temporary())?;
        Ok(Respelling { arguments: Vec::new(), changed: Vec::new(), overlay })
    }

    /// Returns a compilation of the source with these changes.
    pub fn applied(&self, command: Command) -> Command {
        let command = command.args(self.arguments.iter().cloned());
        self.overlay.iter().fold(command, |command, overlay| command.args(["-ivfsoverlay"]).path(overlay))
    }
}

/// Returns the file of the macros that the command line defines, and its text.
fn macros(tools: &Tools, invocation: &Invocation) -> Option<(PathBuf, String)> {
    Some((tools.include.join(command_line_macros::FILE), command_line_macros::text(invocation)?))
}
