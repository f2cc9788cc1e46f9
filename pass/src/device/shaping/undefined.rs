//! Operands of inline assembly that are undefined.

use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;

/// Replaces each of them by zero. On a GPU, such an operand is the content of some register, even if it is a guard
/// (`@$1 st.global…`), which Triton generates for a loop variable that is used after the loop. In lowered code, a guard
/// is a branch, and with a branch on an undefined value, LLVM may treat everything after it as unreachable; the kernel
/// then continued into the next function.
pub fn settle_assembly(module: &Module<'_>) {
    for call in
        ModuleItems::functions(module).into_iter().flat_map(Value::blocks).flat_map(|block| block.instructions())
    {
        if !call.called_value().is_some_and(Value::is_inline_asm) {
            continue;
        }
        for (index, argument) in (0..).zip(call.call_arguments()) {
            if argument.is_undef() {
                call.set_operand(index, Value::zero(argument.ty()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    #[test]
    fn undefined_guards_and_addresses_are_zero() {
        let text = "define ptx_kernel void @k(ptr addrspace(1) %p, i32 %v) {\n\
                    \x20 call void asm sideeffect \"@$2 st.global.b32 [ $1 + 0 ], { $0 };\", \"r,l,b\"(i32 %v, ptr addrspace(1) poison, i1 poison)\n\
                    \x20 call void asm sideeffect \"@$2 st.global.b32 [ $1 + 0 ], { $0 };\", \"r,l,b\"(i32 undef, ptr addrspace(1) %p, i1 true)\n\
                    \x20 ret void\n}\n";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR");
        settle_assembly(&module);
        let text = module.print_to_string().to_string();
        assert!(text.contains("(i32 %v, ptr addrspace(1) null, i1 false)"), "{text}");
        assert!(text.contains("(i32 0, ptr addrspace(1) %p, i1 true)"), "{text}");
    }
}
