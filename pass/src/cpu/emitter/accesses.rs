//! What is kept of accesses while a block is emitted.

use super::lanes::{Allowed, Evenness, Guess};
use crate::llvm::{Block, Value};
use std::collections::HashMap;

/// Room in the record buffer that is made sure of.
struct Room<'c> {
    /// Place of the next item; the context holds the same.
    cursor: Value<'c>,
    /// Bytes from there on.
    left: u64,
}

/// What is kept of accesses while a block is emitted.
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
    /// Another block is emitted; what holds for values of the first one continues holding.
    pub(super) fn begin_block(&mut self, first: Block<'c>) {
        self.allowed = None;
        self.room = None;
        self.looked = None;
        self.spilled = None;
        self.places.clear();
        self.guesses.retain(|value, _| value.block() == Some(first));
    }

    /// The check of the next access let these lanes through.
    pub fn allow(&mut self, allowed: Allowed<'c>) {
        self.allowed = Some(allowed);
    }

    /// What the check of the current access let through, where it was checked.
    pub fn take_allowed(&mut self) -> Option<Allowed<'c>> {
        self.allowed.take()
    }

    /// A check under a guard has kept its lanes for the next assembly.
    pub fn expect_guarded(&mut self) {
        self.guarded = true;
    }

    /// Returns whether checks under guards have kept lanes for the current inline assembly.
    pub fn take_guarded(&mut self) -> bool {
        std::mem::take(&mut self.guarded)
    }

    /// A bundle has begun, by the site field of its record; whether an access of it may be bad.
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

    /// Keeps the affine form of a value of this block.
    pub fn note_guess(&mut self, value: Value<'c>, guess: Guess<'c>) {
        self.guesses.insert(value, guess);
    }

    /// Returns the last test for even spacing, if it was of these addresses and this stride.
    pub fn looked(&self, addresses: Value<'c>, stride: i64) -> Option<&Evenness<'c>> {
        self.looked.as_ref().filter(|looked| (looked.0, looked.1) == (addresses, stride)).map(|looked| &looked.2)
    }

    /// Keeps what a look found.
    pub fn note_look(&mut self, addresses: Value<'c>, stride: i64, found: Evenness<'c>) {
        self.looked = Some((addresses, stride, found));
    }

    /// Memory that holds these addresses to the end of the block.
    pub fn place_of(&self, addresses: Value<'c>) -> Option<Value<'c>> {
        self.places.get(&addresses).copied()
    }

    /// Memory holds addresses to the end of the block.
    pub(super) fn note_place(&mut self, addresses: Value<'c>, place: Value<'c>) {
        self.places.insert(addresses, place);
    }

    /// Returns whether these addresses lie in the room that accesses share: code of `block` put them there, and none
    /// has put others there since.
    pub fn is_spilled(&self, addresses: Value<'c>, block: Block<'c>) -> bool {
        self.spilled == Some((addresses, block))
    }

    /// Code of `block` puts addresses into the room that accesses share; without any, what is not known here.
    pub fn note_spill(&mut self, addresses: Option<Value<'c>>, block: Block<'c>) {
        self.spilled = addresses.map(|addresses| (addresses, block));
    }

    /// Returns the memory for this many bytes per lane, which `allocate` makes at its first use in the function.
    pub fn lane_room(&mut self, bytes: u64, allocate: impl FnOnce() -> Value<'c>) -> Value<'c> {
        *self.lane_rooms.entry(bytes).or_insert_with(allocate)
    }

    /// Takes bytes of the record buffer that are made sure of: their place, or none where they are too few.
    pub fn take_room(&mut self, bytes: u64) -> Option<Value<'c>> {
        let room = self.room.as_mut().filter(|room| room.left >= bytes)?;
        room.left -= bytes;
        Some(room.cursor)
    }

    /// From `cursor` on the record buffer has room for `left` more bytes.
    pub fn set_room(&mut self, cursor: Value<'c>, left: u64) {
        self.room = Some(Room { cursor, left });
    }

    /// Bytes of the record buffer that are made sure of.
    pub fn room(&self) -> u64 {
        self.room.as_ref().map_or(0, |room| room.left)
    }

    /// The place of the next item moves.
    pub fn move_cursor(&mut self, to: impl FnOnce(Value<'c>) -> Value<'c>) {
        if let Some(room) = &mut self.room {
            room.cursor = to(room.cursor);
        }
    }

    /// Another warp may run: what it leaves of the record buffer is not known.
    pub fn discard_room(&mut self) {
        self.room = None;
    }
}
