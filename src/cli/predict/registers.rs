//! Registers of a kernel on models for which the program was neither built nor run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cli::cc;
use crate::cli::models::chosen::Chosen;
use warpline_format::device_code::{KernelResources, decode_resources};
use warpline_format::occupancy::{architecture, nearest};
use warpline_format::run_time::COMPILER_VARIABLE;
use warpline_prediction::executable::{Module, modules};
use warpline_prediction::model::Model;
use warpline_prediction::subject::Subject;
use warpline_profile::addresses_of;
use warpline_profile::model::{Addresses, Kernel};

/// Adds the registers on the models' architectures to a kernel, as ptxas reports them for the code in `program`. If the
/// program is not there, was changed, or cannot be assembled, nothing is added, which [`assumed`] states.
pub(super) fn complete(kernel: &mut Kernel, program: &Path, models: &[Chosen]) {
    let Some(addresses) = &mut kernel.addresses else { return };
    let is_known = |number: &u32| addresses.resources.iter().any(|one| one.architecture == *number);
    let open = models.iter().filter(|model| model.simulation.stated.registers.is_none());
    let mut lacking: Vec<u32> = open.map(|model| architecture(model.device.compute_capability)).collect();
    lacking.retain(|number| !is_known(number));
    lacking.sort_unstable();
    lacking.dedup();
    if lacking.is_empty() || addresses.resources.is_empty() {
        return;
    }
    let Ok(modules) = modules(program) else { return };
    let Some(module) = modules.iter().find(|module| contains(module, &kernel.mangled, addresses)) else { return };
    let further = assemble(&module.carried, &lacking).and_then(|mut all| all.remove(&kernel.mangled));
    addresses.resources.extend(further.into_iter().flatten());
    addresses.resources.sort_unstable();
}

/// Returns whether a module contains a kernel with these addresses.
fn contains(module: &Module, mangled: &str, addresses: &Addresses) -> bool {
    let built = module.kernels.iter().find(|built| built.mangled == mangled);
    let own = built.and_then(|built| addresses_of(&module.table, built.function));
    own.is_some_and(|own| own.expressions == addresses.expressions && own.sites == addresses.sites)
}

/// Lets `warpline-cc` assemble the code of a module for these architectures.
fn assemble(carried: &[u8], architectures: &[u32]) -> Option<KernelResources> {
    let folder = tempfile::tempdir().ok()?;
    let [code, made] = ["module.carried", "module.resources"].map(|name| folder.path().join(name));
    std::fs::write(&code, carried).ok()?;
    let names: Vec<String> = architectures.iter().map(u32::to_string).collect();
    let compiler = std::env::var_os(COMPILER_VARIABLE).map_or_else(cc::compiler, Into::into);
    let mut command = Command::new(compiler);
    command.arg(format!("--warpline-assemble-for={}", names.join(","))).arg("-o").arg(&made).arg(&code);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    status.success().then(|| decode_resources(&std::fs::read(&made).ok()?)).flatten()
}

/// Returns the assumption about registers, if those on the model's architecture are not known.
pub(super) fn assumed(subject: &Subject<'_>, model: &Model<'_>) -> Option<String> {
    let capability = model.device.compute_capability;
    if model.stated.registers.is_some() {
        return None;
    }
    let Some(found) = nearest(&subject.addresses.resources, capability) else {
        return Some(format!("registers are those of launch {}", subject.recorded.id));
    };
    let (used, wanted) = (found.architecture, architecture(capability));
    (used != wanted).then(|| {
        format!(
            "registers are those on sm_{used}, the nearest to sm_{wanted} that is known: the program is not there, was \
             changed, or ptxas refuses its code for sm_{wanted}; --registers states them"
        )
    })
}
