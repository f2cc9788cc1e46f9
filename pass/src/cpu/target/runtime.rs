//! Declarations of the runtime's functions (`warpline_format::hooks`, `docs/design/borders.md` section 3).

use crate::ir::border;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;
use warpline_format::abi::device_call::ARGUMENTS;
use warpline_format::abi::{SiteRange, WarpContext};
use warpline_format::hooks::{Border, Lanes, Type};

/// The runtime's functions, which are declared in the lowered module at their first use.
pub struct Runtime<'m, 'c> {
    pub(crate) module: &'m Module<'c>,
}

macro_rules! functions {
    ($($(#[$meta:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl<'c> Runtime<'_, 'c> {
            $(
                $(#[$meta])*
                pub fn $name(&self) -> Value<'c> {
                    self.declare(stringify!($symbol), &[$(<$type as Border>::TYPE),*], <$result as Border>::TYPE)
                }
            )*
        }
    };
}

warpline_format::runtime_functions!(functions);

impl<'c> Runtime<'_, 'c> {
    fn declare(&self, name: &str, parameters: &[Type], result: Type) -> Value<'c> {
        let ty = |one| border::ty(ModuleItems::types(self.module), one, 0);
        let parameters: Vec<_> = parameters.iter().map(|&one| ty(one)).collect();
        border::declare(self.module, name, &parameters, ty(result))
    }
}
