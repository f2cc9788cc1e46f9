//! Decodes requests without [`Items`], because they determine the speed of the analysis.

use warpline_format::access::{
    Access, Addresses, Item, ItemError, Items, Kind, Space, even, item_bytes, requests_of, site_of,
};
use warpline_format::rendezvous::Rendezvous;

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the request at the start of `bytes` and its length; `None` for any other item, and for data that [`Items`]
/// would reject.
#[inline(always)]
pub fn request(bytes: &[u8]) -> Option<(Access<'_>, usize)> {
    let (head, mask) = (word(bytes, 0)?, word(bytes, 4)?);
    let space = Space::from_head(head)?;
    if mask == 0 || space == Space::Generic {
        return None;
    }
    let (addresses, length) = match head >> 28 {
        kind if kind == Kind::Affine as u32 => {
            let bases = [long(bytes, 8)?, long(bytes, 16)?];
            let stride = word(bytes, 24)? as i32;
            word(bytes, 28)?;
            (Addresses::Affine { bases, stride }, Kind::Affine.most_bytes())
        }
        kind if kind == Kind::Even as u32 => (even(long(bytes, 8)?), Kind::Even.most_bytes()),
        kind if kind == Kind::Uniform as u32 => (Addresses::Uniform(long(bytes, 8)?), Kind::Uniform.most_bytes()),
        kind if kind == Kind::Delta as u32 => {
            let length = item_bytes(head, mask)?;
            (Addresses::Delta(long(bytes, 8)?, bytes.get(16..length)?), length)
        }
        kind if kind == Kind::Full as u32 => {
            let length = item_bytes(head, mask)?;
            (Addresses::Full(bytes.get(8..length)?), length)
        }
        _ => return None,
    };
    Some((Access { site: site_of(head), space, mask, addresses }, length))
}

/// Returns the site field and the length of the request at the start of `bytes`, if [`request`] finds one.
#[inline(always)]
pub(super) fn site_and_length(bytes: &[u8]) -> Option<(u32, usize)> {
    let (head, mask) = (word(bytes, 0)?, word(bytes, 4)?);
    let (kind, space) = (head >> 28, Space::from_head(head)?);
    let access = kind == Kind::Even as u32
        || kind == Kind::Affine as u32
        || kind == Kind::Uniform as u32
        || kind == Kind::Delta as u32
        || kind == Kind::Full as u32;
    if !access || mask == 0 || space == Space::Generic {
        return None;
    }
    let length = item_bytes(head, mask)?;
    (length <= bytes.len()).then_some((site_of(head), length))
}

/// Returns the warp slot and the length of the issue slot whose header, of [`TURN_BYTES`], is at the start of `bytes`;
/// `None` for any other item.
#[inline(always)]
pub fn turn(bytes: &[u8]) -> Option<(u32, u32)> {
    let (head, length) = (word(bytes, 0)?, word(bytes, 4)?);
    (head >> 28 == Kind::Turn as u32 && Space::from_head(head).is_some()).then_some((site_of(head), length))
}

/// Bytes of an issue slot's header.
pub const TURN_BYTES: usize = Kind::Turn.most_bytes();

/// The properties of an item that the scheduler needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A number of requests, from one site or one bundle.
    Requests(u32),
    /// A block-wide barrier.
    Barrier,
    /// The arrival at a numbered barrier.
    Named(Rendezvous),
    /// Any other item.
    Other,
}

/// Returns the step and the length of the item at the start of `bytes`; `None` if the bytes are not a valid item.
#[inline(always)]
pub fn step(bytes: &[u8]) -> Option<(Step, usize)> {
    if let Some((site, length)) = site_and_length(bytes) {
        return Some((Step::Requests(requests_of(site)), length));
    }
    match item(bytes)? {
        (Ok(Item::Barrier), length) => Some((Step::Barrier, length)),
        (Ok(Item::Named(meeting)), length) => Some((Step::Named(meeting), length)),
        (Ok(Item::Access(access)), length) => Some((Step::Requests(requests_of(access.site)), length)),
        (Ok(_), length) => Some((Step::Other, length)),
        (Err(_), _) => None,
    }
}

/// Returns the item at the start of `bytes`, of any kind, and its length.
pub fn item(bytes: &[u8]) -> Option<(Result<Item<'_>, ItemError>, usize)> {
    let mut items = Items::new(bytes);
    let item = items.next()?;
    Some((item, items.position()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_items(
            kind in 0u32..16, space in 0u32..6, site in 0u32..1 << 24, mask in prop_oneof![any::<u32>(), Just(0)],
            rest in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut bytes = ((kind << 28) | (space << 24) | site).to_le_bytes().to_vec();
            bytes.extend(mask.to_le_bytes());
            bytes.extend(rest);
            let mut items = Items::new(&bytes);
            let want = match items.next() {
                Some(Ok(Item::Access(access))) => Some((access, items.position())),
                _ => None,
            };
            prop_assert_eq!(request(&bytes), want);
            prop_assert_eq!(site_and_length(&bytes), want.map(|(access, length)| (access.site, length)));
            let mut items = Items::new(&bytes);
            let (item, length) = (items.next(), items.position());
            let want = match item {
                Some(Ok(Item::Turn { slot, bytes })) => Some((slot, bytes)),
                _ => None,
            };
            prop_assert_eq!(turn(&bytes), want);
            let want = match item {
                Some(Ok(Item::Access(access))) => Some((Step::Requests(requests_of(access.site)), length)),
                Some(Ok(Item::Barrier)) => Some((Step::Barrier, length)),
                Some(Ok(Item::Named(meeting))) => Some((Step::Named(meeting), length)),
                Some(Ok(_)) => Some((Step::Other, length)),
                _ => None,
            };
            prop_assert_eq!(step(&bytes), want);
        }
    }
}
