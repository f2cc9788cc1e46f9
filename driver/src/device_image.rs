//! `-ptx`, `-cubin` and `-fatbin`: device code in a separate file, for programs that load it while they run. A cubin or
//! a fat binary is a shared object for the CPU device. PTX comes from clang, and contains such an object as comments,
//! which the runtime loads.

use crate::compile;
use crate::device_code::loaded::Lowering;
use crate::error::DriverError;
use crate::invocation::{Input, Invocation, Language};
use crate::message;
use crate::options::device_file::DeviceFile;
use crate::programs::tools::Tools;
use crate::run_time_source;
use crate::source::standard_input;
use crate::trace;
use std::path::Path;
use warpline_format::carried;
use warpline_format::visible;
use warpline_pass::llvm::shim::{self, quiet_context};
use warpline_pass::{loadable, object};

/// Generates the file of each source.
pub fn compile(tools: &Tools, invocation: &Invocation, kind: DeviceFile) -> Result<(), DriverError> {
    for given in &invocation.inputs {
        let read = standard_input::read(tools, invocation, given)?;
        let input = read.as_ref().unwrap_or(given);
        let inputs = vec![input.clone()];
        let output = invocation.output.clone().or_else(|| invocation.device_file_path(given, kind));
        let requested = Invocation { inputs, output, ..invocation.clone() };
        let Some(output) = &requested.output else { continue };
        match kind {
            DeviceFile::Ptx => ptx(tools, &requested, input, output)?,
            DeviceFile::Cubin | DeviceFile::FatBinary => {
                trace::line(
                    &requested,
                    &format!(
                        "warpline: lower the device code of {} -> {}",
                        standard_input::shown(input),
                        output.display()
                    ),
                );
                if !requested.dry_run {
                    image(tools, &requested, input, output)?;
                }
            }
        }
    }
    Ok(())
}

/// Generates a shared object of a source's device code.
fn image(tools: &Tools, invocation: &Invocation, input: &Input, output: &Path) -> Result<(), DriverError> {
    let bitcode = tools.temporary().join("device.bc");
    compile::device_bitcode(tools, invocation, input, &bitcode)?;
    let system_folders = tools.system_folders();
    let lowering = Lowering::new(invocation, standard_input::shown(input), system_folders.clone());
    let context = quiet_context();
    let module = object::read(&context, &bitcode).map_err(|cause| lowering.failed(cause))?;
    shim::unlist_declarations(&module, &system_folders);
    standard_input::rename(&module, standard_input::shown(input));
    lowering.dump.write(&module, "device-0-clang")?;
    if !loadable::has_kernel(&module) {
        return Err(lowering.failed("there is no kernel in it"));
    }
    run_time_source::shared_object(tools, invocation, &lowering, &module, None, output)
}

/// Generates PTX, with such an object if possible. The purpose of the PTX is not known, and PTX without an object is
/// sufficient for reading.
fn ptx(tools: &Tools, invocation: &Invocation, input: &Input, output: &Path) -> Result<(), DriverError> {
    compile::ptx(tools, invocation, input)?;
    if invocation.dry_run || input.language != Language::Cuda || !output.is_file() {
        return Ok(());
    }
    let text = std::fs::read_to_string(output).map_err(DriverError::reading(output))?;
    let made = tools.temporary().join("carried.so");
    let code = match image(tools, invocation, input, &made) {
        Ok(()) => std::fs::read(&made).map_err(DriverError::reading(&made))?,
        Err(cause) => {
            let cause = visible::message(&cause.to_string()).into_owned();
            message::line(format_args!(
                "warpline-cc: note: {} can be read, and not be loaded on the CPU device: {cause}",
                output.display()
            ));
            return std::fs::write(output, carried::without(&text, &cause)).map_err(DriverError::writing(output));
        }
    };
    std::fs::write(output, carried::carrying(&text, &code)).map_err(DriverError::writing(output))
}
