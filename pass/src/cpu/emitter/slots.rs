//! Memory for values that live longer than their block.

use super::leaf::Leaf;
use super::{Emitter, Slot};
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::{Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// Allocates memory for values that are used in other blocks than their own, and for phis.
    pub(super) fn make_slots(&mut self) {
        let mut wanted = Vec::new();
        for (position, block) in self.body().blocks.iter().enumerate() {
            for &value in &block.instructions {
                if value.ty().is_void() || (position == 0 && !value.is_phi() && !self.is_cautious(position)) {
                    continue;
                }
                let elsewhere = value.users().into_iter().any(|user| match user.block() {
                    Some(other) if user.is_phi() => {
                        self.body().positions.contains_key(&other)
                            && user.incoming().iter().any(|(used, from)| *used == value && *from != block.block)
                    }
                    Some(other) => other != block.block && self.body().positions.contains_key(&other),
                    None => false,
                });
                if value.is_phi() || elsewhere {
                    wanted.push(value);
                }
            }
        }
        for value in wanted {
            let shape = self.analysis().shape(value);
            let slots = leaf_types(value.ty()).into_iter().map(|ty| self.slot(ty, shape)).collect();
            self.slots.insert(value, slots);
        }
    }

    pub(super) fn slot(&self, ty: Type<'c>, shape: Shape) -> Slot<'c> {
        match shape {
            Shape::Uniform => Slot::Uniform(self.entry.alloca(ty, 8), ty),
            Shape::Affine(affine) => {
                let bases = (0..self.version().groups()).map(|_| self.entry.alloca(self.t.int(64), 8)).collect();
                Slot::Affine(bases, affine.stride, ty)
            }
            Shape::Varying { .. } => self.lane_slot(ty),
        }
    }

    pub(super) fn lane_slot(&self, ty: Type<'c>) -> Slot<'c> {
        Slot::Lanes(self.entry.alloca(ty.vector(LANES), 64), ty.vector(LANES))
    }

    pub(super) fn load_slot(&self, slot: &Slot<'c>) -> Leaf<'c> {
        match slot {
            Slot::Uniform(place, ty) => Leaf::Uniform(self.b.load(*ty, *place, 8)),
            Slot::Affine(places, stride, ty) => Leaf::Affine {
                bases: places.iter().map(|place| self.b.load(self.t.int(64), *place, 8)).collect(),
                stride: *stride,
                ty: *ty,
            },
            Slot::Lanes(place, ty) => Leaf::Lanes(self.b.load(*ty, *place, 64)),
        }
    }

    /// Records that a slot contains a leaf, so that helpers that read addresses from memory can read them there. This
    /// is not done in small functions, where LLVM converts a slot to registers if it is only loaded and stored.
    pub(super) fn note_place(&mut self, slot: &Slot<'c>, leaf: &Leaf<'c>) {
        match (slot, leaf) {
            (Slot::Lanes(place, ty), Leaf::Lanes(value)) if self.large && *ty == self.t.int(64).vector(LANES) => {
                self.accesses.note_place(*value, *place);
            }
            _ => {}
        }
    }

    /// Writes a leaf, or only its lanes in the mask, if there is one.
    pub(super) fn store_slot(&self, slot: &Slot<'c>, leaf: &Leaf<'c>, blend: Option<Value<'c>>) {
        match (slot, leaf) {
            (Slot::Uniform(place, _), Leaf::Uniform(scalar)) => {
                self.b.store(*scalar, *place, 8);
            }
            (Slot::Affine(places, ..), Leaf::Affine { bases, .. }) => {
                for (place, base) in places.iter().zip(bases) {
                    self.b.store(*base, *place, 8);
                }
            }
            // Only undefined values are stored in an affine slot in another form, so any base is valid.
            (Slot::Affine(places, ..), _) => {
                for place in places {
                    self.b.store(self.i64(0), *place, 8);
                }
            }
            (Slot::Lanes(place, ty), leaf) => {
                let mut vector = leaf.lanes(&self.b);
                if let Some(mask) = blend {
                    let old = self.b.load(*ty, *place, 64);
                    vector = self.b.select(self.lanes_of(mask), vector, old);
                }
                self.b.store(vector, *place, 64);
            }
            (Slot::Uniform(place, _), leaf) => {
                // A uniform phi can only receive a value with an affine shape if the stride is 0, so all lanes have the
                // same value.
                let vector = leaf.lanes(&self.b);
                let first = self.first_active(vector);
                self.b.store(first, *place, 8);
            }
        }
    }
}
