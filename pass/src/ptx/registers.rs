//! Registers that inline assembly reads.

use super::parse::{self, Operand};
use crate::ir::class::{Register, named_register};
use crate::llvm::{Builder, ModuleItems};
use inkwell::module::Module;

/// Replaces inline assembly that only copies a register with a constant value by the intrinsic that reads the register.
/// The analysis has the range and the uniformity of this intrinsic. CUDA's headers read several registers in this way.
pub fn name_registers(module: &Module<'_>) {
    let b = Builder::new(module.types());
    for function in module.functions() {
        for call in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let Some(callee) = call.called_value().filter(|callee| callee.is_inline_asm()) else { continue };
            let Some(name) = copied(&callee.asm_text()).filter(|_| call.ty().int_bits() == Some(32)) else { continue };
            b.before(call);
            let read = b.call(module.intrinsic(&name, &[]), &[]);
            call.replace_all_uses_with(read);
            call.erase();
        }
    }
}

/// Returns the intrinsic that reads the register which the assembly copies.
fn copied(text: &str) -> Option<String> {
    let statements = parse::parse(text)?;
    let [statement] = &statements[..] else { return None };
    let [Operand::Argument(0), Operand::Register(name)] = &statement.operands[..] else { return None };
    let moves = statement.operation.first().is_some_and(|operation| operation == "mov") && statement.guard.is_none();
    let register = named_register(name).filter(|_| moves)?;
    let name = match register {
        Register::LaneMask(_) => name.replace('_', "."),
        Register::Lane | Register::WarpSlot | Register::WarpSlots | Register::Sm | Register::Sms => name.clone(),
        Register::Workspace(_) => name.clone(),
        _ => return None,
    };
    Some(format!("llvm.nvvm.read.ptx.sreg.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_copies_are_known() {
        let smid = Some("llvm.nvvm.read.ptx.sreg.smid".into());
        assert_eq!(copied("mov.u32 $0, %smid;"), smid);
        assert_eq!(copied("{ mov.b32\t$0, %smid; }"), smid);
        assert_eq!(copied("mov.u32 $0, %lanemask_lt;"), Some("llvm.nvvm.read.ptx.sreg.lanemask.lt".into()));
        assert_eq!(copied("mov.u32 $0, %envreg1;"), Some("llvm.nvvm.read.ptx.sreg.envreg1".into()));
        assert_eq!(copied("mov.u32 $0, %clock;"), None);
        assert_eq!(copied("mov.u32 $0, $1;"), None);
        assert_eq!(copied("mov.u32 $0, %smid; add.u32 $0, $0, 1;"), None);
    }
}
