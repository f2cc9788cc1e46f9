//! Accesses to arrays that are members of structures, and the layouts of these structures.
//!
//! If the source indexes an array that is a member of a structure, each address of the access lies in this member. The
//! analyzer compares the addresses with it, because an access beyond the member meets another one, which is no fault.

use serde::{Deserialize, Serialize};

use crate::site_table::SiteTable;

/// An access that the source makes by an index into a member of a structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberAccess {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// An address at which one of the structures starts. The others are at multiples of their size from it.
    pub base: Base,
    /// The arrays that the access indexes, outermost first. Each but the first is a member of an element of the one
    /// before it.
    pub levels: Vec<MemberArray>,
}

/// An address that is known when a kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Base {
    /// The pointer in a kernel parameter.
    Parameter {
        /// Number of the parameter, counted from 0.
        parameter: u32,
        /// Offset in bytes within the parameter.
        offset: u32,
    },
    /// The start of a variable, an index into [`SiteTable::globals`].
    Global(u32),
    /// The start of a shared variable, an index into [`SiteTable::shared`].
    Shared(u32),
}

impl Default for Base {
    fn default() -> Base {
        Base::Parameter { parameter: 0, offset: 0 }
    }
}

/// An array within a structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberArray {
    /// Name with its variable, for example `particles.velocity`; an index into [`SiteTable::names`].
    pub name: u32,
    /// Index into [`SiteTable::structures`].
    pub structure: u32,
    /// Offset in bytes from the start of the structure.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// The layout of a structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Structure {
    /// Name, an index into [`SiteTable::names`]; `None` if it has none.
    pub name: Option<u32>,
    /// Size in bytes, at least 1.
    pub bytes: u32,
    /// Members in ascending order of offsets; empty if unknown. Padding is in none of them.
    pub members: Vec<Field>,
}

/// A member of a structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// Path, for example `.velocity.x` or `.keys[]`; an index into [`SiteTable::names`].
    pub name: u32,
    /// Offset in bytes from the start of the structure.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// The position of an access that leaves its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Index of the array into [`MemberAccess::levels`].
    pub level: u32,
    /// Offset in bytes of the access from the start of the structure.
    pub offset: u32,
}

impl SiteTable {
    /// Returns the member that a site indexes, if it is known.
    pub fn member_access(&self, site: u32) -> Option<&MemberAccess> {
        let found = self.member_accesses.binary_search_by_key(&site, |access| access.site);
        found.ok().map(|index| &self.member_accesses[index])
    }

    /// Returns the position of `bytes` bytes at a distance from the base, if they are outside the member that
    /// `access` indexes.
    pub fn overrun(&self, access: &MemberAccess, distance: i64, bytes: u32) -> Option<Overrun> {
        let mut within = distance;
        for (level, array) in (0..).zip(&access.levels) {
            let size = self.structures.get(array.structure as usize)?.bytes;
            // The remainder is less than the size, which has 32 bits.
            let offset = within.rem_euclid(i64::from(size)) as u32;
            let index = offset.checked_sub(array.offset);
            if index.and_then(|index| index.checked_add(bytes)).is_none_or(|end| end > array.bytes) {
                return Some(Overrun { level, offset });
            }
            within = index.unwrap_or(0).into();
        }
        None
    }

    /// Validates the accesses to members and the structures, so that users of a table need not.
    pub(crate) fn check_members(&self) -> Result<(), &'static str> {
        let is_name = |name: u32| (name as usize) < self.names.len();
        let fits = |offset: u32, bytes: u32, size: u32| offset.checked_add(bytes).is_some_and(|end| end <= size);
        let structure = |one: &Structure| {
            let rising = one.members.windows(2).all(|pair| pair[0].offset <= pair[1].offset);
            let field = |field: &Field| is_name(field.name) && fits(field.offset, field.bytes, one.bytes);
            one.bytes > 0 && one.name.is_none_or(is_name) && rising && one.members.iter().all(field)
        };
        let level = |level: &MemberArray| {
            let structure = self.structures.get(level.structure as usize);
            is_name(level.name) && structure.is_some_and(|structure| fits(level.offset, level.bytes, structure.bytes))
        };
        let access = |one: &MemberAccess| {
            let base = match one.base {
                Base::Parameter { .. } => true,
                Base::Global(number) => (number as usize) < self.globals.len(),
                Base::Shared(number) => (number as usize) < self.shared.len(),
            };
            (one.site as usize) < self.sites.len() && base && !one.levels.is_empty() && one.levels.iter().all(level)
        };
        let rising = self.member_accesses.windows(2).all(|pair| pair[0].site < pair[1].site);
        if !rising || !self.structures.iter().all(structure) || !self.member_accesses.iter().all(access) {
            return Err("members of structures, or accesses to them, that it does not have");
        }
        Ok(())
    }
}

impl Structure {
    /// Returns the member at an offset; `None` in padding, or if the members are unknown.
    pub fn member_at(&self, offset: u32) -> Option<&Field> {
        self.members.iter().find(|field| field.offset <= offset && offset - field.offset < field.bytes)
    }
}

#[cfg(test)]
#[path = "member_tests.rs"]
mod tests;
