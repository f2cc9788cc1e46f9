//! Checks of what a launch requests.

use crate::modules::configuration::{Configuration, Refusal, check, shared_limit};
use crate::modules::module::Member;
use crate::state::runtime::Runtime;

impl Runtime {
    /// Dynamic shared memory that a kernel may have.
    pub fn shared_limit(&self, member: Member) -> u32 {
        shared_limit(&self.modules[member.module], member.index, &self.options.device)
    }

    /// Blocks that are resident on an SM together.
    pub(crate) fn check_configuration(&self, member: Member, configuration: &Configuration) -> Result<u32, Refusal> {
        check(&self.modules[member.module], member.index, &self.options, configuration)
    }
}
