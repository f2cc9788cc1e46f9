//! Sections of a program with their own trace, as `warpline.profile()` in Python creates them. The state before the
//! section is written to the new trace, and the section's changes are written to the trace that continues after it.

use crate::cuda::error::{self, Error};
use crate::memory::registry::Live;
use crate::state::outer::Outer;
use crate::state::runtime::Runtime;
use crate::trace::Trace;
use crate::trace::writer::Writer;
use std::collections::{BTreeMap, BTreeSet};
use warpline_format::budget::Sampler;
use warpline_format::event::{Allocation, AllocationId, Event};
use warpline_format::options::Output;

impl Runtime {
    /// Begins a section whose trace goes to a file. Sections may be nested; each counts its launches from 0. In a
    /// section that is only estimated, everything is recorded.
    pub fn begin_section(&mut self, file: String, estimating: bool) {
        let writer = Writer::new(Output::File(file), crate::state::runtime::executable());
        let trace = std::mem::replace(&mut self.trace, Trace::new(writer));
        let live = self.memory.registry.iter().map(|live| live.id).collect();
        let (launches, chosen) = (std::mem::take(&mut self.launches), std::mem::take(&mut self.chosen));
        // Call paths have different numbers in each trace.
        let budget = self.options.budget.filter(|_| !estimating);
        let sampler = std::mem::replace(&mut self.sampler, budget.map(Sampler::new));
        let estimating = std::mem::replace(&mut self.estimating, estimating);
        self.arena.discard_launches();
        self.sections.push(Outer { trace, launches, chosen, sampler, estimating, modules: self.modules.len(), live });
        self.write_program();
        self.write_modules(0);
        self.write_allocations(&BTreeSet::new());
    }

    /// Ends the section that was begun last; its trace is then complete.
    ///
    /// # Errors
    /// Returns an error if no section was begun.
    pub fn end_section(&mut self) -> Result<(), Error> {
        self.synchronise();
        let outer = self.sections.pop().ok_or(error::PROFILER_ALREADY_STOPPED)?;
        self.report_failures();
        let launches = self.launches;
        self.trace.finish(launches);
        self.arena.discard_launches();
        self.trace = outer.trace;
        (self.launches, self.chosen, self.sampler) = (outer.launches, outer.chosen, outer.sampler);
        self.estimating = outer.estimating;
        let now: BTreeSet<AllocationId> = self.memory.registry.iter().map(|live| live.id).collect();
        for &id in outer.live.difference(&now) {
            self.trace.event(Event::Free { id, path: 0 });
        }
        self.write_modules(outer.modules);
        self.write_allocations(&outer.live);
        Ok(())
    }

    fn write_modules(&mut self, first: usize) {
        let capability = self.options.device.compute_capability;
        for module in &self.modules[first..] {
            self.trace.event(Event::Module { id: module.id, site_table: module.encoded_table() });
            for event in module.assembly(capability) {
                self.trace.event(event);
            }
        }
    }

    /// Writes the live allocations to the trace in their order, without those in `known`.
    fn write_allocations(&mut self, known: &BTreeSet<AllocationId>) {
        let globals: BTreeMap<u64, (u32, u32)> = (self.modules.iter())
            .flat_map(|module| (0..).zip(&module.globals).map(|(index, &address)| (address, (module.id, index))))
            .collect();
        let mut live: Vec<&Live> = self.memory.registry.iter().filter(|live| !known.contains(&live.id)).collect();
        live.sort_by_key(|live| live.id);
        for live in live {
            // A call path's number is valid only in the trace that defines it.
            self.trace.event(Event::Allocation(Allocation {
                id: live.id,
                kind: live.kind,
                address: live.address,
                bytes: live.bytes,
                name: live.name.clone(),
                path: 0,
                global: globals.get(&live.start()).copied(),
            }));
        }
    }
}
