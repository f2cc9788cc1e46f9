//! Barriers that a part of a warp reaches while other lanes of the warp are elsewhere and will continue, and barriers
//! at which some warps of a block wait while others wait at a different barrier.

use crate::cpu::emitter::{Emitter, context};
use crate::cpu::shapes::spin::is_as_good_as_gone;
use crate::llvm::debug::Location;
use crate::llvm::value::Linkage;
use crate::llvm::{ModuleItems, Value};

impl<'c> Emitter<'_, 'c> {
    /// Reports to the runtime if lanes of the warp do not reach the barrier at this position. Lanes that have returned,
    /// or that have no more work, are not reported, because a GPU does not wait for them either.
    pub fn check_absent_lanes(&mut self, call: Value<'c>) {
        if !self.hooked() || call.debug_line() == 0 {
            return;
        }
        let Some(absent) = self.lanes_elsewhere() else { return };
        let (tell, go) = (self.new_block("divergent"), self.new_block("go_on"));
        self.branch_unlikely(self.b.ne(absent, self.i32(0)), tell, go);
        self.b.at_end(tell);
        let place = self.place_text(call);
        let arguments = [self.context(), self.mask(), absent, place, self.i32(call.debug_line())];
        self.b.call(self.unit().quiet(self.unit().runtime().divergent_barrier()), &arguments);
        self.b.branch(go);
        self.b.at_end(go);
    }

    /// Returns the lanes of the warp that wait at other blocks and have more work there.
    fn lanes_elsewhere(&self) -> Option<Value<'c>> {
        let (flow, here) = (&self.analysis().flow, self.position());
        if self.kernel().is_none() {
            // Lanes that have left a function continue after the function's call.
            return Some(self.b.and(self.called_with(), self.b.not(self.mask())));
        }
        let mut places = flow.others(here);
        if let Some(region) = flow.region(here) {
            places.extend(flow.blocks(region).filter(|place| *place != here));
        }
        places.retain(|place| *place < self.body().end() && !is_as_good_as_gone(self.body(), *place));
        let waiting = places.iter().filter_map(|place| self.pending(*place));
        waiting.map(|mask| self.b.load(self.t.int(32), mask, 4)).reduce(|one, other| self.b.or(one, other))
    }

    /// Stores the position of `__syncthreads` for the runtime, which compares it with the positions of the block's
    /// other warps. `None` represents other barriers.
    pub fn note_barrier(&mut self, call: Option<Value<'c>>) {
        if !self.hooked() {
            return;
        }
        let place = match call.filter(|call| call.debug_line() != 0).and_then(Location::from_instruction) {
            Some(location) => {
                let frame = |location: Location<'c>| {
                    let path = location.scope().and_then(|scope| scope.path()).unwrap_or_default();
                    format!("{} {} {path}\n", location.line(), location.column())
                };
                let text: String = location.chain().into_iter().map(frame).collect();
                self.text("warpline.barrier", &text)
            }
            None => Value::zero(self.t.pointer(0)),
        };
        self.set_field(context::BARRIER, place);
    }

    /// Returns the source position of an instruction as text.
    fn place_text(&self, call: Value<'c>) -> Value<'c> {
        let path = Location::from_instruction(call).and_then(|location| location.scope()?.path()).unwrap_or_default();
        self.text("warpline.file", &path)
    }

    /// Returns a zero-terminated text, which exists once in the module; `kind` is its purpose.
    fn text(&self, kind: &str, text: &str) -> Value<'c> {
        let name = format!("{kind}.{text}");
        if let Some(known) = self.unit().target.variable(&name) {
            return known;
        }
        let bytes = Value::bytes(self.t, format!("{text}\0").as_bytes());
        let place = self.unit().target.new_variable(&name, bytes.ty(), 0);
        place.set_linkage(Linkage::LLVMPrivateLinkage);
        place.set_initializer(bytes);
        place.set_constant(true);
        place
    }
}
