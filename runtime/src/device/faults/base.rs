//! Finds the array that a bad address was intended for. Host addresses alone do not identify this array.

use crate::device::execution::warp::Running;
use crate::memory::registry::{Live, Near, Registry};
use crate::modules::module::array;
use warpline_format::abi::Parameter;
use warpline_format::event::AllocationKind;
use warpline_format::expression::{Binary, ExpressionKind};

/// Returns the array of an interpreted program that `address` was most likely intended for. This is the array whose
/// pointer the site's address starts from, at any distance (for example after an index overflow). If there is no such
/// array, it is the nearest one.
///
/// # Safety
/// `running` is the launch that runs.
pub unsafe fn meant<'a>(running: &Running, registry: &'a Registry, site: u32, address: u64) -> Option<Near<'a>> {
    // SAFETY: by the contract.
    let base = unsafe { base(running, registry, site) };
    base.filter(|live| live.kind == AllocationKind::Tensor)
        .map(|live| Near::new(live, address))
        .or_else(|| registry.nearest_array(address))
}

/// Returns the allocation to which the pointers among the summands of the site's address refer, if there is exactly
/// one. Pointers are the 64-bit parameters whose value is in an allocation.
///
/// # Safety
/// The requirements of [`meant`] apply.
unsafe fn base<'a>(running: &Running, registry: &'a Registry, site: u32) -> Option<&'a Live> {
    // SAFETY: by the contract; the module belongs to the launch.
    let module = unsafe { &*running.module };
    let kernel = module.kernels().get(running.kernel)?;
    // SAFETY: the array belongs to the module and is valid while the module is registered.
    let parameters = unsafe { array(kernel.parameters, u64::from(kernel.parameter_count)) };
    let table = &module.table;
    let mut open = vec![table.address(site)?.address];
    let mut found: Option<&Live> = None;
    while let Some(id) = open.pop() {
        let expression = table.expressions.get(id as usize)?;
        match expression.kind {
            ExpressionKind::Binary(Binary::Sum, left, right) => open.extend([left, right]),
            ExpressionKind::Binary(Binary::Difference, left, _) => open.push(left),
            ExpressionKind::Choice(_, one, other) => open.extend([one, other]),
            ExpressionKind::Parameter { parameter, offset } if expression.bits == 64 => {
                let Parameter { offset: start, size } = *parameters.get(parameter as usize)?;
                if u64::from(offset) + 8 > u64::from(size) {
                    continue;
                }
                let at = running.parameters.start + u64::from(start) + u64::from(offset);
                // SAFETY: the address is within the launch's own copy of its parameters.
                let value = unsafe { (at as *const u64).read_unaligned() };
                let live = registry.find(value);
                if live.is_some() && found.is_some() && live.map(|live| live.id) != found.map(|found| found.id) {
                    return None;
                }
                found = live.or(found);
            }
            _ => {}
        }
    }
    found
}
