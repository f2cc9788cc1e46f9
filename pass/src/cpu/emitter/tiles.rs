//! Operands of matrix products, which the runtime reads from memory: where each lies while a block is emitted.
//!
//! A tile of A meets several of B, and sums go from product to product. What lies in memory already is not stored
//! again: of the code of attention kernels a third was such copies.

use crate::llvm::Value;

/// Tiles that a function has room for at most: as many as the sums and one factor's tiles of a warp's usual share (64
/// by 64), and 48 of the 256 KiB of an ordinary host stack.
const MOST: usize = 96;

/// Memory of one tile.
struct Tile<'c> {
    place: Value<'c>,
    bytes: u64,
    /// The registers that lie in it.
    held: Vec<Value<'c>>,
    /// When it was used last.
    used: u64,
}

/// Memory of a function's tiles.
#[derive(Default)]
pub struct Tiles<'c> {
    tiles: Vec<Tile<'c>>,
    clock: u64,
    /// When the current product began: what was used since is an operand of it.
    product: u64,
}

impl<'c> Tiles<'c> {
    /// Another block is emitted: what it finds in memory depends on where control came from.
    pub(super) fn begin_block(&mut self) {
        for tile in &mut self.tiles {
            tile.held.clear();
        }
    }

    /// Another product is emitted.
    pub fn begin_product(&mut self) {
        self.product = self.clock;
    }

    /// Where these registers lie one after another: a place, and bytes from its start on. What is `written` is all
    /// of a place, which is none of the product's other operands.
    pub fn find(&mut self, registers: &[Value<'c>], written: bool) -> Option<(Value<'c>, u64)> {
        self.clock += 1;
        let at = |tile: &Tile<'c>| match written {
            true => (tile.used <= self.product && tile.held == registers).then_some(0),
            false => tile.held.windows(registers.len().max(1)).position(|held| held == registers),
        };
        let (tile, at) = self.tiles.iter_mut().find_map(|tile| at(tile).map(|at| (tile, at)))?;
        tile.used = self.clock;
        Some((tile.place, tile.bytes / tile.held.len().max(1) as u64 * at as u64))
    }

    /// Memory of so many bytes for other registers: the first that holds none, or what was not used for longest, but no
    /// operand of the product. `make` allocates.
    pub fn take(&mut self, bytes: u64, make: impl FnOnce() -> Value<'c>) -> Value<'c> {
        self.clock += 1;
        let (clock, product, full) = (self.clock, self.product, self.tiles.len() >= MOST);
        let fitting = self.tiles.iter_mut().filter(|tile| tile.bytes == bytes && tile.used <= product);
        match fitting.min_by_key(|tile| (!tile.held.is_empty(), tile.used)) {
            Some(tile) if full || tile.held.is_empty() => {
                tile.held.clear();
                tile.used = clock;
                tile.place
            }
            _ => {
                let place = make();
                self.tiles.push(Tile { place, bytes, held: Vec::new(), used: clock });
                place
            }
        }
    }

    /// These registers lie in `place` from now on.
    pub fn put(&mut self, place: Value<'c>, registers: &[Value<'c>]) {
        if let Some(tile) = self.tiles.iter_mut().find(|tile| tile.place == place) {
            tile.held = registers.to_vec();
        }
    }
}
