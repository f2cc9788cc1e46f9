//! Helpers that move memory for lanes with arbitrary addresses, one lane after the other. Each helper moves all data of
//! a lane in one call; code with a call for each word would be several times as large.

use super::types::LANES;
use super::unit::Unit;
use crate::llvm::{Builder, ModuleItems, Type, Value};
use crate::matrix::Rows;

/// The size of 32 addresses in bytes.
pub const ADDRESSES: u64 = 8 * LANES as u64;
/// The arguments of [`Unit::copy_helper`]: 32 addresses and 32 counts of bytes.
pub const COPY_TARGETS: u64 = ADDRESSES + 4 * LANES as u64;

impl<'c> Unit<'c> {
    /// `(addresses, mask, results)`: reads `count` adjacent `ty` per lane of the mask. The results are one vector of 32
    /// elements for each.
    pub fn gather_helper(&self, ty: Type<'c>, align: u32, count: u64) -> Value<'c> {
        let bytes = self.layout().store_size(ty);
        self.lane_loop(&mover("gather", ty, align, count), count == 1, |b, address, (results, lane)| {
            for index in 0..count {
                let value = b.load(ty, b.offset(address, bytes * index), align);
                let vector = b.offset(results, bytes * u64::from(LANES) * index);
                b.store(value, b.gep(ty, vector, &[lane]), 1);
            }
        })
    }

    /// `(addresses, mask, values)`: writes `count` adjacent `ty` per lane of the mask, in lane order.
    pub fn scatter_helper(&self, ty: Type<'c>, align: u32, count: u64) -> Value<'c> {
        let bytes = self.layout().store_size(ty);
        self.lane_loop(&mover("scatter", ty, align, count), count == 1, |b, address, (values, lane)| {
            for index in 0..count {
                let vector = b.offset(values, bytes * u64::from(LANES) * index);
                let value = b.load(ty, b.gep(ty, vector, &[lane]), 1);
                b.store(value, b.offset(address, bytes * index), align);
            }
        })
    }

    /// `(sources, mask, targets)`: copies `bytes` bytes per lane of the mask, and writes zeros after the bytes that the
    /// lane reads. `targets` contains the lanes' addresses and, after them, the number of bytes that each lane reads.
    /// Complete words are copied that begin before the end of this range.
    pub fn copy_helper(&self, bytes: u64) -> Value<'c> {
        let (pointer, int, long) = (self.t.pointer(0), self.t.int(32), self.t.int(64));
        self.lane_loop(&format!("warpline.copy.{bytes}"), false, |b, source, (targets, lane)| {
            let target = b.int_to_ptr(b.load(long, b.gep(long, targets, &[lane]), 8), pointer);
            let read = b.load(int, b.gep(int, b.offset(targets, ADDRESSES), &[lane]), 4);
            for word in 0..bytes / 4 {
                let to = b.offset(target, 4 * word);
                b.store(Value::zero(int), to, 4);
                // A word that is not read may have any address.
                let there = b.ugt(read, Value::int(int, 4 * word));
                let from = b.select(there, b.offset(source, 4 * word), to);
                b.store(b.load(int, from, 4), to, 4);
            }
        })
    }

    /// `(addresses, mask, registers)`: performs the operation of `ldmatrix`, in which each lane of the mask moves its
    /// share of the rows; the shares of the other lanes are zero.
    pub fn rows_helper(&self, rows: Rows) -> Value<'c> {
        let name = format!("warpline.rows.{}{}", rows.count, if rows.transposed { ".transposed" } else { "" });
        if let Some(function) = ModuleItems::function(&self.target, &name) {
            return function;
        }
        // The registers are stored row by row: the word of a lane has the lane's index in each row.
        let share = self.t.int(32).vector(rows.count);
        let deal = self.lane_loop(&format!("warpline.deal.{}", rows.count), true, |b, address, (registers, lane)| {
            b.store(b.load(share, address, 1), b.gep(share, registers, &[lane]), 1);
        });
        let pointer = self.t.pointer(0);
        let function = self.new_helper(&name, self.t.void().function(&[pointer, self.t.int(32), pointer]));
        let b = Builder::new(self.t);
        b.at_end(function.append_block("entry"));
        let parameters = function.parameters();
        let halves = self.t.int(16).vector(2 * LANES);
        let registers = (0..rows.count).map(|register| b.offset(parameters[2], u64::from(4 * LANES * register)));
        let registers: Vec<_> = registers.collect();
        for &register in &registers {
            b.store(Value::zero(halves), register, 64);
        }
        b.call(deal, &parameters);
        for &register in registers.iter().filter(|_| rows.transposed) {
            let matrix = b.load(halves, register, 64);
            let one = Rows { count: 1, ..rows };
            let picks: Vec<_> = (0..2 * LANES)
                .map(|to| {
                    let (lane, half) = one.place(0, to / 2, to % 2);
                    Some(2 * lane + half)
                })
                .collect();
            b.store(b.shuffle(matrix, Value::poison(halves), &picks), register, 64);
        }
        b.return_void();
        function
    }
}

fn mover(verb: &str, ty: Type<'_>, align: u32, count: u64) -> String {
    let name = format!("warpline.{verb}.{ty}.{align}");
    if count == 1 { name } else { format!("{name}.{count}") }
}
