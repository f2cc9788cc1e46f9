//! LLVM's properties of its intrinsics, by name.

use super::shim::Text;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_char, c_uint};

/// LLVM's properties of an intrinsic.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether it reads or writes memory, or something that LLVM treats as memory.
    pub touches_memory: bool,
    /// Whether its effect may depend on which other threads execute it.
    pub convergent: bool,
    /// Whether its vector form applies the scalar form to each element. This is only known for intrinsics that belong
    /// to no target.
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

/// Returns the properties of the intrinsic with this name, which may end with types as in `llvm.fma.f32`, or `None` if
/// LLVM has no such intrinsic.
pub fn facts(name: &str) -> Option<Facts> {
    // SAFETY: the pointer and the length are those of a string that outlives the call, and the call keeps no reference
    // (`lookupIntrinsicID` takes a StringRef).
    let number = unsafe { wl_intrinsic_number(name.as_ptr().cast(), name.len()) };
    (number != 0).then(|| facts_of(number))
}

fn facts_of(number: c_uint) -> Facts {
    KNOWN.with_borrow_mut(|known| {
        *known.entry(number).or_insert_with(|| {
            let mut facts = Facts::default();
            // SAFETY: callers pass numbers below the count, as `Intrinsic::getFnAttributes` requires; `Facts` has the
            // layout of the shim's structure.
            unsafe { wl_intrinsic_facts(number, &raw mut facts) };
            facts
        })
    })
}

/// Returns the names of all intrinsics, without suffixes for types.
pub fn names() -> impl Iterator<Item = String> {
    // SAFETY: the function has no arguments; number 0 has no name.
    let count = unsafe { wl_intrinsic_count() };
    // SAFETY: the number is below the count; the name is a constant of LLVM's library.
    (1..count).map(|number| unsafe { wl_intrinsic_name(number) }.copy())
}
