//! Changes arrays of structures to structures of arrays.
//!
//! In an array of structures of `S` bytes, the member at byte `m` of element `i` lies at `base + S · i + m`. After the
//! change, it lies at `base + m · N + w · i`, where `N` is the number of elements and `w` the bytes of the member. The
//! start of each member's array is additionally aligned.

use std::collections::BTreeSet;

use warpline_format::expression::{AddressExpression, Binary};

use super::graph::Graph;
use super::{ChangeError, Origin};
use crate::evaluated::Evaluated;
use crate::form::gcd;
use crate::subject::Subject;
use crate::value::Value;
use warpline_profile::model::Addresses;

/// Alignment in bytes of each member's array, as for allocations of `cudaMalloc`.
const ALIGNED: u64 = 256;

/// Returns the expressions after an array (given by its number in the subject) was split into one array per member, the
/// origin of each site, and the size of the structures in bytes.
///
/// # Errors
/// [`ChangeError::NoMembers`].
pub fn parted(subject: &Subject<'_>, array: usize) -> Result<(Addresses, Vec<Origin>, u64), ChangeError> {
    let known = &subject.arrays[array];
    let no = |reason: &str| ChangeError::NoMembers { name: known.name(), reason: reason.to_owned() };
    let (Some(base), Some(bytes)) = (known.base, known.bytes) else {
        return Err(no("where it starts and ends is not known"));
    };
    let evaluated = Evaluated::new(subject.addresses, &subject.launch);
    let own = || (0..subject.addresses.sites.len()).filter(|&number| subject.allocations[number] == array);
    // The size of the structure is the common divisor of all index strides.
    let mut size = 0;
    let mut starts = Vec::new();
    for number in own() {
        let Value::Form(form) = evaluated.value(subject.addresses.sites[number].address) else {
            return Err(no("some of its addresses are not affine, so its members cannot be distinguished"));
        };
        size = form.terms.iter().fold(size, |size, (_, factor)| gcd(size, factor.unsigned_abs()));
        starts.push((number, form.constant));
    }
    let elements = bytes.checked_div(size).filter(|elements| *elements > 1);
    let Some(elements) = elements else { return Err(no("no index selects its elements")) };
    // Members end where an access starts or ends. An access that covers several members, such as a vector load, becomes
    // one access per member.
    let mut borders = BTreeSet::from([0, size]);
    let mut places = Vec::new();
    for (number, start) in starts {
        let place = start.wrapping_sub(base as i64).rem_euclid(size as i64) as u64;
        let end = place + u64::from(subject.accesses[number].bytes);
        if end > size {
            return Err(no("some access touches more than one of its structures"));
        }
        borders.extend([place, end]);
        places.push((number, place, end));
    }
    if places.iter().all(|(_, place, end)| (*place, *end) == (0, size)) && borders.len() == 2 {
        return Err(no("its elements have only one member, so they cannot be split"));
    }
    let mut changed = subject.addresses.clone();
    let mut graph = Graph::new(&changed.expressions);
    let mut origins = Vec::new();
    let mut sites = Vec::new();
    for (number, site) in subject.addresses.sites.iter().enumerate() {
        let Some((_, place, end)) = places.iter().find(|(own, ..)| *own == number) else {
            sites.push(site.clone());
            origins.push(Origin { site: number, copy: 0, bytes: None });
            continue;
        };
        let start = graph.constant(base as i64, 64);
        let distance = graph.exact(Binary::Difference, site.address, start, 64);
        let structure = graph.constant(size as i64, 64);
        let element = graph.exact(Binary::UnsignedQuotient, distance, structure, 64);
        let inside: Vec<u64> = borders.range(place..=end).copied().collect();
        for pair in inside.windows(2) {
            let before = borders.range(..pair[0]).count() as u64;
            let array = pair[0].wrapping_mul(elements).next_multiple_of(ALIGNED).wrapping_add(before * ALIGNED);
            let width = pair[1] - pair[0];
            let factor = graph.constant(width as i64, 64);
            let along = graph.exact(Binary::Product, element, factor, 64);
            let member = graph.constant(base.wrapping_add(array) as i64, 64);
            sites.push(AddressExpression { address: graph.exact(Binary::Sum, along, member, 64), ..site.clone() });
            origins.push(Origin { site: number, copy: 0, bytes: u32::try_from(width).ok() });
        }
    }
    changed.expressions = graph.expressions;
    changed.sites = sites;
    Ok((changed, origins, size))
}
