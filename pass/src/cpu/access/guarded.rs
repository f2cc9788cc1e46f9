//! Checks of accesses under a guard (`@p st.global`).
//!
//! Their hooks are in separate blocks, which only the lanes execute for which the guard is true; the access itself
//! follows in another block. The result of the checks is stored in memory until then.

use crate::cpu::emitter::Emitter;
use crate::llvm::Value;

/// Returns whether a hook is under a guard: its block then contains nothing else. Otherwise, the access is in the same
/// block.
pub fn is_under_guard(hook: Value<'_>) -> bool {
    hook.next().is_some_and(|next| hook.block().and_then(|block| block.terminator()) == Some(next))
}

impl<'c> Emitter<'_, 'c> {
    /// Stores the lanes that a hook's check permits, if the hook is under a guard.
    pub fn keep_for_guarded(&mut self, hook: Value<'c>) {
        if !is_under_guard(hook) {
            return;
        }
        let Some(allowed) = self.accesses.take_allowed() else { return };
        let kept = self.kept_lanes();
        let others = self.b.not(self.mask());
        let lanes = self.b.and(self.b.load(self.t.int(32), kept, 4), self.b.or(allowed.mask, others));
        self.b.store(lanes, kept, 4);
        self.accesses.expect_guarded();
    }

    /// Returns the lanes that inline assembly may let access memory: the lanes that execute it, without those that
    /// checks of its accesses excluded.
    pub fn assembly_mask(&mut self) -> Value<'c> {
        let mask = self.access_mask();
        if !self.accesses.take_guarded() {
            return mask;
        }
        let kept = self.kept_lanes();
        let lanes = self.b.load(self.t.int(32), kept, 4);
        self.b.store(self.i32(u32::MAX), kept, 4);
        self.b.and(mask, lanes)
    }

    /// Returns the memory for the permitted lanes. It contains all lanes, except between the check and the access.
    fn kept_lanes(&mut self) -> Value<'c> {
        self.once("guarded", |this| {
            let kept = this.entry.alloca(this.t.int(32), 4);
            this.entry.store(this.i32(u32::MAX), kept, 4);
            kept
        })
    }
}
