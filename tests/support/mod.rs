//! Creates traces without running a program, for tests and benchmarks.
#![allow(dead_code, reason = "each user takes what it needs")]

pub mod demo;
pub mod demo_profile;
pub mod program;
pub mod schema;

use warpline_format::access::{Kind, Space, head, operation_head, push_access};
use warpline_format::chunk::{self, ChunkHead, ChunkKind};
use warpline_format::event::Event;
use warpline_format::operation::{ValueType, ValueTypes};

/// A trace under construction.
pub struct TraceBuilder {
    bytes: Vec<u8>,
    sequence: u64,
}

impl Default for TraceBuilder {
    fn default() -> Self {
        TraceBuilder { bytes: chunk::header().to_vec(), sequence: 0 }
    }
}

impl TraceBuilder {
    /// Appends a control record.
    pub fn event(&mut self, event: Event) -> &mut Self {
        self.chunk(ChunkKind::Event, &[&event.to_bytes()])
    }

    /// Appends an access batch.
    pub fn batch(&mut self, launch: u64, items: &Batch) -> &mut Self {
        self.chunk(ChunkKind::Access, &[&launch.to_le_bytes(), &items.bytes])
    }

    fn chunk(&mut self, kind: ChunkKind, parts: &[&[u8]]) -> &mut Self {
        self.bytes.extend(ChunkHead::new(kind, self.sequence, parts).to_bytes());
        for part in parts {
            self.bytes.extend(*part);
        }
        self.sequence += 1;
        self
    }

    /// Returns the bytes that were appended since the last call, for streams that are created while they are read.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Returns the stream.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// The items of one batch.
#[derive(Default, Clone)]
pub struct Batch {
    pub bytes: Vec<u8>,
    turn: Option<usize>,
}

impl Batch {
    /// Appends the start of a block, which occupies slots.
    pub fn block(&mut self, slot: u32, warps: u32, block: u64) -> &mut Self {
        self.close();
        self.word(head(Kind::BlockStart, Space::Generic, slot), warps);
        self.bytes.extend(block.to_le_bytes());
        self
    }

    /// Begins the turn of the warp in this slot; the following items belong to it.
    pub fn turn(&mut self, slot: u32) -> &mut Self {
        self.close();
        self.turn = Some(self.bytes.len());
        self.word(head(Kind::Turn, Space::Generic, slot), 0);
        self
    }

    /// Appends a request; `address` returns the address of each active lane.
    pub fn access(&mut self, space: Space, site: u32, mask: u32, address: impl Fn(u64) -> u64) -> &mut Self {
        let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(address).collect();
        push_access(&mut self.bytes, space, site, mask, &addresses);
        self.close_turn_length();
        self
    }

    /// Appends a call that was not inlined.
    pub fn call(&mut self, call_site: u32) -> &mut Self {
        self.word(head(Kind::Call, Space::Generic, call_site), u32::MAX);
        self.close_turn_length();
        self
    }

    /// Appends the return of a call.
    pub fn ret(&mut self) -> &mut Self {
        self.word(head(Kind::Return, Space::Generic, 0), 0);
        self.close_turn_length();
        self
    }

    /// Appends an operation with a result and one operand of 32-bit integers in lane 0.
    pub fn operation(&mut self, number: u32) -> &mut Self {
        self.word(operation_head(number, 2), 1);
        self.word(ValueTypes::new(&[ValueType::Int32, ValueType::Int32]).0, 0);
        self.word(7, 0);
        self.word(8, 0);
        self.close_turn_length();
        self
    }

    /// Appends a block-wide barrier.
    pub fn barrier(&mut self) -> &mut Self {
        self.word(head(Kind::Barrier, Space::Generic, 0), 0);
        self.close_turn_length();
        self
    }

    fn word(&mut self, one: u32, two: u32) {
        self.bytes.extend(one.to_le_bytes());
        self.bytes.extend(two.to_le_bytes());
    }

    fn close_turn_length(&mut self) {
        if let Some(at) = self.turn {
            let length = (self.bytes.len() - at - 8) as u32;
            self.bytes[at + 4..at + 8].copy_from_slice(&length.to_le_bytes());
        }
    }

    fn close(&mut self) {
        self.turn = None;
    }
}
