//! Checks an access batch whole before any of it is counted, so that a damaged batch leaves no
//! trace in the figures and the workers need no checks.

use warpline_format::access::{Item, bundle_of, requests_of};

use super::{LaunchShape, decode};

/// Why a batch cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum BatchError {
    /// A site that the module does not have.
    #[error("site {site} of {sites}")]
    Site { site: u32, sites: u32 },
    /// A bundle that the module does not have, or not so.
    #[error("bundle {index} of {bundles} differs from its record")]
    Bundle { index: u32, bundles: usize },
    /// An item belongs to no warp.
    #[error("an item lies outside a turn")]
    OutsideTurn,
    /// Turns overlap.
    #[error("a turn begins inside another")]
    TurnInside,
    /// A warp slot that the device does not have.
    #[error("warp slot {slot} of {slots}")]
    Slot { slot: u32, slots: u32 },
    /// The batch ends within a turn.
    #[error("a turn is longer than its batch")]
    LongTurn,
    /// Unknown bytes.
    #[error("invalid record at byte {0} of the batch")]
    NoItem(usize),
    /// A block starts where a warp's items are.
    #[error("a block starts inside a turn")]
    BlockInside,
    /// A block that the launch does not have.
    #[error("block {block} with {warps} warps on slot {slot} does not fit its launch")]
    Block { block: u64, warps: u32, slot: u32 },
    /// An operation that the module does not have.
    #[error("operation {operation} of {operations}")]
    Operation { operation: u32, operations: usize },
    /// A call site that the module does not have.
    #[error("call site {site} of {sites}")]
    CallSite { site: u32, sites: u32 },
}

/// Checks every item against the launch it belongs to and returns the number of requests.
///
/// # Errors
/// Returns what is wrong, for a message.
pub fn check_batch(items: &[u8], shape: &LaunchShape) -> Result<u64, BatchError> {
    let table = &shape.module.1.table;
    let (sites, calls) = (table.sites.len() as u32, table.calls.len() as u32);
    let mut position = 0;
    // Byte at which the turn ends; 0 before the first.
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
            // Requests and turns were taken above.
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
