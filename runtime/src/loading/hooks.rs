//! Generates a kernel's functions with hooks before its first launch that needs them, if the build left them out.

use super::{compile, object};
use crate::cuda::error::{self, Error};
use crate::modules::configuration::Refusal;
use crate::modules::module::Member;
use crate::output::message;
use crate::state::runtime::Runtime;

impl Runtime {
    /// Generates the functions with hooks of a kernel whose next launch may need them.
    pub(crate) fn generate_hooks(&mut self, member: Member) -> Result<(), Refusal> {
        let module = &self.modules[member.module];
        if !module.lacks_hooks(member.index) || !self.next_needs_hooks(member) {
            return Ok(());
        }
        let path = compile::hooks_of(module.carried(), &module.mangled(member.index)).map_err(refusal)?;
        let loaded = object::load_file(&path).map_err(|cause| broken(&cause.to_string()))?;
        let module = &mut self.modules[member.module];
        // SAFETY: the object was generated from the module's code, and objects stay loaded.
        let completed = unsafe { module.complete(member.index, loaded) };
        completed.map_err(|cause| broken(&cause.to_string()))
    }

    /// Returns whether the next launch, which is one of this kernel, may run with hooks.
    fn next_needs_hooks(&self, member: Member) -> bool {
        let traced = self.profiling && self.is_in_range() && self.may_be_traced(member);
        let checked = self.always_check || self.memory.shadow.is_some() || self.roundings.is_some();
        traced || checked || self.options.interleave
    }
}

fn broken(cause: &str) -> Refusal {
    message::note(cause);
    refusal(error::INVALID_KERNEL_IMAGE)
}

fn refusal(code: Error) -> Refusal {
    let why = "its code with hooks could not be generated; set WARPLINE_CC to the path of warpline-cc, or build the \
               program with --warpline-hooks=ahead";
    Refusal { code, why: why.into() }
}
