//! Declarations of the runtime functions of `docs/design/borders.md` section 3.

use crate::llvm::{ModuleItems, Type, Value};
use inkwell::module::Module;

/// Runtime functions, declared in the lowered module at their first use.
pub struct Runtime<'m, 'c> {
    pub(crate) module: &'m Module<'c>,
}

macro_rules! functions {
    ($($name:ident = $symbol:literal: ($($parameter:ident),*) -> $result:ident;)*) => {
        impl<'c> Runtime<'_, 'c> {
            $(
                #[doc = concat!("`", $symbol, "`.")]
                pub fn $name(&self) -> Value<'c> {
                    self.declare($symbol, &[$(self.ty(stringify!($parameter))),*], self.ty(stringify!($result)))
                }
            )*
        }
    };
}

functions! {
    flush = "__wl_flush": (ptr) -> void;
    check = "__wl_check": (ptr, ptr, i32, i32, i32, ptr, i32, i32) -> i32;
    barrier = "__wl_barrier": (ptr, i32, i32, i32) -> i32;
    yield_now = "__wl_yield": (ptr) -> void;
    vprintf = "__wl_vprintf": (ptr, i32, ptr, ptr, ptr) -> void;
    assert = "__wl_assert": (ptr, i32, ptr, ptr, ptr, ptr) -> void;
    trap = "__wl_trap": (ptr, i32) -> void;
    malloc = "__wl_malloc": (ptr, i32, ptr, ptr) -> void;
    free = "__wl_free": (ptr, i32, ptr) -> void;
    stack_overflow = "__wl_stack_overflow": (ptr) -> void;
    bad_call = "__wl_bad_call": (ptr, i32, ptr) -> void;
    texture = "__wl_texture": (ptr, i32, i32, i32, ptr, ptr, ptr) -> void;
    surface = "__wl_surface": (ptr, i32, i32, i32, ptr, ptr, ptr) -> void;
    device_call = "__wl_device_call": (ptr, i32, i32, ptr, ptr) -> void;
    globaltimer = "__wl_globaltimer": (ptr) -> i64;
    matrix = "__wl_matrix": (i32, ptr, ptr, ptr, ptr) -> void;
}

impl<'c> Runtime<'_, 'c> {
    fn ty(&self, name: &str) -> Type<'c> {
        let types = ModuleItems::types(self.module);
        match name {
            "ptr" => types.pointer(0),
            "i32" => types.int(32),
            "i64" => types.int(64),
            _ => types.void(),
        }
    }

    fn declare(&self, name: &str, parameters: &[Type<'c>], result: Type<'c>) -> Value<'c> {
        if let Some(function) = ModuleItems::function(self.module, name) {
            return function;
        }
        let function = self.module.new_function(name, result.function(parameters));
        function.add_attribute(crate::llvm::function::OF_FUNCTION, "nounwind", 0);
        function
    }
}
