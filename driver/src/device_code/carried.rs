//! The hooked device code that a program contains, and what is generated from it while the program runs: shared objects,
//! and the figures of ptxas for further architectures.

use crate::device_code::gpu::GpuBuild;
use crate::device_code::loaded::{self, Lowering};
use crate::device_code::object_parts;
use crate::device_code::registers::{Assembled, Assembler};
use crate::error::DriverError;
use crate::invocation::{GpuCode, Invocation};
use crate::programs::tools::Tools;
use inkwell::module::Module;
use std::path::Path;
use warpline_format::device_code::{CarriedCode, encode_resources};
use warpline_format::site_table::SiteTable;
use warpline_pass::gpu;
use warpline_pass::llvm::shim::quiet_context;
use warpline_toolchain::cuda;

/// Returns the code of a hooked module that a program contains.
pub(crate) fn encode(
    module: &Module<'_>,
    table: &SiteTable,
    assembled: &Assembled,
    system_folders: &[String],
) -> Vec<u8> {
    let code = CarriedCode {
        site_table: table.to_bytes(),
        registers: assembled.kernels.clone(),
        assembly: assembled.ptx.clone(),
        system_folders: system_folders.to_vec(),
        bitcode: module.write_bitcode_to_memory().as_slice().to_vec(),
    };
    code.to_bytes()
}

/// Generates from such code what the command line requests: a shared object of the functions with hooks of a kernel, for
/// `--warpline-hooks-of`, or of all code with values tracked, for `--warpline-values` (with `--device`, of the code for a
/// GPU); or the file of `--warpline-assemble-for`.
pub fn generate(invocation: &Invocation) -> Result<(), DriverError> {
    let (Some(input), Some(output)) = (invocation.inputs.first(), &invocation.output) else { return Ok(()) };
    let bytes = std::fs::read(&input.path).map_err(DriverError::reading(&input.path))?;
    let code = CarriedCode::from_bytes(&bytes).unwrap_or_default();
    let lowering = Lowering::new(invocation, &input.path, code.system_folders.clone());
    if code.bitcode.is_empty() {
        return Err(lowering.failed("it is no device code of a program"));
    }
    match &invocation.assemble_for[..] {
        [] => shared_object(invocation, &lowering, code, output),
        architectures => resources(&code, architectures, output),
    }
}

/// Writes the figures of ptxas for the kernels on the given architectures. The figures for architectures that ptxas
/// does not support, or for which it refuses the code, are not included.
fn resources(code: &CarriedCode, architectures: &[u32], output: &Path) -> Result<(), DriverError> {
    let (temporary, _removal) = loaded::temporary()?;
    // A run does not wait for a download.
    let cuda = cuda::find(None)?;
    let arguments = &code.assembly.arguments;
    let threads = object_parts::threads();
    let assembler = Assembler::new(&cuda, arguments, architectures.to_vec(), temporary.path(), threads);
    let found = encode_resources(&assembler.resources(&code.assembly));
    std::fs::write(output, found).map_err(DriverError::writing(output))
}

fn shared_object(
    invocation: &Invocation,
    lowering: &Lowering<'_>,
    code: CarriedCode,
    output: &Path,
) -> Result<(), DriverError> {
    let table = SiteTable::from_bytes(&code.site_table).map_err(|cause| lowering.failed(cause))?;
    let context = quiet_context();
    let module = lowering.read(&context, &code.bitcode)?;
    let objects = match invocation.hooks_of {
        Some(_) => lowering.of_kernel(&module, &table, &code.registers)?,
        None => {
            let mut table = lowering.number(&module, table, &invocation.followed);
            if invocation.gpu != GpuCode::None {
                gpu::mark_unrecorded(&module, &mut table);
            }
            match invocation.gpu {
                GpuCode::None => lowering.with_values(&module, &table, &code)?,
                GpuCode::Emulated => lowering.emulated(&module, &table, &code)?,
                GpuCode::Real => {
                    // The tools own the folder of intermediate files.
                    let tools = Tools::find(invocation)?;
                    let build = GpuBuild::of_carried(&tools, invocation, &module);
                    lowering.for_gpu(&module, &table, &code, &build)?
                }
            }
        }
    };
    loaded::link(&objects, output)
}
