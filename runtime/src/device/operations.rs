//! Passes the executions of operations that lowered code reports to the floating-point check and to the trace.

use super::floats::{self, Reported};
use crate::device::execution::lanes::lanes;
use crate::device::execution::scheduled::warp_of;
use crate::device::execution::warp::{Pause, Stop, Warp, pause, stop};
use warpline_format::abi::WarpContext;
use warpline_format::access::{LANES, MOST_ROWS, item_bytes, operation_head, part_word};
use warpline_format::operation::{MOST_PARTS, OperationClass, PART_SHIFTS, RECORDED, TYPES_MASK, ValueTypes};

/// Reports that a tracked operation was executed; see `format/src/hooks.rs`.
///
/// # Safety
/// Lowered code calls this function with its own context; `values` are rows of 32 entries, of which those of
/// the lanes in `mask` are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_operation(
    context: *mut WarpContext,
    number: u32,
    types: u32,
    mask: u32,
    values: *const [[u64; LANES]; 4],
) {
    let recorded = types & RECORDED != 0;
    let [part, parts] = PART_SHIFTS.map(|shift| ((types >> shift) & (MOST_PARTS - 1)) as u16);
    let types = ValueTypes(types & TYPES_MASK);
    // SAFETY: by the contract; launch, module and check are used by this thread alone. Nothing that needs to be dropped is
    // alive where the warp pauses or stops.
    unsafe {
        let warp = warp_of(context);
        if floats::follow(warp, &Reported { number, types, mask, values: &*values }) {
            stop(warp, Stop::Trap);
        }
        // Launches that are not recorded have no buffer.
        if recorded && mask != 0 && !(*warp).context.record_end.is_null() {
            let part = part_word(part, parts + 1);
            if has_address(warp, number) {
                let mut values = *values;
                values[ADDRESS_ROW].iter_mut().for_each(|address| *address = shared_offset(&(*warp).context, *address));
                record(warp, number, types, part, mask, &values);
            } else {
                record(warp, number, types, part, mask, &*values);
            }
        }
    }
}

/// The row with the address of a load, a store or an atomic operation.
const ADDRESS_ROW: usize = 1;

/// Returns whether an operation has an address.
///
/// # Safety
/// The requirements of [`__wl_operation`] apply.
unsafe fn has_address(warp: *const Warp, number: u32) -> bool {
    // SAFETY: by the contract.
    let module = unsafe { &*(*(*warp).running).module };
    let class = module.table.operations.get(number as usize).map(|operation| operation.class);
    matches!(class, Some(OperationClass::Load | OperationClass::Store | OperationClass::Atomic))
}

/// Returns the offset of an address in the block's shared memory; other addresses stay as they are.
fn shared_offset(context: &WarpContext, address: u64) -> u64 {
    let offset = address.wrapping_sub(context.shared as u64);
    if offset < context.shared_bytes { offset } else { address }
}

/// Writes a record of the execution, or of one of its results, to the warp's buffer; other warps may run before. `part`
/// is a `part_word`.
///
/// # Safety
/// The requirements of [`__wl_operation`] apply. The launch is recorded, and `mask` is not zero.
pub(super) unsafe fn record(
    warp: *mut Warp,
    number: u32,
    types: ValueTypes,
    part: u32,
    mask: u32,
    values: &[[u64; LANES]; MOST_ROWS],
) {
    let rows = types.operands() + 1;
    let head = operation_head(number, rows);
    let bytes = item_bytes(head, mask).unwrap_or(0);
    // SAFETY: by the contract. A buffer is longer than any record, so that it has room after a pause.
    unsafe {
        if (*warp).context.record_end.addr() - (*warp).context.record_cursor.addr() < bytes {
            pause(warp, Pause::Full);
        }
        let mut place = (*warp).context.record_cursor.cast::<u64>();
        for word in [u64::from(head) | u64::from(mask) << 32, u64::from(types.0) | u64::from(part) << 32] {
            place.write(word);
            place = place.add(1);
        }
        for row in &values[..rows] {
            if mask == u32::MAX {
                place.copy_from_nonoverlapping(row.as_ptr(), LANES);
                place = place.add(LANES);
                continue;
            }
            for lane in lanes(mask) {
                place.write(row[lane]);
                place = place.add(1);
            }
        }
        (*warp).context.record_cursor = place.cast();
    }
}
