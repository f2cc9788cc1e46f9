//! The output of `-v` and `--dryrun`. In nvcc's dialect, it has nvcc's form, which CMake reads: first variables, then
//! the commands, each after `#$ `.

use crate::command::Command;
use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::message;
use crate::options::Dialect;
use crate::programs::tools::Tools;

/// Returns whether commands are printed.
fn wanted(invocation: &Invocation) -> bool {
    invocation.dry_run || invocation.verbose
}

/// Prints the variables of a dry run.
pub fn variables(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    if !wanted(invocation) || invocation.dialect != Dialect::Nvcc {
        return Ok(());
    }
    let toolkit = tools.toolkit()?;
    let toolkit = toolkit.display();
    message::line(format_args!("#$ _SPACE_= "));
    message::line(format_args!("#$ TOP={toolkit}"));
    message::line(format_args!("#$ NVVMIR_LIBRARY_DIR={toolkit}/nvvm/libdevice"));
    message::line(format_args!("#$ PATH={}", std::env::var("PATH").unwrap_or_default()));
    message::line(format_args!("#$ INCLUDES=\"-I{toolkit}/include\"  "));
    message::line(format_args!("#$ LIBRARIES=  {}", tools.link_path()?));
    message::line(format_args!("#$ ARCHITECTURE=-arch compute_{}", tools.architecture));
    Ok(())
}

/// Prints a command if that was requested. Returns true if the command must not run.
pub fn command(invocation: &Invocation, command: &Command) -> bool {
    line(invocation, &command.line());
    invocation.dry_run
}

/// Prints a line if that was requested.
pub fn line(invocation: &Invocation, line: &str) {
    if wanted(invocation) {
        let mark = if invocation.dialect == Dialect::Nvcc { "#$ " } else { "" };
        message::line(format_args!("{mark}{line}"));
    }
}
