//! Clusters: their barrier, and the shared memory of other blocks.

use crate::cpu::emitter::Emitter;
use crate::llvm::Value;
use warpline_format::abi::cluster_barrier::{ARRIVE, WAIT};
use warpline_format::access::Kind as ItemKind;
use warpline_format::rendezvous::Rendezvous;

impl<'c> Emitter<'_, 'c> {
    /// Arrives at the barrier of the block's cluster, or waits for the blocks that have not arrived.
    pub fn cluster_barrier(&mut self, waits: bool) {
        self.unit().clear_uppers(&self.b);
        let action = self.i32(if waits { WAIT } else { ARRIVE });
        self.b.call(self.unit().runtime().cluster_barrier(), &[self.context(), action]);
        if waits && self.hooked() {
            let passed = Rendezvous { cluster: true, ..Rendezvous::BLOCK };
            self.mark(ItemKind::Barrier, 0, self.i32(passed.word()));
        }
    }

    /// Returns the addresses of the same offsets in the shared memory of the blocks with these ranks.
    pub fn mapped_shared(&mut self, addresses: Value<'c>, ranks: Value<'c>) -> Value<'c> {
        let (from, to) = (self.entry.alloca(ranks.ty(), 64), self.entry.alloca(addresses.ty(), 64));
        self.b.store(ranks, from, 64);
        self.b.store(addresses, to, 64);
        self.b.call(self.unit().runtime().map_shared(), &[self.context(), self.mask(), from, to]);
        self.b.load(addresses.ty(), to, 64)
    }

    /// Returns the ranks of the blocks whose shared memory contains the addresses.
    pub fn shared_rank(&mut self, addresses: Value<'c>) -> Value<'c> {
        let ranks = self.int_lanes(32);
        let (from, to) = (self.entry.alloca(addresses.ty(), 64), self.entry.alloca(ranks, 64));
        self.b.store(addresses, from, 64);
        self.b.call(self.unit().runtime().shared_rank(), &[self.context(), self.mask(), from, to]);
        self.b.load(ranks, to, 64)
    }
}
