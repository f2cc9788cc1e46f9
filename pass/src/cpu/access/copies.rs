//! Copies, fills and masked vector accesses that the device stages do not replace.

use super::memory::common_align;
use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::Value;

/// The maximum length of a copy that is unrolled; the preparation turns longer copies into loops.
const LONGEST: u64 = 256;

impl<'c> Emitter<'_, 'c> {
    /// Lowers `llvm.memcpy`, `memmove` and `memset` of a constant length: all words are read before any is written.
    pub fn memory_intrinsic(&mut self, call: Value<'c>, name: &str) -> Emitted<()> {
        let arguments = call.arguments();
        let length = arguments[2].as_u64().filter(|length| *length <= LONGEST);
        let Some(length) = length else { return Err(Refusal::new(call, format!("{name} of this length"))) };
        let to = self.lay(arguments[0])?;
        let mask = self.access_mask();
        let fills = name.starts_with("llvm.memset");
        let mut words = Vec::new();
        let from = if fills { None } else { Some(self.lay(arguments[1])?) };
        let fill = if fills { Some(self.vector(arguments[1])?) } else { None };
        let mut at = 0;
        while at < length {
            let bytes = [8, 4, 2, 1].into_iter().find(|bytes| at + bytes <= length).unwrap_or(1);
            let ty = self.t.int(8 * bytes as u32);
            let value = match (&from, fill) {
                (Some(from), _) => {
                    let lay = self.scattered(&self.moved(from, at));
                    self.load_lanes(ty, &lay, mask, 1)
                }
                (None, Some(byte)) => {
                    let wide = self.b.zext(byte, ty.vector(LANES));
                    self.b.mul(wide, self.same(wide, 0x0101_0101_0101_0101))
                }
                (None, None) => return Err(Refusal::new(call, name)),
            };
            words.push((at, value));
            at += bytes;
        }
        for (at, value) in words {
            let lay = self.scattered(&self.moved(&to, at));
            self.store_leaf(&Leaf::Lanes(value), &lay, mask, 1);
        }
        Ok(())
    }

    fn scattered(&self, lay: &Lay<'c>) -> Lay<'c> {
        Lay::Scattered(self.addresses(lay))
    }

    /// Lowers `llvm.masked.load` and `store`, which the load-store vectoriser creates: each element has its own mask of
    /// lanes.
    pub fn masked_access(&mut self, call: Value<'c>, name: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let arguments = call.arguments();
        let loads = name.starts_with("llvm.masked.load");
        if !loads && !name.starts_with("llvm.masked.store") {
            return Err(Refusal::new(call, format!("the intrinsic {name}")));
        }
        let (pointer, condition) = if loads { (arguments[0], arguments[1]) } else { (arguments[1], arguments[2]) };
        let value = if loads { call } else { arguments[0] };
        let types = leaf_types(value.ty());
        let lay = self.lay(pointer)?;
        let conditions = self.leaves(condition)?;
        let others = if loads { self.leaves(arguments[2])? } else { self.leaves(arguments[0])? };
        let all = self.access_mask();
        let mut results = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            let bytes = u64::from(scalar_bits(*ty) / 8);
            let chosen = conditions[index].lanes(&self.b);
            let chosen = self.bits(chosen);
            let mask = self.b.and(all, chosen);
            let lay = self.scattered(&self.moved(&lay, bytes * index as u64));
            let align = common_align(bytes, bytes * index as u64);
            if loads {
                let loaded = self.load_lanes(*ty, &lay, mask, align);
                let other = others[index].lanes(&self.b);
                results.push(Leaf::Lanes(self.b.select(self.lanes_of(mask), loaded, other)));
            } else {
                self.store_leaf(&others[index], &lay, mask, align);
            }
        }
        Ok(loads.then_some(results))
    }
}
