//! The hooked device code that a program contains, and the shared objects that are generated from it while the program
//! runs.

use crate::device_code::loaded::{self, Lowering};
use crate::error::DriverError;
use crate::invocation::Invocation;
use inkwell::module::Module;
use std::collections::BTreeMap;
use warpline_format::occupancy::Resources;
use warpline_format::operation::CarriedCode;
use warpline_format::site_table::SiteTable;
use warpline_pass::llvm::shim::quiet_context;
use warpline_pass::loadable;

/// Returns the code of a hooked module that a program contains.
pub(crate) fn encode(
    module: &Module<'_>,
    table: &SiteTable,
    registers: &BTreeMap<String, Vec<Resources>>,
    system_folders: &[String],
) -> Vec<u8> {
    let code = CarriedCode {
        site_table: table.to_bytes(),
        registers: registers.clone(),
        system_folders: system_folders.to_vec(),
        bitcode: module.write_bitcode_to_memory().as_slice().to_vec(),
    };
    code.to_bytes()
}

/// Generates a shared object of such code: the functions with hooks of a kernel, for `--warpline-hooks-of`, or all code
/// with values tracked, for `--warpline-values`.
pub fn shared_object(invocation: &Invocation) -> Result<(), DriverError> {
    let (Some(input), Some(output)) = (invocation.inputs.first(), &invocation.output) else { return Ok(()) };
    let bytes = std::fs::read(&input.path).map_err(DriverError::reading(&input.path))?;
    let code = CarriedCode::from_bytes(&bytes).unwrap_or_default();
    let lowering = Lowering::new(invocation, &input.path, code.system_folders);
    if code.bitcode.is_empty() {
        return Err(lowering.failed("it is no device code of a program"));
    }
    let table = SiteTable::from_bytes(&code.site_table).map_err(|cause| lowering.failed(cause))?;
    let context = quiet_context();
    let module = loadable::read(&context, &code.bitcode, &input.path).map_err(|cause| lowering.failed(cause))?;
    let objects = match invocation.hooks_of {
        Some(_) => lowering.of_kernel(&module, &table, &code.registers)?,
        None => lowering.with_values(&module, table, &code.registers, &invocation.followed)?,
    };
    loaded::link(&objects, output)
}
