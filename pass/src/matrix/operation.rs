//! The names of tensor-core operations, both of LLVM's intrinsics and of PTX.

use super::fragment::{Fragment, Role};
use warpline_format::matrix::{Accumulator, Element, Operation};
use warpline_format::operation::ValueType;

/// `wmma.load` or `wmma.store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The fragment that is moved.
    pub fragment: Fragment,
    /// The type of the elements; for elements of less than a byte, that of a register.
    pub ty: ValueType,
    /// Whether this is a store; otherwise, it is a load.
    pub store: bool,
    /// Whether the last argument is the distance between rows in memory, in elements.
    pub strided: bool,
}

/// A product of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiply {
    /// The product of the tiles of which it consists.
    pub tile: Operation,
    /// The number of tiles along m and along n.
    pub tiles: (u32, u32),
    /// The number of registers of A and B that a lane has, if it is larger than the elements require; the other
    /// registers are copies.
    pub held: Option<(u32, u32)>,
}

/// `ldmatrix` or `stmatrix` of 8 × 8 matrices of 16-bit elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The number of matrices: 1, 2 or 4.
    pub count: u32,
    /// Whether columns become rows.
    pub transposed: bool,
    /// Whether this is a store; otherwise, it is a load.
    pub store: bool,
}

/// Returns m, n and k of a text such as `m16n8k16`.
fn shape(part: &str) -> Option<(u32, u32, u32)> {
    let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

/// Returns the type of a factor's elements.
fn element(name: &str) -> Option<Element> {
    Some(match name {
        "f16" => Element::Half,
        "bf16" => Element::Brain,
        "tf32" => Element::Tensor32,
        "f64" => Element::Double,
        "e4m3" => Element::E4M3,
        "e5m2" => Element::E5M2,
        "s8" => Element::Signed8,
        "u8" => Element::Unsigned8,
        "s4" => Element::Signed4,
        "u4" => Element::Unsigned4,
        "b1" => Element::Bit,
        _ => return None,
    })
}

/// Returns the type of the elements of a summand or result.
fn accumulator(name: &str) -> Option<Accumulator> {
    Some(match name {
        "f16" => Accumulator::Half,
        "f32" => Accumulator::Single,
        "f64" => Accumulator::Double,
        "s32" => Accumulator::Integer,
        _ => return None,
    })
}

/// Returns the accumulator for a type of factors if the name does not state it.
fn usual_accumulator(element: Element) -> Accumulator {
    match element {
        Element::Double => Accumulator::Double,
        _ if element.is_float() => Accumulator::Single,
        _ => Accumulator::Integer,
    }
}

impl Transfer {
    /// Reads the text after `llvm.nvvm.wmma.`.
    pub fn read(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split('.').collect();
        let [shape_name, direction, operand, layout, rest @ ..] = parts.as_slice() else { return None };
        let (m, n, k) = shape(shape_name)?;
        let (strided, rest) = match rest {
            ["stride", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let name = *rest.first()?;
        let (role, outer, inner) = match *operand {
            "a" => (Role::A, m, k),
            "b" => (Role::B, n, k),
            "c" | "d" => (Role::C, m, n),
            _ => return None,
        };
        let bits = match role {
            Role::C => accumulator(name)?.bits(),
            _ => element(name)?.bits(),
        };
        let along_inner = match *layout {
            "row" => role != Role::B,
            "col" => role == Role::B,
            _ => return None,
        };
        // Elements of less than a byte are only adjacent along the inner side.
        if !along_inner && bits < 8 {
            return None;
        }
        let store = match *direction {
            "load" => false,
            "store" => true,
            _ => return None,
        };
        let ty = match role {
            Role::C => accumulator(name)?.value_type(),
            _ => element(name)?.value_type(),
        };
        Some(Transfer { fragment: Fragment { role, outer, inner, bits, along_inner }, ty, store, strided })
    }
}

impl Multiply {
    /// Reads the text after `llvm.nvvm.wmma.`.
    pub fn read_wmma(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split('.').collect();
        if parts.get(1) != Some(&"mma") {
            return None;
        }
        let mut product = Self::of_intrinsic(&parts)?;
        if product.tile.a == Element::Half {
            product.held = Some((8, 8));
        }
        Some(product)
    }

    /// Reads the text after `llvm.nvvm.`.
    pub fn read_intrinsic(name: &str) -> Option<Self> {
        match name.strip_prefix("wmma.") {
            Some(rest) => Multiply::read_wmma(rest),
            None => name.strip_prefix("mma.").and_then(Multiply::read_mma),
        }
    }

    /// Reads the text after `llvm.nvvm.mma.`.
    pub fn read_mma(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split('.').collect();
        // The layouts of the factors are part of the operation's type here.
        let (row, column) = (parts.contains(&"row"), parts.contains(&"col"));
        if !row || !column || parts.iter().any(|part| matches!(*part, "sp" | "block" | "scale")) {
            return None;
        }
        let product = Self::of_intrinsic(&parts)?;
        product.is_documented().then_some(product)
    }

    /// Reads the parts of a PTX operation, such as `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`.
    pub fn read_ptx(parts: &[&str]) -> Option<Self> {
        let place = parts.iter().position(|part| shape(part).is_some())?;
        let plain = ["mma", "sync", "aligned"];
        if parts[..place].iter().any(|part| !plain.contains(part)) || parts.get(place + 1..place + 3)? != ["row", "col"]
        {
            return None;
        }
        let types: Vec<&str> = parts[place + 3..]
            .iter()
            .copied()
            .filter(|part| !matches!(*part, "satfinite" | "xor" | "and" | "popc"))
            .collect();
        let [d, a, b, c] = types[..] else { return None };
        let product =
            Self::build(shape(parts[place])?, (element(a)?, element(b)?), (accumulator(c)?, accumulator(d)?), parts)?;
        product.is_documented().then_some(product)
    }

    /// Reads the types in an intrinsic's name. It names the accumulators (result, summand) for f16, the factors for
    /// other types (once if they are equal), and all four types for 8-bit floats.
    fn of_intrinsic(parts: &[&str]) -> Option<Self> {
        let size = parts.iter().find_map(|part| shape(part))?;
        let types: Vec<&str> =
            parts.iter().copied().filter(|part| element(part).is_some() || accumulator(part).is_some()).collect();
        let (factors, accumulators) = match types[..] {
            [d, a, b, c] => ((element(a)?, element(b)?), (accumulator(c)?, accumulator(d)?)),
            ["f64"] => ((Element::Double, Element::Double), (Accumulator::Double, Accumulator::Double)),
            [d, c] if accumulator(d).is_some() && accumulator(c).is_some() => {
                ((Element::Half, Element::Half), (accumulator(c)?, accumulator(d)?))
            }
            [both] | [both, _] => {
                let (a, b) = (element(both)?, element(types.last()?)?);
                ((a, b), (usual_accumulator(a), usual_accumulator(a)))
            }
            _ => return None,
        };
        Self::build(size, factors, accumulators, parts)
    }

    fn build(
        (m, n, k): (u32, u32, u32),
        (a, b): (Element, Element),
        (c, d): (Accumulator, Accumulator),
        parts: &[&str],
    ) -> Option<Self> {
        let rows = if m.is_multiple_of(16) { 16 } else { 8 };
        let per_block = 4 * (32 / a.bits()).max(1);
        // Volta's product of four quarter warps has a different layout.
        let whole = m % rows == 0 && n % 8 == 0 && k % per_block == 0 && k > 0;
        let kin = a.bits() == b.bits() && a.is_float() == b.is_float() && usual_accumulator(a) == usual_accumulator(b);
        let float = !matches!(usual_accumulator(a), Accumulator::Integer);
        let fits = [c, d].iter().all(|sum| match (usual_accumulator(a), sum) {
            (Accumulator::Single, Accumulator::Half) => true,
            (usual, sum) => usual == *sum,
        });
        if !whole || !kin || !fits {
            return None;
        }
        let tile = Operation {
            a,
            b,
            c,
            d,
            tall: rows == 16,
            blocks: k / per_block,
            saturate: parts.contains(&"satfinite"),
            and: parts.contains(&"and"),
        };
        if a == Element::Bit && !(parts.contains(&"xor") || parts.contains(&"and")) || (float && parts.contains(&"xor"))
        {
            return None;
        }
        Some(Multiply { tile, tiles: (m / rows, n / 8), held: None })
    }

    /// Returns whether `mma.sync` offers this product, as one tile.
    fn is_documented(&self) -> bool {
        self.tiles == (1, 1)
    }
}

impl Rows {
    /// Reads the parts of `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16`, in any order.
    pub fn read(parts: &[&str]) -> Option<Self> {
        let store = match *parts.first()? {
            "ldmatrix" => false,
            "stmatrix" => true,
            _ => return None,
        };
        if !parts.contains(&"m8n8") || !parts.contains(&"b16") {
            return None;
        }
        let count = parts.iter().find_map(|part| match *part {
            "x1" => Some(1),
            "x2" => Some(2),
            "x4" => Some(4),
            _ => None,
        })?;
        Some(Rows { count, transposed: parts.contains(&"trans"), store })
    }

    /// Returns the number of bytes that each lane moves if the consecutive rows are distributed over the lanes. With
    /// this distribution, a request of `n` matrices has all lanes, `128 n` bytes and, without conflicts, `n` wavefronts
    /// of one matrix each, as on the hardware.
    pub fn bytes(self) -> u32 {
        4 * self.count
    }

    /// Returns the source or destination of a half of a lane's register: the lane, and the half of the data that this
    /// lane moves.
    pub fn place(self, register: u32, lane: u32, half: u32) -> (u32, u32) {
        let (group, pair) = (lane / 4, 2 * (lane % 4) + half);
        let (row, column) = if self.transposed { (pair, group) } else { (group, pair) };
        let whole = 64 * register + 8 * row + column;
        (whole / (2 * self.count), whole % (2 * self.count))
    }

    /// Returns the lane's register and half for a given source or destination: the inverse of [`Rows::place`].
    pub fn origin(self, lane: u32, half: u32) -> (u32, u32, u32) {
        let whole = lane * 2 * self.count + half;
        let (register, row, column) = (whole / 64, whole % 64 / 8, whole % 8);
        let (group, pair) = if self.transposed { (column, row) } else { (row, column) };
        (register, 4 * group + pair / 2, pair % 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_read() {
        let load = Transfer::read("m16n16k16.load.b.row.stride.f16.p0").unwrap();
        let fragment = Fragment { role: Role::B, outer: 16, inner: 16, bits: 16, along_inner: false };
        assert_eq!(load, Transfer { fragment, ty: ValueType::Half, store: false, strided: true });
        let store = Transfer::read("m8n32k16.store.d.col.s32.p3").unwrap();
        let fragment = Fragment { role: Role::C, outer: 8, inner: 32, bits: 32, along_inner: false };
        assert_eq!(store, Transfer { fragment, ty: ValueType::Int32, store: true, strided: false });
        assert_eq!(Transfer::read("m16n16k16.mma.row.col.f32.f32"), None);
    }

    #[test]
    fn products_are_read() {
        let half = Multiply::read_wmma("m32n8k16.mma.row.col.f32.f16").unwrap();
        assert_eq!((half.tiles, half.tile.tall, half.tile.blocks), ((2, 1), true, 2));
        assert_eq!((half.tile.d, half.tile.c), (Accumulator::Single, Accumulator::Half));
        let bytes = Multiply::read_wmma("m8n32k16.mma.row.col.s8.satfinite").unwrap();
        assert_eq!((bytes.tiles, bytes.tile.blocks, bytes.tile.saturate), ((1, 4), 1, true));
        let mixed = Multiply::read_mma("m16n8k32.row.col.satfinite.s8.u8").unwrap();
        assert_eq!((mixed.tile.a, mixed.tile.b, mixed.tile.blocks), (Element::Signed8, Element::Unsigned8, 2));
        let bits = Multiply::read_mma("xor.popc.m16n8k256.row.col.b1").unwrap();
        assert_eq!((bits.tile.a, bits.tile.blocks, bits.tile.and), (Element::Bit, 2, false));
        let double = Multiply::read_mma("m8n8k4.row.col.f64").unwrap();
        assert_eq!((double.tile.blocks, double.tile.d), (1, Accumulator::Double));
    }

    #[test]
    fn products_of_ptx_are_those_of_the_intrinsics() {
        let ptx = |text: &str| Multiply::read_ptx(&text.split('.').collect::<Vec<_>>());
        let half = ptx("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
        assert!(half.is_some());
        assert_eq!(half, Multiply::read_mma("m16n8k16.row.col.f32.f32"));
        assert_eq!(
            ptx("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
            Multiply::read_mma("m16n8k8.row.col.tf32")
        );
        assert_eq!(
            ptx("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32"),
            Multiply::read_mma("m16n8k32.row.col.satfinite.u8.s8")
        );
        assert_eq!(
            ptx("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc"),
            Multiply::read_mma("and.popc.m8n8k128.row.col.b1")
        );
    }

    #[test]
    fn what_has_another_layout_is_refused() {
        let ptx = |text: &str| Multiply::read_ptx(&text.split('.').collect::<Vec<_>>());
        assert_eq!(ptx("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"), None);
        assert_eq!(ptx("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"), None);
        assert_eq!(ptx("mma.sync.aligned.m16n8k16.row.col.s32.f16.f16.s32"), None);
        assert_eq!(Multiply::read_mma("m8n8k4.row.col.f32.f32"), None);
    }

    #[test]
    fn rows_come_back_from_their_places() {
        for count in [1, 2, 4] {
            for transposed in [false, true] {
                let rows = Rows { count, transposed, store: false };
                for register in 0..count {
                    for (lane, half) in (0..32).flat_map(|lane| [(lane, 0), (lane, 1)]) {
                        let (from, at) = rows.place(register, lane, half);
                        assert!(from < 32 && at < 2 * count);
                        assert_eq!(rows.origin(from, at), (register, lane, half));
                    }
                }
            }
        }
        let four = Rows::read(&["ldmatrix", "sync", "aligned", "m8n8", "x4", "trans", "shared", "b16"]).unwrap();
        // Lane 5 has column 1, rows 2 and 3 of each matrix; row 2 of the second matrix is in lane 10.
        assert_eq!(four.place(1, 5, 0), (10, 1));
        assert_eq!(four.place(1, 5, 1), (11, 1));
        assert_eq!(four.bytes(), 16);
    }
}
