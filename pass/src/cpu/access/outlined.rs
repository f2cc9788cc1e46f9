//! Accesses of lanes with arbitrary addresses in large functions: recording, check and detour are one call.
//!
//! Written out, each access would have five blocks, which would be most of a hooked kernel whose tiles are unrolled
//! into hundreds of accesses.

use super::compact;
use super::detour::description;
use crate::cpu::emitter::{Emitter, context};
use crate::cpu::target::checked::Checked;
use crate::cpu::target::types::LANES;
use crate::cpu::target::unit::Unit;
use crate::llvm::{Builder, ModuleItems, Value};

impl<'c> Emitter<'_, 'c> {
    /// Records and checks an access by the lanes of the block, with these addresses, and returns the lanes that may
    /// perform it. Addresses in `known` are valid; addresses in items are reduced by `shift`.
    pub fn record_scattered(
        &mut self,
        what: &Checked,
        lanes: Value<'c>,
        shift: Option<Value<'c>>,
        known: [Value<'c>; 2],
    ) -> Value<'c> {
        let description = self.description(what, 0);
        let place = self.spill(lanes);
        let shift = shift.unwrap_or(self.i64(0));
        let arguments = [self.context(), description, self.mask(), shift, known[0], known[1], place];
        let allowed = self.b.call(self.unit().scattered_helper(), &arguments);
        if self.promised() > 0 {
            let cursor = self.field_now(context::RECORD_CURSOR);
            self.accesses.move_cursor(|_| cursor);
        }
        allowed
    }
}

impl<'c> Unit<'c> {
    /// `(context, access, mask, shift, low, high, addresses) -> mask`: reserves room in the record buffer, writes the
    /// item of an access and tests whether all lanes are in `low ..= high`. If they are not, it takes the detour.
    fn scattered_helper(&self) -> Value<'c> {
        let name = "warpline.scattered";
        if let Some(function) = ModuleItems::function(&self.target, name) {
            return function;
        }
        let (pointer, int, long) = (self.t.pointer(0), self.t.int(32), self.t.int(64));
        let parameters = [pointer, pointer, int, long, long, long, pointer];
        let function = self.new_helper(name, int.function(&parameters));
        let [context, description, mask, shift, low, high, place] = function.parameters()[..] else { return function };
        let b = Builder::new(self.t);
        let [entry, flush, room, good, bad] =
            ["entry", "flush", "room", "good", "bad"].map(|name| function.append_block(name));
        let word = |offset: u64| b.load(int, b.offset(description, offset), 4);
        let field = |field: context::Field| b.load(field.ty(self.t), b.offset(context, field.offset), field.align());

        b.at_end(entry);
        let before = field(context::RECORD_CURSOR);
        let after = b.add(b.ptr_to_int(before, long), b.zext(word(description::ROOM), long));
        b.branch_if(b.ugt(after, b.ptr_to_int(field(context::RECORD_END), long)), flush, room);
        b.at_end(flush);
        b.call(self.quiet(self.runtime().flush()), &[context]);
        let fresh = field(context::RECORD_CURSOR);
        b.branch(room);

        b.at_end(room);
        let item = b.phi(pointer);
        item.add_incoming(&[(before, entry), (fresh, flush)]);
        b.store(word(description::HEAD), item, 8);
        b.store(mask, b.offset(item, 4), 4);
        let addresses = b.sub(b.load(long.vector(LANES), place, 64), b.splat(shift, LANES));
        b.store(addresses, b.offset(item, 8), 8);
        let less_one = |offset: u64| b.zext(b.sub(word(offset), Value::int(int, 1)), long);
        let ends = [low, high].map(|end| b.sub(end, shift));
        let arguments =
            [item, ends[0], ends[1], Value::zero(long), less_one(description::BYTES), less_one(description::ALIGN)];
        let result = b.call(self.compact_helper(), &arguments);
        let bytes = b.and(result, Value::int(long, !compact::BAD));
        b.branch_if(b.trunc(result, self.t.int(1)), bad, good);

        b.at_end(good);
        b.store(b.gep(self.t.int(8), item, &[bytes]), b.offset(context, context::RECORD_CURSOR.offset), 8);
        b.return_value(mask);

        b.at_end(bad);
        let address = b.ptr_to_int(place, long);
        b.return_value(b.call(self.detour_helper(None), &[context, description, mask, shift, bytes, address]));
        function
    }
}
