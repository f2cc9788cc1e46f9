//! Checks of accesses under a guard (`@p st.global`).
//!
//! Their hooks are in blocks of their own, which only the lanes run that the guard lets through; the access itself follows in
//! another block. What the checks let through is kept in memory until then.

use crate::cpu::emitter::Emitter;
use crate::llvm::Value;

/// Returns whether a hook stands under a guard: nothing else is in its block. Otherwise the access is in the same
/// block.
pub fn is_under_guard(hook: Value<'_>) -> bool {
    hook.next().is_some_and(|next| hook.block().and_then(|block| block.terminator()) == Some(next))
}

impl<'c> Emitter<'_, 'c> {
    /// Keeps what a hook's check let through, where the hook stands under a guard.
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

    /// Lanes that inline assembly may let access memory: those that run it, less those that checks of its accesses held back.
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

    /// Returns the place for it: all lanes, but while an access is on its way.
    fn kept_lanes(&mut self) -> Value<'c> {
        self.once("guarded", |this| {
            let kept = this.entry.alloca(this.t.int(32), 4);
            this.entry.store(this.i32(u32::MAX), kept, 4);
            kept
        })
    }
}
