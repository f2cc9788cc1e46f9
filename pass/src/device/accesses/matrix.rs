//! The accesses of tensor-core loads and stores. Each lane's address depends on its position in the fragment.
//!
//! One `wmma.load` becomes several requests. Each request covers adjacent registers of a lane in one row: 4 bytes per
//! lane for A and B, two elements for C and D, if the layout is along rows. For the other layout, 16-bit elements are
//! moved as complete blocks that are transposed, and other elements are moved one by one. `ldmatrix` is one request of
//! all lanes, regardless of how many of them provide addresses.

use super::access::{Access, Address, Lanewise, Seen};
use crate::ir::space::space_of_pointer;
use crate::llvm::function::ModuleItems;
use crate::llvm::{Builder, Value};
use crate::matrix::{FragmentAccess, Linear, Rows, Transfer};
use inkwell::module::Module;
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

/// Returns the accesses of `llvm.nvvm.` intrinsics on matrices; `None` for other names.
pub(in crate::device) fn inspect<'c>(call: Value<'c>, base: &str) -> Option<Vec<Seen<'c>>> {
    if let Some(name) = base.strip_prefix("wmma.") {
        let Some(transfer) = Transfer::read(name) else {
            let moves = name.contains(".load.") || name.contains(".store.");
            return Some(if moves { vec![Seen::Not(format!("tensor-core access: {base}"))] } else { Vec::new() });
        };
        return Some(fragment(call, transfer));
    }
    if base.starts_with("ldmatrix") || base.starts_with("stmatrix") {
        let parts: Vec<&str> = base.split('.').collect();
        let pointer = call.operand(0);
        return Some(match Rows::read(&parts) {
            Some(rows) => vec![Seen::Access(self::rows(rows, Address::from_value(pointer), space_of_pointer(pointer)))],
            None => vec![Seen::Not(format!("matrix access: {base}"))],
        });
    }
    None
}

/// Returns the access of `ldmatrix` or `stmatrix`.
pub(in crate::device) fn rows(rows: Rows, address: Address<'_>, space: Space) -> Access<'_> {
    let op = if rows.store { Op::Store } else { Op::Load };
    let address = Address { lanewise: Lanewise::Rows(rows), ..address };
    Access::plain(address, op, space, rows.bytes(), CacheOp::Default)
}

fn fragment<'c>(call: Value<'c>, transfer: Transfer) -> Vec<Seen<'c>> {
    let pointer = call.operand(0);
    let stride = if transfer.strided { call.arguments().last().copied() } else { None };
    let op = if transfer.store { Op::Store } else { Op::Load };
    let fragment = transfer.fragment;
    let space = space_of_pointer(pointer);
    if let Some(groups) = fragment.groups().filter(|_| space == Space::Shared) {
        let blocks_of = |group: &Vec<(u32, u32)>| std::array::from_fn(|index| group[index % group.len()]);
        return (groups.iter())
            .map(|group| {
                let (count, dense) = (group.len() as u32, fragment.dense_stride());
                let lanewise = Lanewise::Blocks { blocks: blocks_of(group), count, stride, dense, bits: fragment.bits };
                let address = Address { lanewise, ..Address::from_value(pointer) };
                Seen::Access(Access::plain(address, op, space, 4 * count, CacheOp::Default))
            })
            .collect();
    }
    (fragment.blocks().into_iter())
        .flat_map(|block| fragment.accesses(block))
        .map(|access| {
            let lanewise = Lanewise::Fragment { access, stride, dense: fragment.dense_stride(), bits: fragment.bits };
            let address = Address { lanewise, ..Address::from_value(pointer) };
            Seen::Access(Access::plain(address, op, space, access.bytes, CacheOp::Default))
        })
        .collect()
}

/// Computes addresses in device code, from the view of one lane.
pub(in crate::device) struct Addresses<'b, 'm, 'c> {
    pub(in crate::device) builder: &'b Builder<'c>,
    pub(in crate::device) module: &'m Module<'c>,
}

impl<'c> Addresses<'_, '_, 'c> {
    fn number(&self, bits: u32, value: u32) -> Value<'c> {
        Value::int(self.builder.types().int(bits), u64::from(value))
    }

    fn lane(&self) -> Value<'c> {
        self.builder.call(self.module.intrinsic("llvm.nvvm.read.ptx.sreg.laneid", &[]), &[])
    }

    fn linear(&self, linear: Linear, lane: Value<'c>) -> Value<'c> {
        let b = self.builder;
        let long = b.types().int(64);
        let group = b.zext(b.lshr(lane, self.number(32, 2)), long);
        let thread = b.zext(b.and(lane, self.number(32, 3)), long);
        let terms = [(linear.group, group), (linear.thread, thread)];
        terms
            .into_iter()
            .filter(|(factor, _)| *factor != 0)
            .fold(self.number(64, linear.fixed), |sum, (factor, value)| {
                b.add(sum, b.mul(value, self.number(64, factor)))
            })
    }

    /// Returns the offset in bytes from a fragment's address to the data that a lane moves in one access.
    pub(in crate::device) fn fragment_offset(
        &self,
        access: FragmentAccess,
        stride: Option<Value<'c>>,
        dense: u32,
        bits: u32,
    ) -> Value<'c> {
        let b = self.builder;
        let lane = self.lane();
        let stride = stride.map_or(self.number(64, dense), |stride| b.zext(stride, b.types().int(64)));
        let elements = b.add(b.mul(self.linear(access.row, lane), stride), self.linear(access.column, lane));
        b.lshr(b.mul(elements, self.number(64, bits)), self.number(64, 3))
    }

    /// Returns the offset in bytes from a fragment's address to the data that a lane moves for a group of blocks. The
    /// rows are distributed as for `ldmatrix`.
    pub(in crate::device) fn block(
        &self,
        blocks: &[(u32, u32)],
        stride: Option<Value<'c>>,
        dense: u32,
        bits: u32,
    ) -> Value<'c> {
        let b = self.builder;
        let long = b.types().int(64);
        let in_row = 4 / blocks.len() as u32;
        let lane = b.zext(self.lane(), long);
        let row = b.lshr(lane, self.number(64, in_row.ilog2()));
        let (block, row) = (b.lshr(row, self.number(64, 3)), b.and(row, self.number(64, 7)));
        let of_block = |part: fn(&(u32, u32)) -> u32| {
            let first = self.number(64, part(&blocks[0]));
            (1u32..).zip(&blocks[1..]).fold(first, |value, (index, one)| {
                b.select(b.eq(block, self.number(64, index)), self.number(64, part(one)), value)
            })
        };
        let stride = stride.map_or(self.number(64, dense), |stride| b.zext(stride, long));
        let elements = b.add(b.mul(b.add(row, of_block(|one| one.0)), stride), of_block(|one| one.1));
        let bytes = b.lshr(b.mul(elements, self.number(64, bits)), self.number(64, 3));
        let place = b.mul(b.and(lane, self.number(64, in_row - 1)), self.number(64, 16 / in_row));
        b.add(bytes, place)
    }

    /// Computes the address at which a lane accesses the rows: it is in row `lane · bytes / 16`, whose address another
    /// lane provides.
    pub(in crate::device) fn row(&self, address: Value<'c>, rows: Rows) -> Value<'c> {
        let b = self.builder;
        let bytes = rows.bytes();
        let address = if address.ty().is_pointer() { b.ptr_to_int(address, b.types().int(64)) } else { address };
        if bytes == 16 {
            return address;
        }
        let (lane, shuffle) = (self.lane(), self.module.intrinsic("llvm.nvvm.shfl.sync.idx.i32", &[]));
        let in_row = 16 / bytes;
        let from = b.lshr(lane, self.number(32, in_row.ilog2()));
        let exchange = |word: Value<'c>| b.call(shuffle, &[self.number(32, u32::MAX), word, from, self.number(32, 31)]);
        let ty = address.ty();
        let row = if ty.int_bits() == Some(64) {
            let (word, half) = (b.types().int(32), self.number(64, 32));
            let low = b.zext(exchange(b.trunc(address, word)), ty);
            let high = b.zext(exchange(b.trunc(b.lshr(address, half), word)), ty);
            b.or(low, b.shl(high, half))
        } else {
            exchange(address)
        };
        let place = b.mul(b.and(lane, self.number(32, in_row - 1)), self.number(32, bytes));
        b.add(row, b.fit(place, ty))
    }
}
