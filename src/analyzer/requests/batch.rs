//! Validates a whole access batch before any of it is counted. A damaged batch therefore has no effect on figures, and
//! workers need no checks.

use warpline_format::access::{Item, bundle_of, requests_of};

use super::{LaunchShape, decode};

/// Reasons why a batch cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum BatchError {
    /// The module does not contain the site.
    #[error("site {site} of {sites}")]
    Site { site: u32, sites: u32 },
    /// The module does not contain the bundle, or contains it in another form.
    #[error("bundle {index} of {bundles} differs from its record")]
    Bundle { index: u32, bundles: usize },
    /// An item is outside the issue slots of warps.
    #[error("an item lies outside a turn")]
    OutsideTurn,
    /// Issue slots overlap.
    #[error("a turn begins inside another")]
    TurnInside,
    /// The device does not have the warp slot.
    #[error("warp slot {slot} of {slots}")]
    Slot { slot: u32, slots: u32 },
    /// The batch ends within an issue slot.
    #[error("a turn is longer than its batch")]
    LongTurn,
    /// The bytes are not a valid item.
    #[error("invalid record at byte {0} of the batch")]
    NoItem(usize),
    /// A block starts within the items of a warp.
    #[error("a block starts inside a turn")]
    BlockInside,
    /// The launch does not contain the block.
    #[error("block {block} with {warps} warps on slot {slot} does not fit its launch")]
    Block { block: u64, warps: u32, slot: u32 },
    /// The module does not contain the operation.
    #[error("operation {operation} of {operations}")]
    Operation { operation: u32, operations: usize },
    /// The module does not contain the call site.
    #[error("call site {site} of {sites}")]
    CallSite { site: u32, sites: u32 },
}

/// Checks every item against its launch and returns the number of requests.
///
/// # Errors
/// Returns the reason if the batch is invalid.
pub fn check_batch(items: &[u8], shape: &LaunchShape) -> Result<u64, BatchError> {
    let table = &shape.module.1.table;
    let (sites, calls) = (table.sites.len() as u32, table.calls.len() as u32);
    let mut position = 0;
    // Byte at which the issue slot ends; 0 before the first one.
    let mut turn_end = 0;
    let mut requests = 0;
    while position < items.len() {
        let start = position;
        if let Some((site, length)) = decode::site_and_length(&items[start..]) {
            position += length;
            match bundle_of(site) {
                None if site >= sites => return Err(BatchError::Site { site, sites }),
                Some(index)
                    if table
                        .bundles
                        .get(index as usize)
                        .is_none_or(|bundle| bundle.members.len() as u32 != requests_of(site)) =>
                {
                    return Err(BatchError::Bundle { index, bundles: table.bundles.len() });
                }
                _ => {}
            }
            if position > turn_end {
                return Err(BatchError::OutsideTurn);
            }
            requests += u64::from(requests_of(site));
            continue;
        }
        if let Some((slot, bytes)) = decode::turn(&items[start..]) {
            position += decode::TURN_BYTES;
            if start < turn_end {
                return Err(BatchError::TurnInside);
            }
            turn_end = position + bytes as usize;
            if slot >= shape.slots {
                return Err(BatchError::Slot { slot, slots: shape.slots });
            }
            if turn_end > items.len() {
                return Err(BatchError::LongTurn);
            }
            continue;
        }
        let Some((item, length)) = decode::item(&items[start..]) else { break };
        position += length;
        match item.map_err(|_| BatchError::NoItem(start))? {
            Item::BlockStart { slot, warps, block } => {
                if start < turn_end {
                    return Err(BatchError::BlockInside);
                }
                let last = u64::from(slot) + u64::from(warps);
                if warps != shape.warps || last > u64::from(shape.slots) || block >= shape.blocks {
                    return Err(BatchError::Block { block, warps, slot });
                }
                continue;
            }
            Item::Call { call_site, .. } if call_site >= calls => {
                return Err(BatchError::CallSite { site: call_site, sites: calls });
            }
            Item::Operation(values) if values.operation as usize >= table.operations.len() => {
                return Err(BatchError::Operation { operation: values.operation, operations: table.operations.len() });
            }
            // Requests and issue slots were handled above.
            Item::Turn { .. }
            | Item::Access(_)
            | Item::Call { .. }
            | Item::Barrier
            | Item::Named(_)
            | Item::Return
            | Item::Operation(_) => {}
        }
        if position > turn_end {
            return Err(BatchError::OutsideTurn);
        }
    }
    Ok(requests)
}
