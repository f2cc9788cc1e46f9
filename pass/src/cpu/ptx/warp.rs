//! Instructions of inline assembly in which the lanes of a warp exchange values.

use super::machine::Machine;
use crate::cpu::emitter::Emitter;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::target::types::LANES;
use crate::llvm::Value;
use crate::ptx::parse::Operand;

/// Returns whether this file lowers an instruction.
pub(super) fn exchanges(opcode: &str) -> bool {
    matches!(opcode, "shfl" | "vote" | "match" | "redux" | "elect" | "activemask")
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers `shfl`, `vote`, `match`, `redux`, `elect` and `activemask`; returns `None` for a form that is not
    /// supported.
    pub fn asm_exchange(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let (result, sources) = operands.split_first()?;
        match parts[0] {
            "activemask" => {
                let lanes = self.b.splat(self.mask(), LANES);
                self.write(machine, result, lanes, guard)
            }
            "shfl" => self.asm_shuffle(machine, parts, result, sources, guard),
            "vote" => self.asm_vote(machine, parts, result, sources, guard),
            "match" => self.asm_match(machine, parts, result, sources, guard),
            "redux" => self.asm_redux(machine, parts, result, sources, guard),
            _ => self.asm_elect(machine, result, sources, guard),
        }
    }

    /// Writes a value to `a|p` or `a` and, if it is a pair, a predicate.
    fn write_pair(
        &mut self,
        machine: &mut Machine<'c>,
        result: &Operand,
        (value, predicate): (Value<'c>, Value<'c>),
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let Operand::Pair(first, second) = result else { return self.write(machine, result, value, guard) };
        self.write(machine, first, value, guard)?;
        self.write(machine, second, predicate, guard)
    }

    fn asm_shuffle(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        result: &Operand,
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let [value, amount, control, ..] = sources else { return None };
        let value = self.read(machine, value, 32)?;
        let (amount, control) = (self.read(machine, amount, 32)?, self.read(machine, control, 32)?);
        let mode = parts.iter().copied().find(|part| matches!(*part, "up" | "down" | "bfly" | "idx"))?;
        let shuffled = self.shuffle_lanes(value, mode, &Leaf::Lanes(amount), &Leaf::Lanes(control));
        self.write_pair(machine, result, shuffled, guard)
    }

    fn asm_vote(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        result: &Operand,
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let (votes, members) = match sources {
            [votes] => (votes, self.b.splat(self.i32(u32::MAX), LANES)),
            [votes, members] => (votes, self.read(machine, members, 32)?),
            _ => return None,
        };
        let votes = self.signed_predicate(machine, votes)?;
        let votes = self.bits(votes);
        // Limits lanes to the participating members.
        let among = |this: &Self, lanes| this.b.and(this.b.splat(lanes, LANES), members);
        let (yes, all) = (among(self, self.b.and(votes, self.mask())), among(self, self.mask()));
        let mode = parts.iter().find(|part| matches!(**part, "ballot" | "any" | "all" | "uni"))?;
        let value = match *mode {
            "ballot" => yes,
            "any" => self.b.ne(yes, self.same(yes, 0)),
            "all" => self.b.eq(yes, all),
            _ => self.b.or(self.b.eq(yes, all), self.b.eq(yes, self.same(yes, 0))),
        };
        self.write(machine, result, value, guard)
    }

    fn asm_match(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        result: &Operand,
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let [value, members] = sources else { return None };
        let bits = if parts.contains(&"b64") { 64 } else { 32 };
        let value = self.read(machine, value, bits)?;
        let members = self.read(machine, members, 32)?;
        let (matches, members) = self.matching_lanes(value, members);
        let all = self.b.eq(matches, members);
        let value = match (parts.contains(&"any"), parts.contains(&"all")) {
            (true, _) => matches,
            (_, true) => self.b.select(all, members, self.same(members, 0)),
            _ => return None,
        };
        self.write_pair(machine, result, (value, all), guard)
    }

    fn asm_redux(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        result: &Operand,
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let [value, members] = sources else { return None };
        let operation = match (*parts.get(2)?, *parts.last()?) {
            ("min", "u32") => "umin",
            ("max", "u32") => "umax",
            (one @ ("min" | "max"), "s32") | (one @ "add", "u32" | "s32") | (one @ ("and" | "or" | "xor"), "b32") => {
                one
            }
            _ => return None,
        };
        let (value, members) = (self.read(machine, value, 32)?, self.read(machine, members, 32)?);
        let Leaf::Lanes(reduced) = self.reduced(operation, value, Leaf::Lanes(members))? else { return None };
        self.write(machine, result, reduced, guard)
    }

    /// Lowers `elect.sync d|p, members`: selects the lowest of the members that execute it.
    fn asm_elect(
        &mut self,
        machine: &mut Machine<'c>,
        result: &Operand,
        sources: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let [members] = sources else { return None };
        let members = self.read(machine, members, 32)?;
        let running = self.b.and(members, self.b.splat(self.mask(), LANES));
        let cttz = self.unit().intrinsic("llvm.cttz", &[running.ty()]);
        let leader = self.b.call(cttz, &[running, Value::int(self.t.int(1), 0)]);
        let lanes: Vec<_> = (0..LANES).map(|lane| self.i32(lane)).collect();
        let elected = self.b.eq(leader, Value::vector(&lanes));
        self.write_pair(machine, result, (leader, elected), guard)
    }
}
