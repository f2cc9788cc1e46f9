//! Structures and vector types whose members a conflicting access takes.

use super::super::super::facts::access::Access;
use super::lanes::are_neighbours;
use crate::profile::model::BankConflict;

/// Whether it takes a member of an array's structures, and not of one structure that holds the array.
pub(super) fn of_structures(access: &Access<'_>, stride: Option<i64>, example: &BankConflict) -> bool {
    let Some(operand) = access.operand else { return false };
    let size = u64::from(operand.structure_bytes);
    // An array within a structure: without the structure's size, lanes are taken to stay in it.
    let is_array = size == 0 && operand.member.as_deref().is_some_and(|member| member.ends_with("[]"));
    operand.member.is_some()
        && !is_array
        && (stride.is_none_or(|stride| size <= stride.unsigned_abs()) || are_neighbours(example, size))
}

/// Bytes of the vector type whose members it takes one at a time: padding would take its alignment away. Where the size of the type is not
/// known, as of what is read through another one, its members tell.
pub(super) fn of_vector(access: &Access<'_>, example: &BankConflict) -> Option<u64> {
    let size = match u64::from(access.operand?.structure_bytes) {
        0 => of_all_members(access)?,
        size => size,
    };
    (matches!(size, 8 | 16) && size > u64::from(example.bytes)).then_some(size)
}

/// Bytes of all members of a vector of two or four, where the access takes them all.
fn of_all_members(access: &Access<'_>) -> Option<u64> {
    let names: Vec<&str> = access.members.keys().map(|name| name.trim_start_matches("[].")).collect();
    let all = ["w", "x", "y", "z"];
    (names == all || names == all[1..3]).then(|| access.members.values().map(|&bytes| u64::from(bytes)).sum())
}
