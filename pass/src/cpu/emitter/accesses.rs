//! The state of accesses that is kept while a block is emitted.

use super::lanes::{Allowed, Evenness, Guess};
use crate::llvm::{Block, Value};
use std::collections::HashMap;

/// The reserved room in the record buffer.
struct Room<'c> {
    /// The position of the next item, which the context also contains.
    cursor: Value<'c>,
    /// The number of bytes from there on.
    left: u64,
}

/// The state of accesses that is kept while a block is emitted.
#[derive(Default)]
pub struct Accesses<'c> {
    allowed: Option<Allowed<'c>>,
    guarded: bool,
    suspicions: HashMap<u32, Value<'c>>,
    room: Option<Room<'c>>,
    guesses: HashMap<Value<'c>, Guess<'c>>,
    looked: Option<(Value<'c>, i64, Evenness<'c>)>,
    spilled: Option<(Value<'c>, Block<'c>)>,
    places: HashMap<Value<'c>, Value<'c>>,
    lane_rooms: HashMap<u64, Value<'c>>,
}

impl<'c> Accesses<'c> {
    /// Begins to emit another block; state that depends only on values of the first block stays valid.
    pub(super) fn begin_block(&mut self, first: Block<'c>) {
        self.allowed = None;
        self.room = None;
        self.looked = None;
        self.spilled = None;
        self.places.clear();
        self.guesses.retain(|value, _| value.block() == Some(first));
    }

    /// Stores the lanes that the check of the next access permits.
    pub fn allow(&mut self, allowed: Allowed<'c>) {
        self.allowed = Some(allowed);
    }

    /// Returns the lanes and bases that the check of the current access permits, if the access was checked.
    pub fn take_allowed(&mut self) -> Option<Allowed<'c>> {
        self.allowed.take()
    }

    /// Records that a check under a guard has stored its lanes for the next assembly.
    pub fn expect_guarded(&mut self) {
        self.guarded = true;
    }

    /// Returns whether checks under guards have stored lanes for the current inline assembly.
    pub fn take_guarded(&mut self) -> bool {
        std::mem::take(&mut self.guarded)
    }

    /// Records that a bundle has begun, given by the site field of its record, and whether one of its accesses may be
    /// bad.
    pub fn suspect(&mut self, bundle: u32, bad: Value<'c>) {
        self.suspicions.insert(bundle, bad);
    }

    /// Returns whether an access of a bundle that has begun may be bad.
    pub fn suspicion(&self, bundle: u32) -> Option<Value<'c>> {
        self.suspicions.get(&bundle).copied()
    }

    /// Returns the affine form that a value has under a condition.
    pub fn guess(&self, value: Value<'c>) -> Option<&Guess<'c>> {
        self.guesses.get(&value)
    }

    /// Stores the affine form of a value of this block.
    pub fn note_guess(&mut self, value: Value<'c>, guess: Guess<'c>) {
        self.guesses.insert(value, guess);
    }

    /// Returns the last test for even spacing, if it tested these addresses with this stride.
    pub fn looked(&self, addresses: Value<'c>, stride: i64) -> Option<&Evenness<'c>> {
        self.looked.as_ref().filter(|looked| (looked.0, looked.1) == (addresses, stride)).map(|looked| &looked.2)
    }

    /// Stores the result of a test.
    pub fn note_look(&mut self, addresses: Value<'c>, stride: i64, found: Evenness<'c>) {
        self.looked = Some((addresses, stride, found));
    }

    /// Returns memory that contains these addresses until the end of the block.
    pub fn place_of(&self, addresses: Value<'c>) -> Option<Value<'c>> {
        self.places.get(&addresses).copied()
    }

    /// Records that memory contains addresses until the end of the block.
    pub(super) fn note_place(&mut self, addresses: Value<'c>, place: Value<'c>) {
        self.places.insert(addresses, place);
    }

    /// Returns whether these addresses are in the memory that accesses share: code of `block` has stored them there,
    /// and no code has stored other addresses there since.
    pub fn is_spilled(&self, addresses: Value<'c>, block: Block<'c>) -> bool {
        self.spilled == Some((addresses, block))
    }

    /// Records that code of `block` stores addresses in the memory that accesses share; `None` means that the content
    /// is unknown.
    pub fn note_spill(&mut self, addresses: Option<Value<'c>>, block: Block<'c>) {
        self.spilled = addresses.map(|addresses| (addresses, block));
    }

    /// Returns the memory for this number of bytes per lane, which `allocate` creates at its first use in the function.
    pub fn lane_room(&mut self, bytes: u64, allocate: impl FnOnce() -> Value<'c>) -> Value<'c> {
        *self.lane_rooms.entry(bytes).or_insert_with(allocate)
    }

    /// Takes bytes of the reserved room in the record buffer; returns their position, or `None` if there are too few.
    pub fn take_room(&mut self, bytes: u64) -> Option<Value<'c>> {
        let room = self.room.as_mut().filter(|room| room.left >= bytes)?;
        room.left -= bytes;
        Some(room.cursor)
    }

    /// Records that the record buffer has room for `left` more bytes from `cursor` on.
    pub fn set_room(&mut self, cursor: Value<'c>, left: u64) {
        self.room = Some(Room { cursor, left });
    }

    /// Returns the reserved room in the record buffer in bytes.
    pub fn room(&self) -> u64 {
        self.room.as_ref().map_or(0, |room| room.left)
    }

    /// Moves the position of the next item.
    pub fn move_cursor(&mut self, to: impl FnOnce(Value<'c>) -> Value<'c>) {
        if let Some(room) = &mut self.room {
            room.cursor = to(room.cursor);
        }
    }

    /// Discards the reserved room, because another warp may run and use the record buffer.
    pub fn discard_room(&mut self) {
        self.room = None;
    }
}
