//! Checks an access batch whole before any of it is counted, so that a damaged batch leaves no
//! trace in the figures and the workers need not look for damage.

use warpline_format::access::{Item, bundle_of, requests_of};

use super::{LaunchShape, decode};

/// Checks every item against the launch it belongs to and returns the number of requests.
///
/// # Errors
/// What is wrong, for a message.
pub fn check_batch(items: &[u8], shape: &LaunchShape) -> Result<u64, String> {
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
                None if site >= sites => return Err(format!("site {site} of {sites}")),
                Some(index)
                    if table
                        .bundles
                        .get(index as usize)
                        .is_none_or(|bundle| bundle.members.len() as u32 != requests_of(site)) =>
                {
                    return Err(format!("bundle {index} of {} is not what its record says", table.bundles.len()));
                }
                _ => {}
            }
            if position > turn_end {
                return Err("an item lies outside a turn".to_owned());
            }
            requests += u64::from(requests_of(site));
            continue;
        }
        if let Some((slot, bytes)) = decode::turn(&items[start..]) {
            position += decode::TURN_BYTES;
            if start < turn_end {
                return Err("a turn begins inside another".to_owned());
            }
            turn_end = position + bytes as usize;
            if slot >= shape.slots {
                return Err(format!("warp slot {slot} of {}", shape.slots));
            }
            if turn_end > items.len() {
                return Err("a turn is longer than its batch".to_owned());
            }
            continue;
        }
        let Some((item, length)) = decode::item(&items[start..]) else { break };
        position += length;
        match item.map_err(|_| format!("what stands at byte {start} of the batch is no item"))? {
            Item::BlockStart { slot, warps, block } => {
                if start < turn_end {
                    return Err("a block starts inside a turn".to_owned());
                }
                let last = u64::from(slot) + u64::from(warps);
                if warps != shape.warps || last > u64::from(shape.slots) || block >= shape.blocks {
                    return Err(format!("block {block} with {warps} warps on slot {slot} does not fit its launch"));
                }
                continue;
            }
            Item::Call { call_site, .. } if call_site >= calls => {
                return Err(format!("call site {call_site} of {calls}"));
            }
            // Requests and turns were taken above.
            Item::Turn { .. } | Item::Access(_) | Item::Call { .. } | Item::Barrier | Item::Return => {}
        }
        if position > turn_end {
            return Err("an item lies outside a turn".to_owned());
        }
    }
    Ok(requests)
}
