//! Clusters: their barrier, and the shared memory of other blocks.

use crate::cpu::emitter::Emitter;
use crate::llvm::Value;
use warpline_format::abi::cluster_barrier::{ARRIVE, WAIT};
use warpline_format::access::Kind as ItemKind;
use warpline_format::rendezvous::Rendezvous;

impl<'c> Emitter<'_, 'c> {
    /// Arrives at the barrier of the block's cluster, or waits for those that have not.
    pub fn cluster_barrier(&mut self, waits: bool) {
        self.unit().clear_uppers(&self.b);
        let action = self.i32(if waits { WAIT } else { ARRIVE });
        self.b.call(self.unit().runtime().cluster_barrier(), &[self.context(), action]);
        if waits && self.hooked() {
            let passed = Rendezvous { cluster: true, ..Rendezvous::BLOCK };
            self.mark(ItemKind::Barrier, 0, self.i32(passed.word()));
        }
    }

    /// Addresses of the same places in the shared memory of the blocks of these ranks.
    pub fn mapped_shared(&mut self, addresses: Value<'c>, ranks: Value<'c>) -> Value<'c> {
        let (from, to) = (self.entry.alloca(ranks.ty(), 64), self.entry.alloca(addresses.ty(), 64));
        self.b.store(ranks, from, 64);
        self.b.store(addresses, to, 64);
        self.b.call(self.unit().runtime().map_shared(), &[self.context(), self.mask(), from, to]);
        self.b.load(addresses.ty(), to, 64)
    }

    /// Ranks of the blocks in whose shared memory addresses lie.
    pub fn shared_rank(&mut self, addresses: Value<'c>) -> Value<'c> {
        let ranks = self.int_lanes(32);
        let (from, to) = (self.entry.alloca(addresses.ty(), 64), self.entry.alloca(ranks, 64));
        self.b.store(addresses, from, 64);
        self.b.call(self.unit().runtime().shared_rank(), &[self.context(), self.mask(), from, to]);
        self.b.load(ranks, to, 64)
    }
}
