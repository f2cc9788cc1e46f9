use super::*;
use crate::site_table::{File, Frame, Function, Op, Site, SiteTableError};
use crate::{access::Space, site_table::CacheOp};
use proptest::prelude::*;

fn table(structures: Vec<Structure>, member_accesses: Vec<MemberAccess>) -> SiteTable {
    let site = Site {
        function: 0,
        op: Op::Store,
        space: Space::Global,
        bytes: 4,
        byte_mask: None,
        align: 4,
        cache: CacheOp::Default,
        chain: vec![0],
        approximate: false,
        in_library: false,
    };
    SiteTable {
        files: vec![File::default()],
        frames: vec![Frame::default()],
        functions: vec![Function::default()],
        sites: vec![site.clone(), site],
        shared: vec!["tile".into()],
        names: vec!["p.a".into()],
        structures,
        member_accesses,
        ..SiteTable::default()
    }
}

fn structure(bytes: u32, members: &[(u32, u32)]) -> Structure {
    let members = members.iter().map(|&(offset, bytes)| Field { name: 0, offset, bytes }).collect();
    Structure { name: None, bytes, members }
}

fn access(site: u32, base: Base, levels: &[(u32, u32, u32)]) -> MemberAccess {
    let levels =
        levels.iter().map(|&(structure, offset, bytes)| MemberArray { structure, name: 0, offset, bytes }).collect();
    MemberAccess { site, base, levels }
}

#[test]
fn members_are_checked_and_found() {
    let read = |structures: &[Structure], accesses: &[MemberAccess]| {
        SiteTable::from_bytes(&table(structures.to_vec(), accesses.to_vec()).to_bytes())
    };
    let layout = structure(32, &[(0, 16), (16, 8)]);
    let good = [access(0, Base::Shared(0), &[(0, 16, 16)]), access(1, Base::default(), &[(0, 0, 16)])];
    let found = read(std::slice::from_ref(&layout), &good).unwrap();
    assert_eq!((found.member_access(1), found.member_access(7)), (Some(&good[1]), None));
    let at = |offset| layout.member_at(offset).map(|field| field.offset);
    assert_eq!([at(0), at(15), at(16), at(24)], [Some(0), Some(0), Some(16), None]);
    for wrong in [
        access(2, Base::default(), &[(0, 0, 4)]),
        access(0, Base::Shared(1), &[(0, 0, 4)]),
        access(0, Base::Global(0), &[(0, 0, 4)]),
        access(0, Base::default(), &[]),
        access(0, Base::default(), &[(1, 0, 4)]),
        access(0, Base::default(), &[(0, 24, 12)]),
        access(0, Base::default(), &[(0, u32::MAX, 4)]),
    ] {
        let result = read(std::slice::from_ref(&layout), std::slice::from_ref(&wrong));
        assert!(matches!(result, Err(SiteTableError::Damaged(_))), "{wrong:?}");
    }
    for wrong in [structure(0, &[]), structure(8, &[(4, 8)]), structure(8, &[(4, 4), (0, 4)])] {
        assert!(read(std::slice::from_ref(&wrong), &[]).is_err(), "{wrong:?}");
    }
    let unnamed = MemberArray { name: 1, bytes: 4, ..MemberArray::default() };
    let unnamed = MemberAccess { levels: vec![unnamed], ..MemberAccess::default() };
    assert!(read(std::slice::from_ref(&layout), &[unnamed]).is_err());
    assert!(read(&[layout], &[good[1].clone(), good[0].clone()]).is_err());
}

proptest! {
    /// An access is outside its members exactly if it has a byte that no element of the arrays has.
    #[test]
    fn overruns_are_those_of_marked_bytes(
        outer in (1u32..48, 0u32..48, 1u32..48), inner in (1u32..12, 0u32..12, 1u32..12),
        nested in any::<bool>(), distance in -200i64..200, bytes in 1u32..9
    ) {
        let clip = |(size, offset, bytes): (u32, u32, u32)| {
            let offset = offset % size;
            (size, offset, bytes.min(size - offset))
        };
        let ((size, offset, length), (step, within, part)) = (clip(outer), clip(inner));
        let mut levels = vec![(0, offset, length)];
        if nested {
            levels.push((1, within, part));
        }
        let table = table(vec![structure(size, &[]), structure(step, &[])], vec![access(0, Base::default(), &levels)]);
        // The element of the innermost array that each byte of the structure belongs to.
        let mut elements = vec![None; size as usize];
        for byte in 0..length {
            let inside = byte % step;
            if !nested {
                elements[(offset + byte) as usize] = Some(0);
            } else if (within..within + part).contains(&inside) {
                elements[(offset + byte) as usize] = Some(byte / step);
            }
        }
        let start = distance.rem_euclid(i64::from(size)) as usize;
        let touched: Vec<_> = (start..start + bytes as usize).map(|byte| elements.get(byte).copied().flatten()).collect();
        let fits = touched[0].is_some() && touched.iter().all(|element| *element == touched[0]);
        let found = table.overrun(&table.member_accesses[0], distance, bytes);
        prop_assert_eq!(found.is_none(), fits);
    }
}
