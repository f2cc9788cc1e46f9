//! Operands of matrix products, which the runtime reads from memory, and their positions while a block is emitted.
//!
//! A tile of A is multiplied with several tiles of B, and sums go from product to product. Operands that are already in
//! memory are not stored again; in attention kernels, a third of the code consisted of such copies.

use crate::llvm::Value;

/// The maximum number of tiles for which a function has memory: as many as the sums and one factor's tiles of a warp's
/// usual share (64 by 64), and 48 of the 256 KiB of an ordinary host stack.
const MOST: usize = 96;

/// The memory of one tile.
struct Tile<'c> {
    place: Value<'c>,
    bytes: u64,
    /// The registers that the memory contains.
    held: Vec<Value<'c>>,
    /// The time of the last use.
    used: u64,
}

/// The memory of a function's tiles.
#[derive(Default)]
pub struct Tiles<'c> {
    tiles: Vec<Tile<'c>>,
    clock: u64,
    /// The time when the current product began; tiles used since then are operands of the product.
    product: u64,
}

impl<'c> Tiles<'c> {
    /// Begins to emit another block: the content of the memory depends on the preceding block.
    pub(super) fn begin_block(&mut self) {
        for tile in &mut self.tiles {
            tile.held.clear();
        }
    }

    /// Begins to emit another product.
    pub fn begin_product(&mut self) {
        self.product = self.clock;
    }

    /// Returns the memory that contains these registers one after another: its start, and the offset in bytes. If
    /// `written` is set, the registers must be the complete content of the memory, which must not be another operand of
    /// the product.
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

    /// Returns memory of this size for other registers: the first that contains none, or the least recently used one
    /// that is not an operand of the product. `make` allocates new memory.
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

    /// Records that `place` contains these registers from now on.
    pub fn put(&mut self, place: Value<'c>, registers: &[Value<'c>]) {
        if let Some(tile) = self.tiles.iter_mut().find(|tile| tile.place == place) {
            tile.held = registers.to_vec();
        }
    }
}
