//! The texture fetches and surface accesses of inline assembly, which become calls of the runtime's texture unit.

use super::machine::Machine;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::LANES;
use crate::llvm::Value;
use crate::ptx::parse::Operand;
use warpline_format::abi::{NO_SITE, surface, texture};
use warpline_format::operation::ValueType;

/// The positions of handles, coordinates and values in the memory that a call receives, and its size.
const COORDINATES: u64 = 8 * LANES as u64;
const VALUES: u64 = COORDINATES + 4 * 4 * LANES as u64;
const BYTES: u64 = VALUES + 4 * 8 * LANES as u64;

/// Returns the geometry among the parts of an operation.
fn geometry(parts: &[&str]) -> Option<u32> {
    parts.iter().find_map(|part| {
        Some(match *part {
            "1d" => texture::ONE,
            "a1d" => texture::LAYERED_ONE,
            "2d" => texture::TWO,
            "a2d" => texture::LAYERED_TWO,
            "3d" => texture::THREE,
            "cube" => texture::CUBE,
            "acube" => texture::LAYERED_CUBE,
            _ => return None,
        })
    })
}

/// Returns the position of each coordinate of the assembly among x, y, z and layer. Additional operands of the assembly
/// are padding.
fn places(geometry: u32) -> &'static [u64] {
    match geometry {
        texture::ONE => &[0],
        texture::LAYERED_ONE => &[3, 0],
        texture::TWO => &[0, 1],
        texture::LAYERED_TWO => &[3, 0, 1],
        texture::LAYERED_CUBE => &[3, 0, 1, 2],
        _ => &[0, 1, 2],
    }
}

/// Returns the size of an element of a surface access in bytes, and the number of elements.
fn surface_elements(parts: &[&str]) -> Option<(u32, u32)> {
    let bits = parts.iter().find_map(|part| match *part {
        "b8" => Some(8),
        "b16" => Some(16),
        "b32" => Some(32),
        "b64" => Some(64),
        _ => None,
    })?;
    let count = if parts.contains(&"v4") { 4 } else { 1 + u32::from(parts.contains(&"v2")) };
    (bits * count <= 128).then_some((bits / 8, count))
}

impl<'c> Emitter<'_, 'c> {
    /// Returns the object to which a texture reference is bound; the reference's variable contains the handle. The
    /// hardware does not read the handle from memory, so nothing is recorded.
    pub fn texture_handle(&mut self, call: Value<'c>) -> Emitted<Leaf<'c>> {
        let Leaf::Uniform(address) = self.leaf(call.operand(0))? else {
            return Err(Refusal::new(call, "a texture reference chosen when the kernel runs"));
        };
        let place = self.b.int_to_ptr(address, self.t.pointer(0));
        Ok(Leaf::Uniform(self.b.load(self.t.int(64), place, 4)))
    }

    /// Returns the site that the hook before the assembly named.
    fn texture_site(&mut self) -> Value<'c> {
        let site = self.next_fetch();
        self.i32(site.unwrap_or(NO_SITE))
    }

    /// Returns memory for a call, after storing handles and coordinates in it.
    fn texture_operands(&mut self, machine: &Machine<'c>, operand: &Operand, geometry: u32) -> Option<Value<'c>> {
        let Operand::Texture(handle, coordinates) = operand else { return None };
        let place = self.once("texture", |this| this.entry.alloca(this.t.int(8).array(BYTES), 64));
        let handles = self.read(machine, handle, 64)?;
        self.b.store(handles, place, 64);
        let places = places(geometry);
        if coordinates.len() < places.len() {
            return None;
        }
        for (coordinate, at) in coordinates.iter().zip(places) {
            let lanes = self.read(machine, coordinate, 32)?;
            self.b.store(lanes, self.b.offset(place, COORDINATES + 4 * u64::from(LANES) * at), 64);
        }
        Some(place)
    }

    /// Lowers `tex` and `tld4`; returns `None` for a form that is not supported. Levels and gradients have no effect,
    /// because images have only one level.
    pub fn asm_texture(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let geometry = geometry(parts)?;
        let [.., kind, coordinate] = parts else { return None };
        if !matches!(*kind, "f32" | "u32" | "s32") {
            return None;
        }
        let mut operation = geometry;
        match *coordinate {
            "s32" if geometry == texture::ONE => operation |= texture::INTEGER,
            "f32" => {}
            _ => return None,
        }
        if parts[0] == "tld4" {
            let component = ["r", "g", "b", "a"].iter().position(|name| parts[1] == *name)?;
            operation |= texture::GATHER | (component as u32) << texture::COMPONENT_SHIFT;
        }
        let (targets, resident) = match operands.first()? {
            Operand::Group(targets) => (targets, None),
            Operand::Pair(targets, resident) => match &**targets {
                Operand::Group(targets) => (targets, Some(resident)),
                _ => return None,
            },
            _ => return None,
        };
        let place = self.texture_operands(machine, operands.get(1)?, geometry)?;
        let (coordinates, values) = (self.b.offset(place, COORDINATES), self.b.offset(place, VALUES));
        let mask = self.guarded_mask(machine, guard);
        let site = self.texture_site();
        let function = self.unit().runtime().texture();
        self.b.call(function, &[self.context(), mask, site, self.i32(operation), place, coordinates, values]);
        let load = |this: &Self, index: usize| {
            let from = this.b.offset(values, 4 * u64::from(LANES) * index as u64);
            this.b.load(this.int_lanes(32), from, 64)
        };
        let loaded: Vec<_> = (0..targets.len()).map(|index| load(self, index)).collect();
        let number = |suffix: &str| if suffix == "f32" { ValueType::Single } else { ValueType::Int32 };
        self.follow_fetch(machine, operands.get(1)?, &loaded, (number(kind), number(coordinate)), mask);
        for (target, value) in targets.iter().zip(loaded) {
            self.write(machine, target, value, guard)?;
        }
        if let Some(resident) = resident {
            // Nothing is ever paged out.
            let yes = self.same(Value::zero(self.int_lanes(1)), 1);
            self.write(machine, resident, yes, guard)?;
        }
        Some(())
    }

    /// Lowers `suld` and `sust`; returns `None` for a form that is not supported.
    pub fn asm_surface(
        &mut self,
        machine: &mut Machine<'c>,
        parts: &[&str],
        operands: &[Operand],
        guard: Option<Value<'c>>,
    ) -> Option<()> {
        let geometry = geometry(parts)?;
        // The formatted forms convert values.
        if parts.get(1) != Some(&"b") {
            return None;
        }
        let (bytes, count) = surface_elements(parts)?;
        let boundary = match *parts.last()? {
            "zero" => surface::ZERO,
            "clamp" => surface::CLAMP,
            "trap" => surface::TRAP,
            _ => return None,
        };
        let store = parts[0] == "sust";
        let (image, group) =
            if store { (operands.first()?, operands.get(1)?) } else { (operands.get(1)?, &operands[0]) };
        let Operand::Group(elements) = group else { return None };
        let mut operation = geometry
            | bytes.trailing_zeros() << surface::ELEMENT_SHIFT
            | count.trailing_zeros() << surface::COUNT_SHIFT
            | boundary << surface::BOUNDARY_SHIFT;
        let place = self.texture_operands(machine, image, geometry)?;
        let (coordinates, values) = (self.b.offset(place, COORDINATES), self.b.offset(place, VALUES));
        if elements.len() != count as usize {
            return None;
        }
        let at = |this: &Self, index: usize| this.b.offset(values, 8 * u64::from(LANES) * index as u64);
        if store {
            operation |= surface::STORE;
            for (index, element) in elements.iter().enumerate() {
                let value = self.read(machine, element, 64)?;
                self.b.store(value, at(self, index), 64);
            }
        }
        let mask = self.guarded_mask(machine, guard);
        let site = self.texture_site();
        let function = self.unit().runtime().surface();
        self.b.call(function, &[self.context(), mask, site, self.i32(operation), place, coordinates, values]);
        let moved: Vec<_> =
            (0..elements.len()).map(|index| self.b.load(self.int_lanes(64), at(self, index), 64)).collect();
        if let Some(ty) = ValueType::from_integer_bits(8 * bytes) {
            let narrow: Vec<_> =
                moved.iter().map(|value| self.b.fit_lanes(*value, self.int_lanes(ty.bits()))).collect();
            self.follow_fetch(machine, image, &narrow, (ty, ValueType::Int32), mask);
        }
        if !store {
            for (element, value) in elements.iter().zip(moved) {
                // Bytes are in registers of 16 bits.
                let value = self.b.fit_lanes(value, self.int_lanes((8 * bytes).max(16)));
                self.write(machine, element, value, guard)?;
            }
        }
        Some(())
    }

    /// Tracks the values of a texture fetch or surface access, with its first coordinates as operands.
    fn follow_fetch(
        &mut self,
        machine: &Machine<'c>,
        operand: &Operand,
        values: &[Value<'c>],
        (ty, by): (ValueType, ValueType),
        mask: Value<'c>,
    ) {
        let (true, Operand::Texture(_, coordinates)) = (self.operation.is_some(), operand) else { return };
        let read = coordinates.iter().map_while(|coordinate| Some((self.read(machine, coordinate, 32)?, by)));
        let coordinates: Vec<_> = read.collect();
        for (index, value) in values.iter().enumerate() {
            self.follow_part(index, values.len());
            self.follow_moved_value((*value, ty), &coordinates, mask);
        }
    }
}
