//! Shuffles from before Volta, which have no mask (`__shfl`, `__shfl_down`, …). The back end does not support them for
//! `sm_70` and later, and the toolkit's oldest GPU is one of these, so that programs from that time would not compile
//! at all.

use crate::llvm::{Builder, ModuleItems, Value, intrinsics};
use inkwell::module::Module;

/// From this architecture on, all shuffles have masks (PTX ISA, "shfl (deprecated)").
pub const WITH_MASKS: u32 = 70;
/// The prefix of the names of the intrinsics without a mask.
const WITHOUT: &str = "llvm.nvvm.shfl.";
/// The prefix of the names of the intrinsics with a mask.
const WITH: &str = "llvm.nvvm.shfl.sync.";

/// Adds the mask of the active lanes to each of them, because every lane that executed such a shuffle took part in it.
pub fn add_masks(module: &Module<'_>) {
    let functions = ModuleItems::functions(module).into_iter();
    let calls: Vec<Value<'_>> = functions
        .filter(|function| function.name().starts_with(WITHOUT) && !function.name().starts_with(WITH))
        .flat_map(Value::users)
        .filter(|user| user.called_value().is_some_and(|called| called.name().starts_with(WITHOUT)))
        .collect();
    for call in calls {
        let name = call.called_value().map(|called| called.name().replacen(WITHOUT, WITH, 1));
        let Some(name) = name.filter(|name| intrinsics::facts(name).is_some()) else { continue };
        let builder = Builder::new(call.types());
        builder.before(call);
        builder.locate_like(Some(call));
        let mask = builder.call(module.intrinsic("llvm.nvvm.activemask", &[]), &[]);
        let mut arguments = vec![mask];
        arguments.extend(call.call_arguments());
        let shuffled = builder.call(module.intrinsic(&name, &[]), &arguments);
        call.replace_all_uses_with(shuffled);
        call.erase();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    #[test]
    fn shuffles_get_the_mask_of_the_lanes_that_are_there() {
        let text = "declare i32 @llvm.nvvm.shfl.down.i32(i32, i32, i32)\n\
                    declare float @llvm.nvvm.shfl.sync.idx.f32(i32, float, i32, i32)\n\
                    define i32 @f(i32 %v, float %w) {\n\
                    \x20 %x = call i32 @llvm.nvvm.shfl.down.i32(i32 %v, i32 16, i32 31)\n\
                    \x20 %y = call float @llvm.nvvm.shfl.sync.idx.f32(i32 -1, float %w, i32 0, i32 31)\n\
                    \x20 ret i32 %x\n}\n";
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR");
        add_masks(&module);
        crate::llvm::module::verify(&module, "shuffles").expect("it is well-formed");
        let text = module.print_to_string().to_string();
        assert!(text.contains("call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %1, i32 %v, i32 16, i32 31)"), "{text}");
        assert!(text.contains("%1 = call i32 @llvm.nvvm.activemask()"), "{text}");
        assert!(text.contains("(i32 -1, float %w, i32 0, i32 31)"), "{text}");
    }
}
