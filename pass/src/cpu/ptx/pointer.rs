//! Pointers and their spaces in inline assembly.

use super::machine::Machine;
use crate::cpu::emitter::Emitter;
use crate::llvm::Value;
use crate::ptx::parse::Operand;

impl<'c> Emitter<'_, 'c> {
    /// Lowers `cvta`. Generic, global and shared pointers are host addresses; 32-bit shared pointers do not contain the
    /// upper half. Pointers to the lanes' stacks are offsets.
    pub fn asm_converted_pointer(
        &mut self,
        machine: &Machine<'c>,
        parts: &[&str],
        source: &Operand,
        bits: u32,
    ) -> Option<Value<'c>> {
        let value = self.read(machine, source, bits)?;
        let back = parts.contains(&"to");
        if parts.contains(&"local") {
            if bits != 64 {
                return None;
            }
            let stacks = self.lane_stacks();
            return Some(if back { self.b.sub(value, stacks) } else { self.b.add(value, stacks) });
        }
        if bits != 64 {
            return back.then_some(value);
        }
        if parts.contains(&"shared") && !back {
            // A 32-bit register that was extended does not contain the upper half, which is not zero in any address.
            let low = self.b.trunc(value, self.int_lanes(32));
            let whole = self.widen_shared(low);
            let cut = self.b.eq(self.b.lshr(value, self.same(value, 32)), self.same(value, 0));
            return Some(self.b.select(cut, whole, value));
        }
        Some(value)
    }

    /// Lowers `mapa` and `getctarank`: addresses in the shared memory of other blocks of the cluster, and the ranks of
    /// their blocks.
    pub fn asm_cluster_address(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let (_, bits) = super::machine::ptx_type(parts.last()?)?;
        let [result, address, rest @ ..] = operands else { return None };
        let address = self.read(machine, address, bits)?;
        let address = if bits == 32 { self.widen_shared(address) } else { address };
        let value = match (parts[0], rest) {
            ("getctarank", []) => self.shared_rank(address),
            ("mapa", [rank]) => {
                let rank = self.read(machine, rank, 32)?;
                let mapped = self.mapped_shared(address, rank);
                self.b.fit_lanes(mapped, self.int_lanes(bits))
            }
            _ => return None,
        };
        self.write(machine, result, value, guard)
    }

    /// `isspacep`.
    pub fn asm_is_space(&mut self, machine: &Machine<'c>, parts: &[&str], source: &Operand) -> Option<Value<'c>> {
        let address = self.read(machine, source, 64)?;
        self.lies_in(parts.get(1)?, address)
    }
}
