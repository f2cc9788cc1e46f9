//! The function that lowered code calls for tile products.

use super::product::{self, Register, WideRegister};
use warpline_format::matrix::{Element, Operation};

/// The maximum number of registers of C: two for each half of the rows.
const MOST_SUMS: usize = 4;

/// Computes D = A · B + C of one tile. `operation` is [`Operation::to_bits`]; the others are registers as
/// `warpline_format::matrix` defines.
///
/// # Safety
/// Called by lowered code: each pointer has [`Operation::registers`] registers, 8-byte aligned. D may have the
/// same address as C, and it overlaps none of the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_matrix(operation: u32, a: *const u8, b: *const u8, c: *const u8, d: *mut u8) {
    let Some(operation) = Operation::from_bits(operation) else {
        crate::output::message::note(
            "lowered code contains a matrix product that this runtime does not support; build the program again with \
             this version's warpline-cc",
        );
        std::process::abort();
    };
    let [in_a, in_b, in_c, in_d] = operation.registers().map(|count| count as usize);
    // SAFETY: by the contract.
    unsafe {
        if operation.a == Element::Double {
            let slice = |from: *const u8, count| std::slice::from_raw_parts(from.cast::<WideRegister>(), count);
            let mut start = [[0; 32]; MOST_SUMS];
            start[..in_c].copy_from_slice(slice(c, in_c));
            let result = std::slice::from_raw_parts_mut(d.cast::<WideRegister>(), in_d);
            product::wide(operation, slice(a, in_a), slice(b, in_b), &start[..in_c], result);
        } else {
            let slice = |from: *const u8, count| std::slice::from_raw_parts(from.cast::<Register>(), count);
            let mut start = [[0; 32]; MOST_SUMS];
            start[..in_c].copy_from_slice(slice(c, in_c));
            let result = std::slice::from_raw_parts_mut(d.cast::<Register>(), in_d);
            product::narrow(operation, slice(a, in_a), slice(b, in_b), &start[..in_c], result);
        }
    }
}
