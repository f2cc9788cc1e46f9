//! Small values in lowered code: masks, constants, fields of the warp's context, lanes.

use super::leaf::{Leaf, spread, steps};
use super::{Emitter, context};
use crate::cpu::shapes::analysis::Version;
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::types::{LANES, held};
use crate::llvm::types::Kind;
use crate::llvm::{Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// Returns a mask as `<32 x i1>`, see [`crate::cpu::target::unit::Unit::lanes_of`].
    pub fn lanes_of(&self, mask: Value<'c>) -> Value<'c> {
        self.unit().lanes_of(&self.b, mask)
    }

    /// Returns the lanes that execute the block, as `<32 x i1>`.
    pub fn active(&self) -> Value<'c> {
        self.lanes_of(self.mask)
    }

    /// Returns the bits of the active lanes in which a `<32 x i1>` is true. Inactive lanes may be poison, which would
    /// make the whole integer poison; freeze limits the effect to the lane's bit.
    pub fn bits(&self, condition: Value<'c>) -> Value<'c> {
        let all = self.b.bitcast(self.b.freeze(condition), self.t.int(32));
        self.b.and(all, self.mask)
    }

    /// Returns a vector's element in the lowest active lane.
    pub fn first_active(&self, vector: Value<'c>) -> Value<'c> {
        let lane = self.lowest(self.mask);
        self.b.extract_element(vector, lane)
    }

    /// Returns the number of the lowest set bit of a mask that is not 0.
    pub fn lowest(&self, mask: Value<'c>) -> Value<'c> {
        let count = self.unit().intrinsic("llvm.cttz", &[mask.ty()]);
        self.b.call(count, &[mask, Value::int(self.t.int(1), 1)])
    }

    /// Returns the number of lanes in a mask.
    pub fn count(&self, mask: Value<'c>) -> Value<'c> {
        self.b.call(self.unit().intrinsic("llvm.ctpop", &[mask.ty()]), &[mask])
    }

    /// `i32` constant.
    pub fn i32(&self, value: u32) -> Value<'c> {
        Value::int(self.t.int(32), u64::from(value))
    }

    /// `i64` constant.
    pub fn i64(&self, value: u64) -> Value<'c> {
        Value::int(self.t.int(64), value)
    }

    /// Returns a field of the context, read once.
    pub fn field(&mut self, field: context::Field) -> Value<'c> {
        self.once(field.name, |this| {
            let place = this.entry.offset(this.context(), field.offset);
            this.entry.load(field.ty(this.t), place, field.align())
        })
    }

    /// Returns the current value of a field of the context.
    pub fn field_now(&self, field: context::Field) -> Value<'c> {
        let place = self.b.offset(self.context(), field.offset);
        self.b.load(field.ty(self.t), place, field.align())
    }

    /// Writes a field of the context.
    pub fn set_field(&self, field: context::Field, value: Value<'c>) {
        let place = self.b.offset(self.context(), field.offset);
        self.b.store(value, place, field.align());
    }

    pub(super) fn arguments(&mut self) -> Value<'c> {
        self.field(context::ARGUMENTS)
    }

    /// Returns the lanes for which the function runs.
    pub fn live(&mut self) -> Value<'c> {
        match self.version() {
            Version::Serial => self.entry.shl(self.i32(1), self.only_lane()),
            _ => self.field(context::LIVE),
        }
    }

    /// Returns the lane for which a function of [`Version::Serial`] runs, its second argument.
    pub fn only_lane(&self) -> Value<'c> {
        self.function().parameters()[1]
    }

    /// Returns the address of a variable of the module, as `i64`.
    pub fn slot_address(&mut self, slot: Value<'c>) -> Value<'c> {
        if let Some(leaves) = self.fixed.get(&slot)
            && let Some(scalar) = leaves[0].scalar()
        {
            return scalar;
        }
        let value = self.entry.load(self.t.int(64), slot, 8);
        self.fixed.insert(slot, vec![Leaf::Uniform(value)]);
        value
    }

    /// Returns a leaf of lane numbers plus `offset`, as `i64`.
    pub fn lane_numbers(&mut self, ty: Type<'c>) -> Leaf<'c> {
        let size = u64::from(LANES) / self.version().groups() as u64;
        let bases = (0..self.version().groups() as u64).map(|group| self.i64(group * size)).collect();
        Leaf::Affine { bases, stride: 1, ty }
    }

    /// Returns one 64-bit scalar per group of a leaf that is uniform or affine, and the stride; `signed` selects how a
    /// narrower uniform value is extended.
    pub fn wide(&self, leaf: &Leaf<'c>, signed: bool) -> Option<(Vec<Value<'c>>, i64)> {
        match leaf {
            Leaf::Affine { bases, stride, .. } => Some((bases.clone(), *stride)),
            Leaf::Uniform(scalar) => {
                let wide = match scalar.ty().kind() {
                    Kind::Int(bits) if bits > 64 => return None,
                    Kind::Int(_) if signed => self.b.sext(*scalar, self.t.int(64)),
                    Kind::Int(_) => self.b.zext(*scalar, self.t.int(64)),
                    _ => return None,
                };
                Some((vec![wide; self.version().groups()], 0))
            }
            Leaf::Lanes(_) => None,
        }
    }

    /// Returns a `select` of leaves, for a result with the given shape.
    pub fn select_leaf(&self, condition: &Leaf<'c>, yes: &Leaf<'c>, no: &Leaf<'c>, shape: Shape) -> Leaf<'c> {
        match (shape, condition) {
            (Shape::Uniform, Leaf::Uniform(condition)) => {
                if let (Some(yes), Some(no)) = (yes.scalar(), no.scalar()) {
                    return Leaf::Uniform(self.b.select(*condition, yes, no));
                }
            }
            (Shape::Affine(affine), Leaf::Uniform(condition)) => {
                if let (Leaf::Affine { bases: yes, ty, .. }, Leaf::Affine { bases: no, .. }) = (yes, no) {
                    let bases = yes.iter().zip(no).map(|(yes, no)| self.b.select(*condition, *yes, *no)).collect();
                    return Leaf::Affine { bases, stride: affine.stride, ty: *ty };
                }
            }
            _ => {}
        }
        let chooser = condition.scalar().unwrap_or_else(|| condition.lanes(&self.b));
        Leaf::Lanes(self.b.select(chooser, yes.lanes(&self.b), no.lanes(&self.b)))
    }

    /// Returns a constant of `like`'s type, scalar or vector of lanes.
    pub fn same(&self, like: Value<'c>, value: u64) -> Value<'c> {
        match like.ty().kind() {
            Kind::Vector(count) => Value::vector(&vec![Value::int(like.ty().element(), value); count as usize]),
            _ => Value::int(like.ty(), value),
        }
    }

    /// Returns `ty`, or a vector of `ty` if `like` is a vector.
    pub fn shaped(&self, like: Value<'c>, ty: Type<'c>) -> Type<'c> {
        match like.ty().kind() {
            Kind::Vector(count) => ty.vector(count),
            _ => ty,
        }
    }

    /// Returns the per-lane steps of an affine vector.
    pub fn steps(&self, ty: Type<'c>, stride: i64) -> Value<'c> {
        steps(held(ty), self.version().groups(), stride)
    }

    /// Returns a vector in which each lane has the scalar of its group.
    pub fn spread(&self, groups: &[Value<'c>]) -> Value<'c> {
        spread(&self.b, groups)
    }
}
