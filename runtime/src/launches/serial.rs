//! Decides whether the threads of a warp may run one after the other in a launch without records.

use crate::memory::registry::Registry;
use warpline_format::abi::{KernelDescriptor, PointerUse, WarpFunction, pointer_uses};

/// Returns the kernel's function that runs the threads of a warp one after the other, if there is one and if no thread
/// of this launch can load what another one stores. `parameters` is the parameter buffer.
pub fn serial_function(kernel: &KernelDescriptor, parameters: &[u64], registry: &Registry) -> Option<WarpFunction> {
    let function = kernel.native_serial?;
    let pointers = match kernel.pointer_count {
        0 => &[],
        // SAFETY: the descriptor has this number of pointers.
        count => unsafe { std::slice::from_raw_parts(kernel.pointers, count as usize) },
    };
    is_separate(pointers, |offset| {
        let address = address_at(parameters, offset)?;
        registry.find(address).map(|allocation| allocation.id)
    })
    .then_some(function)
}

/// Returns whether no pointer of a store refers to the same allocation as another pointer of a load. `allocation` returns
/// the allocation of the pointer at an offset in the parameters, if it is known.
fn is_separate<T: PartialEq>(pointers: &[PointerUse], allocation: impl Fn(u32) -> Option<T>) -> bool {
    let found: Vec<Option<T>> = pointers.iter().map(|one| allocation(one.offset)).collect();
    pointers.iter().zip(&found).enumerate().filter(|(_, (one, _))| one.uses & pointer_uses::STORED != 0).all(
        |(index, (_, stored))| {
            let mut loads = pointers
                .iter()
                .zip(&found)
                .enumerate()
                .filter(|(other, (one, _))| *other != index && one.uses & pointer_uses::LOADED != 0);
            stored.is_some() && loads.all(|(_, (_, loaded))| loaded.is_some() && loaded != stored)
        },
    )
}

/// Returns the 64-bit value at an offset in bytes, which need not be a multiple of 8 in a packed structure.
fn address_at(parameters: &[u64], offset: u32) -> Option<u64> {
    let bytes =
        (offset..offset + 8).map(|at| parameters.get(at as usize / 8).map(|word| word.to_le_bytes()[at as usize % 8]));
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pointer_uses::{LOADED, STORED};

    fn separate(uses: &[(u32, Option<u32>)]) -> bool {
        let pointers: Vec<PointerUse> =
            (0..).zip(uses).map(|(index, &(uses, _))| PointerUse { offset: index * 8, uses }).collect();
        is_separate(&pointers, |offset| uses[offset as usize / 8].1)
    }

    #[test]
    fn stores_are_to_memory_that_only_they_use() {
        assert!(separate(&[(LOADED, Some(1)), (LOADED, Some(1)), (STORED, Some(2))]));
        assert!(!separate(&[(LOADED, Some(1)), (LOADED, Some(2)), (STORED, Some(2))]));
        // Each thread has its own element.
        assert!(separate(&[(LOADED, Some(1)), (LOADED | STORED, Some(2))]));
        assert!(!separate(&[(LOADED, Some(2)), (LOADED | STORED, Some(2))]));
        assert!(!separate(&[(LOADED | STORED, Some(2)), (LOADED | STORED, Some(2))]));
        assert!(separate(&[(STORED, Some(2)), (STORED, Some(2))]));
        // An unknown address may be anywhere.
        assert!(!separate(&[(LOADED, None), (STORED, Some(2))]));
        assert!(!separate(&[(LOADED, Some(1)), (STORED, None)]));
        assert!(separate(&[(LOADED, None), (LOADED, Some(1))]));
    }

    #[test]
    fn an_address_may_lie_across_two_words() {
        let words = [0x1122_3344_5566_7788, 0x99aa_bbcc_ddee_ff00];
        assert_eq!(address_at(&words, 8), Some(0x99aa_bbcc_ddee_ff00));
        assert_eq!(address_at(&words, 4), Some(0xddee_ff00_1122_3344));
        assert_eq!(address_at(&words, 12), None);
    }
}
