//! Hooks: accesses, and the counts of blocks and branches.

use crate::cpu::access::guarded::is_under_guard;
use crate::cpu::emitter::lanes::{Allowed, Lay};
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter, context};
use crate::cpu::error::Refusal;
use crate::cpu::target::checked::Checked;
use crate::llvm::Value;
use warpline_format::abi::count_cells;
use warpline_format::access::Space;

/// Returns whether inline assembly performs a hook's access: it is the next instruction that is not a hook, or the hook
/// is under a guard.
fn is_of_assembly(hook: Value<'_>) -> bool {
    let is_hook = |value: &Value<'_>| value.callee_name().starts_with("__warpline_");
    let mut next = hook.next();
    while let Some(value) = next.filter(is_hook) {
        next = value.next();
    }
    is_under_guard(hook) || next.is_some_and(|value| value.called_value().is_some_and(Value::is_inline_asm))
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `__warpline_access_*`: checks the addresses and records them. Lanes that may not continue are excluded
    /// from the access itself, which follows.
    pub fn access_hook(&mut self, hook: Value<'c>) -> Emitted<()> {
        let (what, pointer) = self.hooked_access(hook)?;
        let lay = self.checked_lay(hook, &what, pointer)?;
        let local = self.local_range_of(&what, pointer)?;
        let known = local.unwrap_or_else(|| self.known_range(&what));
        if !what.recorded {
            return self.check_alone(hook, &what, &lay, known);
        }
        let shift = (what.space == Space::Shared).then(|| self.field(context::SHARED));
        if let Lay::Scattered(lanes) = lay
            && self.is_large()
            && what.bundle.is_none()
            && what.bytes.min(what.align) > 0
            && local.is_none()
        {
            let before = self.accesses.take_allowed();
            let mask = self.record_scattered(&what, lanes, shift, known);
            let allowed = self.with_earlier(Allowed { mask, bases: Vec::new() }, before);
            self.accesses.allow(allowed);
            self.keep_for_guarded(hook);
            return Ok(());
        }
        let written = self.write_checked(&what, &lay, shift, known);
        if let Some(bundle) = &what.bundle {
            self.accesses.suspect(bundle.field, written.bad);
        }
        let before = self.accesses.take_allowed();
        let allowed = self.settle(&what, &lay, shift, Some(&written), written.bad, local);
        let allowed = self.with_earlier(allowed, before);
        self.accesses.allow(allowed);
        self.keep_for_guarded(hook);
        Ok(())
    }

    /// Checks a local access that has no record because its variable is in registers on a GPU.
    fn check_alone(&mut self, hook: Value<'c>, what: &Checked, lay: &Lay<'c>, range: [Value<'c>; 2]) -> Emitted<()> {
        let bad = match lay {
            Lay::Same(address) => self.suspicion(&[*address], 0, what, range),
            Lay::Strided(bases, stride) => self.suspicion(bases, *stride, what, range),
            // The check reads an item that is never recorded.
            Lay::Scattered(_) | Lay::Likely(..) => self.write_checked(what, lay, None, range).bad,
        };
        if let Some(bundle) = &what.bundle {
            self.accesses.suspect(bundle.field, bad);
        }
        let before = self.accesses.take_allowed();
        let allowed = self.settle(what, lay, None, None, bad, Some(range));
        let allowed = self.with_earlier(allowed, before);
        self.accesses.allow(allowed);
        self.keep_for_guarded(hook);
        Ok(())
    }

    /// Combines the results for an instruction with several accesses: a lane executes it if it may perform all of them.
    fn with_earlier(&self, mut allowed: Allowed<'c>, before: Option<Allowed<'c>>) -> Allowed<'c> {
        if let Some(before) = before {
            allowed.mask = self.b.and(allowed.mask, before.mask);
        }
        allowed
    }

    /// Lowers `__warpline_member_*`, an access that was checked and recorded with the first access of its bundle,
    /// unless some access of the bundle was bad.
    pub fn member_hook(&mut self, hook: Value<'c>) -> Emitted<()> {
        let (what, pointer) = self.hooked_access(hook)?;
        let bundle = hook.arguments().get(2).and_then(|index| index.as_u64());
        let bad = bundle.and_then(|index| self.unit().bundle_field(index as u32));
        let Some(bad) = bad.and_then(|field| self.accesses.suspicion(field)) else {
            return Err(Refusal::new(hook, "a hook of a bundle that has not begun"));
        };
        let lay = self.checked_lay(hook, &what, pointer)?;
        let local = self.local_range_of(&what, pointer)?;
        let shift = (what.space == Space::Shared).then(|| self.field(context::SHARED));
        let allowed = self.settle(&what, &lay, shift, None, bad, local);
        self.accesses.allow(allowed);
        Ok(())
    }

    /// Returns the positions of the lanes of an access, in the form that its check and its record use.
    fn checked_lay(&mut self, hook: Value<'c>, what: &Checked, pointer: Value<'c>) -> Emitted<Lay<'c>> {
        if what.space == Space::Local {
            return self.local_offsets(pointer);
        }
        let leaf = self.leaf(pointer)?;
        // For other spaces, it is a pointer that was null, or near null.
        if what.space == Space::Shared
            && is_of_assembly(hook)
            && let Some(address) = leaf.scalar().and_then(|number| self.literal_shared(number))
        {
            return Ok(Lay::Same(address));
        }
        Ok(self.lay_of(pointer, leaf))
    }

    /// Returns the range that a local access may touch.
    fn local_range_of(&mut self, what: &Checked, pointer: Value<'c>) -> Emitted<Option<[Value<'c>; 2]>> {
        if what.space == Space::Local { self.local_range(pointer).map(Some) } else { Ok(None) }
    }

    /// Returns the site and the pointer of a hook.
    fn hooked_access(&self, hook: Value<'c>) -> Emitted<(Checked, Value<'c>)> {
        let arguments = hook.arguments();
        let Some(number) = arguments.first().and_then(|site| site.as_u64()) else {
            return Err(Refusal::new(hook, "a hook without a site number"));
        };
        let Some(what) = self.unit().checked(number as u32) else {
            return Err(Refusal::new(hook, "a hook whose site is not in the table"));
        };
        Ok((what, arguments[1]))
    }

    fn add_to_cell(&self, cells: Value<'c>, cell: u64, amount: Value<'c>) {
        let place = self.b.offset(cells, 8 * cell);
        let before = self.b.load(self.t.int(64), place, 8);
        self.b.store(self.b.add(before, amount), place, 8);
    }

    /// Lowers `__warpline_block`: updates the clock and, with hooks, the counts.
    pub fn block_hook(&mut self, hook: Value<'c>) -> Emitted<()> {
        let Some(number) = hook.operand(0).as_u64() else { return Err(Refusal::new(hook, "a hook without a number")) };
        let Some(instructions) = self.unit().block_instructions(number as usize) else {
            return Err(Refusal::new(hook, "a hook whose block is not in the table"));
        };
        if self.hooked() || self.unit().reads_clock() {
            let clock = self.field_now(context::CLOCK);
            self.set_field(context::CLOCK, self.b.add(clock, self.i64(instructions)));
        }
        if !self.hooked() {
            return Ok(());
        }
        let live = self.live();
        let long = self.t.int(64);
        let cells = self.field_now(context::COUNTS);
        let first = count_cells::of_block(number);
        self.add_to_cell(cells, first + count_cells::EXECUTIONS, self.i64(1));
        let lanes = self.b.zext(self.count(self.mask()), long);
        self.add_to_cell(cells, first + count_cells::LANES, lanes);
        let partial = self.b.zext(self.b.ne(self.mask(), live), long);
        self.add_to_cell(cells, first + count_cells::PARTIAL, partial);
        Ok(())
    }

    /// Lowers `__warpline_branch` and `__warpline_switch`.
    pub fn branch_hook(&mut self, hook: Value<'c>, switch: bool) -> Emitted<()> {
        let Some(number) = hook.operand(0).as_u64() else { return Err(Refusal::new(hook, "a hook without a number")) };
        let Some((cell, sides)) = self.unit().branch_cells(number as usize) else {
            return Err(Refusal::new(hook, "a hook whose branch is not in the table"));
        };
        let chooser = self.leaf(hook.operand(1))?;
        let cells = self.field_now(context::COUNTS);
        let long = self.t.int(64);
        let first_side = cell + count_cells::BRANCH_FIXED;
        self.add_to_cell(cells, cell, self.i64(1));
        if let Leaf::Uniform(chooser) = chooser {
            let lanes = self.b.zext(self.count(self.mask()), long);
            let side =
                if switch { self.b.zext(chooser, long) } else { self.b.select(chooser, self.i64(0), self.i64(1)) };
            let index = self.b.add(side, self.i64(first_side));
            let place = self.b.gep(long, cells, &[index]);
            let before = self.b.load(long, place, 8);
            self.b.store(self.b.add(before, lanes), place, 8);
            return Ok(());
        }
        let chooser = chooser.lanes(&self.b);
        let mut used = self.i64(0);
        for side in 0..sides {
            let taken = match (switch, side) {
                (false, 0) => self.bits(chooser),
                (false, _) => {
                    let taken = self.bits(chooser);
                    self.b.and(self.mask(), self.b.not(taken))
                }
                (true, _) => {
                    let equal = self.b.eq(chooser, self.same(chooser, u64::from(side)));
                    self.bits(equal)
                }
            };
            let lanes = self.b.zext(self.count(taken), long);
            self.add_to_cell(cells, first_side + u64::from(side), lanes);
            used = self.b.add(used, self.b.zext(self.b.ne(taken, self.i32(0)), long));
        }
        let divergent = self.b.zext(self.b.ugt(used, self.i64(1)), long);
        self.add_to_cell(cells, cell + count_cells::DIVERGENT, divergent);
        Ok(())
    }
}
