//! Detours: the handling of an access that some of its lanes may not perform.
//!
//! Hardly any access takes a detour, but every access could. Therefore, nearly all of the code is in one function per
//! module and form of address, which the access calls with scalars. Code in the access itself would be most of a hooked
//! kernel, and LLVM would compute its vectors of addresses before loops and keep them in registers or memory.

use super::record::{Written, raw_head};
use crate::cpu::emitter::lanes::{Allowed, Lay};
use crate::cpu::emitter::{Emitter, context};
use crate::cpu::target::checked::Checked;
use crate::cpu::target::types::LANES;
use crate::cpu::target::unit::Unit;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::value::Linkage;
use crate::llvm::{Builder, ModuleItems, Value};
use warpline_format::access::MAX_ITEM_BYTES;

/// Byte offsets in the description of an access for its detour, which is a constant of the module.
pub(super) mod description {
    pub const SITE: u64 = 0;
    pub const SPACE: u64 = 4;
    pub const BYTES: u64 = 8;
    pub const ALIGN: u64 = 12;
    /// The first word of the item for the lanes that continue.
    pub const HEAD: u64 = 16;
    /// The room for this item and for the items after it for which the main path has reserved room.
    pub const ROOM: u64 = 20;
    pub const STRIDE: u64 = 24;
}

impl<'c> Emitter<'_, 'c> {
    /// Makes the item of an access count, if the access has its own item. If the access is suspicious (`bad`) and the
    /// runtime finds that not all lanes may continue, the lanes that may continue get a new item. An access of a bundle
    /// with a bad access always gets its own item, because the bundle's item assumes that all its accesses are like the
    /// first one. Addresses in items are reduced by `shift`. For a `local` access, the function passes the valid range,
    /// which the runtime does not have; the lay of such an access contains offsets.
    pub fn settle(
        &mut self,
        what: &Checked,
        lay: &Lay<'c>,
        shift: Option<Value<'c>>,
        item: Option<&Written<'c>>,
        bad: Value<'c>,
        local: Option<[Value<'c>; 2]>,
    ) -> Allowed<'c> {
        let (check, good, joined) = (self.new_block("check"), self.new_block("checked"), self.new_block("joined"));
        let per_group = match lay {
            _ if local.is_some() => Vec::new(),
            Lay::Same(address) => vec![*address],
            Lay::Strided(bases, 0) => bases.clone(),
            _ => Vec::new(),
        };
        let usual = self.active_bases(&per_group, self.mask());
        // Both paths read the addresses from memory, as the access itself does.
        let spilled = match lay {
            Lay::Scattered(lanes) if self.is_large() => {
                self.spill(*lanes);
                Some(*lanes)
            }
            _ => None,
        };
        self.branch_unlikely(bad, check, good);

        self.b.at_end(check);
        self.accesses.note_spill(spilled, check);
        if let Some([first, last]) = local {
            let range = self.unit().site_range(&self.b, what.site);
            self.b.store(first, range, 8);
            self.b.store(last, self.b.offset(range, 8), 8);
        }
        let bytes = item.filter(|_| what.bundle.is_none()).map(|item| item.bytes);
        let (mask, cursor) = self.query(what, lay, shift, bytes);
        let readable: Vec<_> =
            (self.active_bases(&per_group, mask).into_iter()).map(|base| self.readable(base, mask)).collect();
        self.b.branch(joined);

        self.b.at_end(good);
        if let Some(item) = item {
            self.commit(item.place, item.bytes);
        }
        self.b.branch(joined);

        self.b.at_end(joined);
        self.accesses.note_spill(spilled, joined);
        let merged = |ours: Value<'c>, theirs: Value<'c>| {
            let phi = self.b.phi(ours.ty());
            phi.add_incoming(&[(ours, good), (theirs, check)]);
            phi
        };
        let mask = merged(self.mask(), mask);
        let bases = usual.iter().zip(&readable).map(|(ours, theirs)| merged(*ours, *theirs)).collect();
        self.accesses.move_cursor(|usual| merged(usual, cursor));
        Allowed { mask, bases }
    }

    /// Calls the runtime and returns the lanes that may continue, and the record cursor after the call. `bytes` is the
    /// size of the item that counts if all lanes may continue.
    fn query(
        &mut self,
        what: &Checked,
        lay: &Lay<'c>,
        shift: Option<Value<'c>>,
        bytes: Option<Value<'c>>,
    ) -> (Value<'c>, Value<'c>) {
        let stride = if let Lay::Strided(_, stride) = lay { *stride } else { 0 };
        let description = self.description(what, stride);
        let (places, groups) = match lay {
            Lay::Same(address) => (vec![*address], Some(1)),
            Lay::Strided(bases, _) => (bases.clone(), Some(bases.len())),
            Lay::Scattered(lanes) | Lay::Likely(lanes, _) => {
                let place = self.spill(*lanes);
                (vec![self.b.ptr_to_int(place, self.t.int(64))], None)
            }
        };
        // 0 bytes mean that no item exists.
        let bytes = bytes.unwrap_or(self.i64(0));
        let mut arguments = vec![self.context(), description, self.mask(), shift.unwrap_or(self.i64(0)), bytes];
        arguments.extend(places);
        let mask = self.b.call(self.unit().detour_helper(groups), &arguments);
        (mask, self.field_now(context::RECORD_CURSOR))
    }

    /// Returns the description of an access for its detour.
    pub(super) fn description(&self, what: &Checked, stride: i64) -> Value<'c> {
        // Without room, no record is written.
        let room = if what.recorded { self.promised() + MAX_ITEM_BYTES as u64 } else { 0 };
        let name = format!("warpline.access.{}.{stride}.{room}", what.site);
        if let Some(known) = self.unit().target.variable(&name) {
            return known;
        }
        let words = [what.site, what.space as u32, what.bytes, what.align, raw_head(what), room as u32];
        let mut fields: Vec<_> = words.map(|word| self.i32(word)).to_vec();
        fields.push(self.i64(stride as u64));
        let value = Value::structure(self.t, &fields, false);
        let description = self.unit().target.new_variable(&name, value.ty(), 0);
        description.set_linkage(Linkage::LLVMPrivateLinkage);
        description.set_initializer(value);
        description.set_constant(true);
        description.set_alignment(8);
        description
    }

    /// Returns the addresses of a lay in memory, computed by a call, for paths that are rarely taken.
    pub fn addresses_in_memory(&mut self, lay: &Lay<'c>) -> Value<'c> {
        let (bases, stride) = match lay {
            Lay::Same(address) => (vec![*address], 0),
            Lay::Strided(bases, stride) => (bases.clone(), *stride),
            Lay::Scattered(lanes) | Lay::Likely(lanes, _) => return self.spill(*lanes),
        };
        let place = self.address_room();
        self.accesses.note_spill(None, self.b.block());
        let helper = self.unit().addresses_helper(bases.len());
        let mut arguments = vec![place, self.i64(stride as u64)];
        arguments.extend(bases);
        self.b.call(helper, &arguments);
        place
    }
}

impl<'c> Unit<'c> {
    /// Returns the addresses of evenly spaced lanes, from a base per group.
    fn even(&self, b: &Builder<'c>, bases: &[Value<'c>], stride: Value<'c>) -> Value<'c> {
        let per_group = LANES / bases.len().max(1) as u32;
        let steps: Vec<_> = (0..LANES).map(|lane| Value::int(self.t.int(64), u64::from(lane % per_group))).collect();
        let spread = match bases {
            [low, high] => {
                let halves: Vec<_> = (0..LANES).map(|lane| Some(if lane < per_group { 0 } else { LANES })).collect();
                b.shuffle(b.splat(*low, LANES), b.splat(*high, LANES), &halves)
            }
            _ => b.splat(bases[0], LANES),
        };
        b.add(spread, b.mul(Value::vector(&steps), b.splat(stride, LANES)))
    }

    /// `(place, stride, base...)`: writes the addresses of evenly spaced lanes.
    fn addresses_helper(&self, groups: usize) -> Value<'c> {
        let name = format!("warpline.addresses.{groups}");
        if let Some(function) = ModuleItems::function(&self.target, &name) {
            return function;
        }
        let long = self.t.int(64);
        let mut parameters = vec![self.t.pointer(0), long];
        parameters.extend(vec![long; groups]);
        let function = self.new_helper(&name, self.t.void().function(&parameters));
        function.add_attribute(OF_FUNCTION, "cold", 0);
        let parameters = function.parameters();
        let b = Builder::new(self.t);
        b.at_end(function.append_block("entry"));
        b.store(self.even(&b, &parameters[2..], parameters[1]), parameters[0], 64);
        b.return_void();
        function
    }

    /// `(context, access, mask, shift, bytes, where...) -> mask`: queries the runtime which lanes of a suspicious
    /// access may perform it. If all of them may, the function makes their item of `bytes` bytes count. If not all may,
    /// or if no item exists (0 bytes), it writes an item for the lanes that may continue, unless there are none or
    /// the access has no records. `where` is a base per group of lanes, or (for `None`) the position of the addresses
    /// of all lanes.
    pub(super) fn detour_helper(&self, groups: Option<usize>) -> Value<'c> {
        let name = format!("warpline.detour.{}", groups.unwrap_or(0));
        if let Some(function) = ModuleItems::function(&self.target, &name) {
            return function;
        }
        let (pointer, int, long) = (self.t.pointer(0), self.t.int(32), self.t.int(64));
        let mut parameters = vec![pointer, pointer, int, long, long];
        parameters.extend(vec![long; groups.unwrap_or(1)]);
        let function = self.new_helper(&name, int.function(&parameters));
        function.add_attribute(OF_FUNCTION, "cold", 0);
        let parameters = function.parameters();
        let [context, description, mask, shift, counting] = [0, 1, 2, 3, 4].map(|index| parameters[index]);
        let b = Builder::new(self.t);
        let [entry, all, parted, look, flush, room, record, done] =
            ["entry", "all", "parted", "look", "flush", "room", "record", "done"]
                .map(|name| function.append_block(name));
        let word = |offset: u64| b.load(int, b.offset(description, offset), 4);
        let field = |field: context::Field| b.load(field.ty(self.t), b.offset(context, field.offset), field.align());

        b.at_end(entry);
        let lanes = long.vector(LANES);
        let place = match groups {
            Some(_) => {
                let place = b.alloca(lanes, 64);
                let stride = b.load(long, b.offset(description, description::STRIDE), 8);
                b.store(self.even(&b, &parameters[5..], stride), place, 64);
                place
            }
            None => b.int_to_ptr(parameters[5], pointer),
        };
        let site = word(description::SITE);
        let range = b.gep(self.t.int(8), self.site_range(&b, 0), &[b.shl(b.zext(site, long), Value::int(long, 4))]);
        let (space, bytes, align) = (word(description::SPACE), word(description::BYTES), word(description::ALIGN));
        self.clear_uppers(&b);
        let allowed = b.call(self.runtime().check(), &[context, range, site, space, mask, place, bytes, align]);
        let whole = b.and(b.eq(allowed, mask), b.ne(counting, Value::zero(long)));
        b.branch_if(whole, all, parted);

        let advance = |by: Value<'c>| {
            let cursor = b.gep(self.t.int(8), field(context::RECORD_CURSOR), &[by]);
            b.store(cursor, b.offset(context, context::RECORD_CURSOR.offset), 8);
            b.branch(done);
        };
        b.at_end(all);
        advance(counting);

        b.at_end(parted);
        let needed = b.zext(word(description::ROOM), long);
        b.branch_if(b.eq(needed, Value::zero(long)), done, look);
        b.at_end(look);
        let cursor = field(context::RECORD_CURSOR);
        let after = b.add(b.ptr_to_int(cursor, long), needed);
        b.branch_if(b.ugt(after, b.ptr_to_int(field(context::RECORD_END), long)), flush, room);
        b.at_end(flush);
        b.call(self.runtime().flush(), &[context]);
        b.branch(room);

        b.at_end(room);
        b.branch_if(b.eq(allowed, Value::zero(int)), done, record);
        b.at_end(record);
        let cursor = field(context::RECORD_CURSOR);
        b.store(word(description::HEAD), cursor, 8);
        b.store(allowed, b.offset(cursor, 4), 4);
        let addresses = b.sub(b.load(lanes, place, 8), b.splat(shift, LANES));
        b.store(addresses, b.offset(cursor, 8), 8);
        advance(Value::int(long, MAX_ITEM_BYTES as u64));

        b.at_end(done);
        b.return_value(allowed);
        function
    }
}
