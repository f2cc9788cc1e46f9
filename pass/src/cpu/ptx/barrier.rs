//! The barriers of inline assembly: `bar`, `barrier`, and `mbarrier` objects.

use super::machine::Machine;
use crate::cpu::emitter::Emitter;
use crate::cpu::target::types::LANES;
use crate::llvm::Value;
use crate::ptx::barrier::{Action, Barrier};
use crate::ptx::parse::Operand;
use warpline_format::abi::{barrier, mbarrier};

impl<'c> Emitter<'_, 'c> {
    /// Lowers `bar` and `barrier`; returns `None` for a form that is not supported.
    pub fn asm_barrier(&mut self, machine: &mut Machine<'c>, one: &Barrier<'_>) -> Option<()> {
        let kind = match one.action {
            Action::Sync | Action::Arrive => barrier::SYNC,
            Action::Count => barrier::COUNT,
            Action::And => barrier::AND,
            Action::Or => barrier::OR,
        };
        let votes = match one.reduced {
            Some((_, predicate, negated)) => {
                let predicate = self.predicate(machine, predicate)?;
                let predicate = if negated { self.b.not(predicate) } else { predicate };
                self.bits(predicate)
            }
            None => self.i32(0),
        };
        let result = if one.is_block_wide() {
            self.note_barrier(None);
            self.barrier(kind, votes)
        } else {
            let number = self.read(machine, one.number, 32)?;
            let threads = match one.threads {
                Some(threads) => Some(self.read(machine, threads, 32)?),
                None => None,
            };
            let number = self.first_lane(number);
            let threads = threads.map(|threads| self.first_lane(threads));
            let meeting = self.meeting(number, threads, one.action == Action::Arrive);
            self.named_barrier(kind, votes, meeting)
        };
        let Some((target, ..)) = one.reduced else { return Some(()) };
        let lanes = self.b.splat(result, LANES);
        let value = if kind == barrier::COUNT { lanes } else { self.b.ne(lanes, self.same(lanes, 0)) };
        self.write(machine, target, value, None)
    }

    /// Lowers `mbarrier` and `cp.async.mbarrier`; returns `None` for a form that is not supported.
    pub fn asm_mbarrier(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let has = |part: &str| parts.contains(&part);
        if has("pending_count") {
            let [result, state] = operands else { return None };
            let state = self.read(machine, state, 64)?;
            let pending = self.b.and(state, self.same(state, mbarrier::COUNT_MASK));
            let pending = self.b.trunc(pending, self.int_lanes(32));
            return self.write(machine, result, pending, guard);
        }
        let place = operands.iter().position(|operand| matches!(operand, Operand::Memory(..)))?;
        let operation = operation(parts)?;
        let address = self.asm_address(machine, parts, &operands[place])?;
        let operand = match operands.get(place + 1) {
            Some(operand) => {
                let bits = if matches!(operation, mbarrier::TEST) { 64 } else { 32 };
                let value = self.read(machine, operand, bits)?;
                self.b.fit_lanes(value, self.int_lanes(64))
            }
            None if matches!(operation, mbarrier::INVALIDATE | mbarrier::TOUCH) => Value::zero(self.int_lanes(64)),
            None if matches!(operation, mbarrier::ARRIVE | mbarrier::DROP) => self.b.splat(self.i64(1), LANES),
            None => return None,
        };
        let mask = self.guarded_mask(machine, guard);
        let (addresses, values) = (self.spill(address), self.entry.alloca(self.int_lanes(64), 64));
        self.b.store(operand, values, 64);
        let states = self.entry.alloca(self.int_lanes(64), 64);
        let function = self.unit().runtime().mbarrier();
        let held = self.b.call(function, &[self.context(), mask, self.i32(operation), addresses, values, states]);
        let Some(result) = operands.get(..place)?.first() else { return Some(()) };
        let value = if matches!(operation, mbarrier::TEST | mbarrier::TEST_PARITY) {
            self.lanes_of(held)
        } else {
            self.b.load(self.int_lanes(64), states, 64)
        };
        self.write(machine, result, value, guard)
    }
}

/// Returns the operation of an instruction on an object.
fn operation(parts: &[&str]) -> Option<u32> {
    let has = |part: &str| parts.contains(&part);
    if parts[0] == "cp" {
        // Copies are performed immediately. Without `noinc`, the object expects one more arrival, which is the arrival
        // of this instruction.
        return Some(if has("noinc") { mbarrier::ARRIVE } else { mbarrier::TOUCH });
    }
    Some(match *parts.get(1)? {
        "init" => mbarrier::INIT,
        "inval" => mbarrier::INVALIDATE,
        "arrive" if has("expect_tx") => mbarrier::ARRIVE_EXPECTING,
        "arrive" => mbarrier::ARRIVE,
        "arrive_drop" if has("expect_tx") => mbarrier::DROP_EXPECTING,
        "arrive_drop" => mbarrier::DROP,
        "expect_tx" => mbarrier::EXPECT,
        "complete_tx" => mbarrier::COMPLETE,
        "test_wait" | "try_wait" if has("parity") => mbarrier::TEST_PARITY,
        "test_wait" | "try_wait" => mbarrier::TEST,
        _ => return None,
    })
}
