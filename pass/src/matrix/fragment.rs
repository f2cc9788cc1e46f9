//! Fragments: which elements of a matrix the registers of each lane contain.
//!
//! With `group = lane / 4` and `thread = lane % 4`, a register of A or B holds the elements `e · thread ..` of row (of A) or
//! column (of B) `group` of a block of 8 by `4 e` elements, where `e` elements fill a register. C and D consist of blocks of 8 by
//! 8, of which each lane has two neighbours of row `group`: columns `2 · thread` and the next.

/// The operand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The left factor, m × k.
    A,
    /// The right factor, k × n.
    B,
    /// The summand or result, m × n.
    C,
}

/// The linear function `fixed + group · (lane / 4) + thread · (lane % 4)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The constant part.
    pub fixed: u32,
    /// The factor of the number of the group of four lanes.
    pub group: u32,
    /// The factor of the lane's number in its group of four.
    pub thread: u32,
}

impl Linear {
    fn new(fixed: u32, group: u32, thread: u32) -> Self {
        Linear { fixed, group, thread }
    }

    /// Returns the value for a lane.
    pub fn of_lane(self, lane: u32) -> u32 {
        self.fixed + self.group * (lane / 4) + self.thread * (lane % 4)
    }
}

/// One access of a fragment's load or store, in which each lane moves adjacent elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentAccess {
    /// The row in memory, in units of the leading dimension.
    pub row: Linear,
    /// The first element in this row.
    pub column: Linear,
    /// The number of bytes per lane.
    pub bytes: u32,
}

/// How the accesses of a block are converted to its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// One access, which contains the registers one after another.
    Whole,
    /// One access, which contains the transposed block of 16-bit elements.
    Transposed,
    /// One access for each element.
    Elements,
}

/// A fragment that is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The operand of the product.
    pub role: Role,
    /// The number of rows of A and C, or of columns of B.
    pub outer: u32,
    /// The number of columns of A and C, or of rows of B.
    pub inner: u32,
    /// The number of bits of an element.
    pub bits: u32,
    /// Whether adjacent elements in memory are adjacent along `inner`, in rows of A and C and columns of B.
    pub along_inner: bool,
}

impl Fragment {
    /// Returns the number of elements of each lane in a block.
    pub fn elements(&self) -> u32 {
        match self.role {
            Role::C => 2,
            _ => (32 / self.bits).max(1),
        }
    }

    /// Returns the number of registers of each lane in a block.
    pub fn registers(&self) -> u32 {
        (self.elements() * self.bits).div_ceil(self.register_bits())
    }

    /// Returns the number of bits of a register.
    pub fn register_bits(&self) -> u32 {
        self.bits.max(32)
    }

    /// Returns the first row and column (of `outer` and `inner`) of each block, in the order of registers.
    pub fn blocks(&self) -> Vec<(u32, u32)> {
        let tall = if self.outer.is_multiple_of(16) && self.role != Role::B { 16 } else { 8 };
        let width = if self.role == Role::C { 8 } else { 4 * self.elements() };
        let mut blocks = Vec::new();
        for tile in (0..self.outer).step_by(tall) {
            for inner in (0..self.inner).step_by(width as usize) {
                blocks.extend((tile..tile + tall as u32).step_by(8).map(|outer| (outer, inner)));
            }
        }
        blocks
    }

    /// Returns how a block is loaded and stored.
    pub fn steps(&self) -> Steps {
        match (self.along_inner, self.bits) {
            (true, _) => Steps::Whole,
            (false, 16) => Steps::Transposed,
            _ => Steps::Elements,
        }
    }

    /// Returns the accesses of the block that begins at a row and column.
    pub fn accesses(&self, (outer, inner): (u32, u32)) -> Vec<FragmentAccess> {
        let elements = self.elements();
        let group = Linear::new(outer, 1, 0);
        match self.steps() {
            Steps::Whole => {
                vec![FragmentAccess {
                    row: group,
                    column: Linear::new(inner, 0, elements),
                    bytes: elements * self.bits / 8,
                }]
            }
            // With 16-bit elements, which are stored in pairs, a block is 8 by 8, and the transposed block has the same
            // form.
            Steps::Transposed => {
                vec![FragmentAccess { row: Linear::new(inner, 1, 0), column: Linear::new(outer, 0, 2), bytes: 4 }]
            }
            Steps::Elements => (0..elements)
                .map(|element| FragmentAccess {
                    row: Linear::new(inner + element, 0, elements),
                    column: group,
                    bytes: self.bits / 8,
                })
                .collect(),
        }
    }

    /// Returns the groups of blocks that `ldmatrix` loads at once. Each block is given by its first row and column in
    /// memory, where it has 8 rows of 16 bytes. Returns `None` if elements are too wide, or if they are transposed and
    /// do not have 16 bits.
    pub fn groups(&self) -> Option<Vec<Vec<(u32, u32)>>> {
        let fits = self.role != Role::C && self.bits <= 32 && (self.along_inner || self.bits == 16);
        let place = |(outer, inner): (u32, u32)| if self.along_inner { (outer, inner) } else { (inner, outer) };
        let blocks: Vec<_> = self.blocks().into_iter().map(place).collect();
        let whole = blocks.len() <= 4 && blocks.len().is_power_of_two() || blocks.len().is_multiple_of(4);
        (fits && whole).then(|| blocks.chunks(4).map(<[_]>::to_vec).collect())
    }

    /// Returns the distance between rows in memory, in elements, for an instruction that does not specify it.
    pub fn dense_stride(&self) -> u32 {
        if self.along_inner { self.inner } else { self.outer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns all fragments of `wmma`.
    fn fragments() -> Vec<Fragment> {
        let mut list = Vec::new();
        for (m, n, k, bits, accumulators) in [
            (16, 16, 16, 16, &[16, 32][..]),
            (8, 32, 16, 16, &[16, 32]),
            (32, 8, 16, 16, &[16, 32]),
            (16, 16, 16, 8, &[32]),
            (8, 32, 16, 8, &[32]),
            (32, 8, 16, 8, &[32]),
            (16, 16, 8, 32, &[32]),
            (8, 8, 4, 64, &[64]),
        ] {
            for along_inner in [false, true] {
                list.push(Fragment { role: Role::A, outer: m, inner: k, bits, along_inner });
                list.push(Fragment { role: Role::B, outer: n, inner: k, bits, along_inner });
                for &bits in accumulators {
                    list.push(Fragment { role: Role::C, outer: m, inner: n, bits, along_inner });
                }
            }
        }
        list
    }

    #[test]
    fn the_accesses_of_a_fragment_cover_its_matrix_once() {
        for fragment in fragments() {
            let mut touched = BTreeMap::new();
            for access in fragment.blocks().into_iter().flat_map(|block| fragment.accesses(block)) {
                for lane in 0..32 {
                    for element in 0..access.bytes * 8 / fragment.bits {
                        let place = (access.row.of_lane(lane), access.column.of_lane(lane) + element);
                        *touched.entry(place).or_insert(0) += 1;
                    }
                }
            }
            let (rows, columns) = match fragment.along_inner {
                true => (fragment.outer, fragment.inner),
                false => (fragment.inner, fragment.outer),
            };
            let all: BTreeMap<_, _> =
                (0..rows).flat_map(|row| (0..columns).map(move |column| ((row, column), 1))).collect();
            assert_eq!(touched, all, "{fragment:?}");
        }
    }

    #[test]
    fn groups_of_blocks_cover_the_matrix_once() {
        for fragment in fragments() {
            let Some(groups) = fragment.groups() else { continue };
            let mut touched = BTreeMap::new();
            for (row, column) in groups.into_iter().flatten() {
                for (row, column) in
                    (row..row + 8).flat_map(|row| (column..column + 128 / fragment.bits).map(move |c| (row, c)))
                {
                    *touched.entry((row, column)).or_insert(0) += 1;
                }
            }
            assert_eq!(touched.len() as u32, fragment.outer * fragment.inner, "{fragment:?}");
            assert!(touched.values().all(|&times| times == 1), "{fragment:?}");
        }
    }

    #[test]
    fn registers_hold_what_the_ptx_manual_says() {
        // Operand A of m16n8k16 with f16: a2 and a3 are in rows 8 and following, a4 and a5 in columns 8 and following.
        let a = Fragment { role: Role::A, outer: 16, inner: 16, bits: 16, along_inner: true };
        assert_eq!(a.blocks(), [(0, 0), (8, 0), (0, 8), (8, 8)]);
        let access = a.accesses((8, 0))[0];
        assert_eq!((access.row.of_lane(6), access.column.of_lane(6), access.bytes), (9, 4, 4));
        // Operand B of m16n8k8 with tf32: in lane 7, b0 is row 3 of column 1, and b1 is four rows further.
        let b = Fragment { role: Role::B, outer: 8, inner: 8, bits: 32, along_inner: true };
        assert_eq!(b.blocks(), [(0, 0), (0, 4)]);
        let access = b.accesses((0, 4))[0];
        assert_eq!((access.row.of_lane(7), access.column.of_lane(7)), (1, 7));
        // Operand C with f32: c2 and c3 are in rows 8 and following.
        let c = Fragment { role: Role::C, outer: 16, inner: 8, bits: 32, along_inner: true };
        assert_eq!((c.blocks(), c.registers()), (vec![(0, 0), (8, 0)], 2));
    }
}
