//! Checks whether the configuration of a launch is permitted.

use crate::modules::configuration::{Configuration, Refusal, check, shared_limit};
use crate::modules::module::Member;
use crate::state::runtime::Runtime;

impl Runtime {
    /// Returns the maximum dynamic shared memory of a kernel.
    pub fn shared_limit(&self, member: Member) -> u32 {
        shared_limit(&self.modules[member.module], member.index, &self.options.device)
    }

    /// Returns how many blocks are resident on an SM at the same time.
    pub(crate) fn check_configuration(&self, member: Member, configuration: &Configuration) -> Result<u32, Refusal> {
        check(&self.modules[member.module], member.index, &self.options, configuration)
    }
}
