//! Registers per thread on architectures for which the program was not built, if the models of a run have them.

use super::compile;
use crate::output::message::note_once;
use crate::state::runtime::Runtime;
use std::collections::BTreeSet;
use warpline_format::occupancy::architecture;

impl Runtime {
    /// Makes the registers of a module's kernels known for all models of the run, before the first use of these figures.
    /// If `warpline-cc` cannot find them, those of the nearest architecture are assumed, which the profile states.
    pub(crate) fn complete_registers(&mut self, module: usize) {
        if !self.trace.is_on() || self.options.stated.registers.is_some() {
            return;
        }
        let own = architecture(self.options.device.compute_capability);
        let wanted: BTreeSet<u32> = self.options.architectures.iter().copied().chain([own]).collect();
        let Some(module) = self.modules.get_mut(module) else { return };
        let lacking = module.lacking_resources(&wanted);
        if lacking.is_empty() {
            return;
        }
        let Ok(found) = compile::resources_on(module.carried(), &lacking) else {
            let (name, numbers) = (&module.table.module, lacking.iter().map(|number| format!("sm_{number}")));
            let numbers: Vec<String> = numbers.collect();
            note_once(format!(
                "{name}: registers on {} are assumed to be those of the nearest known architecture",
                numbers.join(", ")
            ));
            return;
        };
        module.add_resources(found);
        let events: Vec<_> = module.assembly(self.options.device.compute_capability).collect();
        events.into_iter().for_each(|event| self.trace.event(event));
    }
}
