//! Loads and stores of bits whose type is unknown, such as those of `ldmatrix`, in the floating-point check.
//!
//! A warp stores the origin of each 16 bits that may be a half-precision NaN or infinity, or the highest bits of one in
//! a wider type. If an operand has these bits in the same lane later, this is its origin.

use super::{Floats, Origin, Reported, moving_step, step};
use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::Warp;
use warpline_format::event::LaunchId;
use warpline_format::operation::{FloatClass, FloatFormat, OperationClass, ValueType};

impl Floats {
    /// Returns the origin of bits that a lane has loaded; 0 if it has loaded no such bits.
    pub(super) fn bits_origin(&mut self, warp: *mut Warp, lane: usize, bits: u16) -> Origin {
        self.held(warp).untyped.get(&(lane as u8, bits)).copied().unwrap_or(0)
    }

    /// Processes a load or store of one or two times 16 bits.
    pub(super) fn move_bits(
        &mut self,
        warp: *mut Warp,
        launch: LaunchId,
        class: OperationClass,
        reported: &Reported<'_>,
    ) {
        let halves = match reported.types.get(0) {
            Some(ValueType::Int16) => 1,
            Some(ValueType::Int32) => 2,
            _ => return,
        };
        // Operands of surface accesses are coordinates.
        if reported.types.get(1) != Some(ValueType::Int64) {
            return;
        }
        for (lane, half) in lanes(reported.mask).flat_map(|lane| (0..halves).map(move |half| (lane, half))) {
            let bits = (reported.values[0][lane] >> (16 * half)) as u16;
            let address = reported.values[1][lane] + 2 * half;
            let likely = FloatFormat::Half.classify(bits.into());
            if !matches!(likely, FloatClass::NotANumber | FloatClass::Infinite) {
                continue;
            }
            match class {
                OperationClass::Load => {
                    let step = moving_step(warp, step(warp, launch, reported.number, lane), address);
                    let before = self.stored_origin(address);
                    let origin = self.keep_load(step, before);
                    self.held(warp).untyped.insert((lane as u8, bits), origin);
                }
                OperationClass::Store => {
                    let origin = self.likely_origin(warp, lane, bits, likely);
                    if origin != 0 {
                        self.keep_stored(address, origin);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the origin of bits that a lane stores: that of its last NaN or infinity, or of the same bits.
    fn likely_origin(&mut self, warp: *mut Warp, lane: usize, bits: u16, likely: FloatClass) -> Origin {
        let held = self.held(warp);
        let mut known = [held.not_numbers[lane], held.infinities[lane]];
        if likely == FloatClass::Infinite {
            known.reverse();
        }
        let found = known.into_iter().find(|&origin| origin != 0);
        found.unwrap_or_else(|| self.bits_origin(warp, lane, bits))
    }

    /// Returns the origin of the stored value whose highest bits are at an address.
    fn stored_origin(&self, address: u64) -> Origin {
        // A value of 4 or 8 bytes begins before its highest bits.
        let starts = [address, address & !3, address & !7];
        starts.iter().find_map(|start| self.memory.get(start)).copied().unwrap_or(0)
    }
}
