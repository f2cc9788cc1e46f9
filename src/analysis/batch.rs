//! Checks an access batch whole before any of it is counted, so that a damaged batch leaves no
//! trace in the figures and the workers need not look for damage.

use warpline_format::access::{Item, Items};

use super::LaunchShape;

/// Checks every item against the launch it belongs to and returns the number of requests.
///
/// # Errors
/// What is wrong, for a message.
pub fn check_batch(items: &[u8], shape: &LaunchShape) -> Result<u64, String> {
    let table = &shape.module.1.table;
    let (sites, calls) = (table.sites.len() as u32, table.calls.len() as u32);
    let mut reader = Items::new(items);
    // Byte at which the turn ends; 0 before the first.
    let mut turn_end = 0;
    let mut requests = 0;
    while let Some(item) = reader.next() {
        let item = item.map_err(|error| error.to_string())?;
        let position = reader.position();
        match item {
            Item::Turn { slot, bytes } => {
                if position < turn_end + 8 {
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
            Item::BlockStart { slot, warps, block } => {
                if position < turn_end + 16 {
                    return Err("a block starts inside a turn".to_owned());
                }
                let last = u64::from(slot) + u64::from(warps);
                if warps != shape.warps || last > u64::from(shape.slots) || block >= shape.blocks {
                    return Err(format!("block {block} with {warps} warps on slot {slot} does not fit its launch"));
                }
                continue;
            }
            Item::Access(access) if access.site >= sites => {
                return Err(format!("site {} of {sites}", access.site));
            }
            Item::Call { call_site, .. } if call_site >= calls => {
                return Err(format!("call site {call_site} of {calls}"));
            }
            Item::Access(_) => requests += 1,
            Item::Call { .. } | Item::Barrier | Item::Return => {}
        }
        if position > turn_end {
            return Err("an item lies outside a turn".to_owned());
        }
    }
    Ok(requests)
}
