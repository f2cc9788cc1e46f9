//! Checks that the functions of this library which lowered code calls are the functions that `warpline_format::hooks`
//! lists, with the same types.

use crate::device::children::calls::__wl_device_call;
use crate::device::execution::cluster::{__wl_cluster_barrier, __wl_map_shared, __wl_shared_rank};
use crate::device::execution::hooks::{
    __wl_assert, __wl_bad_call, __wl_barrier, __wl_check, __wl_divergent_barrier, __wl_flush, __wl_free,
    __wl_globaltimer, __wl_malloc, __wl_named_barrier, __wl_parted, __wl_stack_overflow, __wl_trap, __wl_vprintf,
    __wl_yield,
};
use crate::device::execution::mbarrier::__wl_mbarrier;
use crate::device::operations::__wl_operation;
use crate::device::tensor::unit::__wl_matrix;
use crate::device::tensor::values::__wl_matrix_values;
use crate::device::texture::{__wl_surface, __wl_texture};
use warpline_format::abi::device_call::ARGUMENTS;
use warpline_format::abi::{SiteRange, WarpContext};
use warpline_format::hooks::Lanes;

/// Causes a compile error if a type differs.
macro_rules! compare {
    ($($(#[$meta:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(const _: unsafe extern "C" fn($($type),*) -> $result = $symbol;)*
    };
}

warpline_format::runtime_functions!(compare);
