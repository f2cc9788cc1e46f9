//! The function's frame in each lane's stack.

use crate::cpu::error::{Emitted, Refusal};
use crate::cpu::shapes::body::Body;
use crate::llvm::{Layout, Value};
use std::collections::HashMap;

/// The position of each local variable in a lane's stack, relative to the start of the function's part.
#[derive(Default)]
pub struct Frame<'c> {
    offsets: HashMap<Value<'c>, u64>,
    bytes: u64,
}

impl<'c> Frame<'c> {
    /// Creates the frame of a function.
    pub(super) fn new(body: &Body<'c>, layout: Layout<'_>) -> Emitted<Frame<'c>> {
        let mut frame = Frame::default();
        for &value in body.blocks.iter().flat_map(|block| &block.instructions) {
            let Some(ty) = value.allocated_type() else { continue };
            let Some(count) = value.operand(0).as_u64() else {
                return Err(Refusal::new(value, "a local array whose size is not constant"));
            };
            frame.bytes = frame.bytes.next_multiple_of(u64::from(value.alignment().max(1)));
            frame.offsets.insert(value, frame.bytes);
            frame.bytes += layout.size(ty) * count;
        }
        frame.bytes = frame.bytes.next_multiple_of(16);
        Ok(frame)
    }

    /// Returns the offset of a local variable, or `None` if it is not a variable of the function.
    pub fn offset(&self, variable: Value<'c>) -> Option<u64> {
        self.offsets.get(&variable).copied()
    }

    /// Returns the size of the frame in bytes, a multiple of 16.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
