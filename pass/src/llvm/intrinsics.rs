//! LLVM's properties of its intrinsics, by name.

use super::shim::Text;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_char, c_uint};

/// LLVM's properties of an intrinsic.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Reads or writes memory, or something that LLVM treats as memory.
    pub touches_memory: bool,
    /// What it does may depend on which other threads do it, too.
    pub convergent: bool,
    /// Its vector form does to each element what its scalar form does to a scalar. Known of intrinsics that no target
    /// owns.
    pub elementwise: bool,
}

unsafe extern "C" {
    fn wl_intrinsic_number(name: *const c_char, size: usize) -> c_uint;
    fn wl_intrinsic_count() -> c_uint;
    fn wl_intrinsic_name(number: c_uint) -> Text;
    fn wl_intrinsic_facts(number: c_uint, facts: *mut Facts);
}

thread_local! {
    static KNOWN: RefCell<HashMap<c_uint, Facts>> = RefCell::default();
}

/// Facts of the intrinsic of this name, which may end with types as in `llvm.fma.f32`; `None` if LLVM has none of it.
pub fn facts(name: &str) -> Option<Facts> {
    // SAFETY: the pointer and the length are those of a string that outlives the call, which keeps nothing
    // (`lookupIntrinsicID` takes a StringRef).
    let number = unsafe { wl_intrinsic_number(name.as_ptr().cast(), name.len()) };
    (number != 0).then(|| facts_of(number))
}

fn facts_of(number: c_uint) -> Facts {
    KNOWN.with_borrow_mut(|known| {
        *known.entry(number).or_insert_with(|| {
            let mut facts = Facts::default();
            // SAFETY: callers give numbers below the count, which is what `Intrinsic::getFnAttributes` requires;
            // `Facts` is laid out as the shim's structure.
            unsafe { wl_intrinsic_facts(number, &raw mut facts) };
            facts
        })
    })
}

/// Names of all intrinsics, without suffixes for types.
pub fn names() -> impl Iterator<Item = String> {
    // SAFETY: without arguments; for 0 there is no name.
    let count = unsafe { wl_intrinsic_count() };
    // SAFETY: the number is below the count; the name is a constant of LLVM's library.
    (1..count).map(|number| unsafe { wl_intrinsic_name(number) }.copy())
}
