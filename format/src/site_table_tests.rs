use super::*;

fn table() -> SiteTable {
    let site = Site {
        function: 0,
        op: Op::Load,
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
        ..SiteTable::default()
    }
}

#[test]
fn earlier_versions_are_read() {
    let now = table().to_bytes();
    for (version, added) in
        [(1, 24), (2, 23), (4, 22), (8, 20), (16, 17), (32, 15), (33, 11), (35, 9), (36, 7), (37, 6), (38, 5), (39, 2)]
    {
        let table_bytes = &now[HEAD_BYTES..now.len() - added];
        let mut bytes = vec![version];
        if version >= 4 {
            bytes.extend(checksum(version, table_bytes).to_le_bytes());
        }
        bytes.extend(table_bytes);
        assert_eq!(SiteTable::from_bytes(&bytes).unwrap(), table(), "version {version}");
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    let good = SiteTable { digests: vec![Some([7; 16])], ..table() }.to_bytes();
    assert!(SiteTable::from_bytes(&good).is_ok());
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(SiteTable::from_bytes(&bytes).is_err(), "bit {bit}");
    }
    for length in 0..good.len() {
        assert!(SiteTable::from_bytes(&good[..length]).is_err(), "{length} bytes");
    }
    assert!(SiteTable::from_bytes(&[&good[..], &[0]].concat()).is_err());
}

#[test]
fn hints_are_checked() {
    let with = |hints: &[(u32, Option<u32>)]| {
        let hints = hints.iter().map(|&(site, shared)| Hint { site, shared, ..Hint::default() }).collect();
        SiteTable::from_bytes(&SiteTable { hints, shared: vec!["tile".into()], ..table() }.to_bytes())
    };
    assert!(with(&[(0, Some(0)), (1, None)]).is_ok());
    for wrong in [&[(2, None)][..], &[(0, Some(1))], &[(1, None), (0, None)], &[(1, None), (1, None)]] {
        assert!(matches!(with(wrong), Err(SiteTableError::Damaged(_))), "{wrong:?}");
    }
}

#[test]
fn decisions_are_checked_and_found() {
    let decision = |block, branch, side| Decision { block, branch, side };
    let with = |decisions: &[Decision], branch_blocks: &[u32]| {
        let block = Block { chain: vec![0], ..Block::default() };
        let branch = Branch { chain: vec![0], sides: 2, ..Branch::default() };
        let (decisions, branch_blocks) = (decisions.to_vec(), branch_blocks.to_vec());
        let table = SiteTable { blocks: vec![block; 3], branches: vec![branch], decisions, branch_blocks, ..table() };
        SiteTable::from_bytes(&table.to_bytes())
    };
    let good = [decision(1, 0, 0), decision(2, 0, 1)];
    let read = with(&good, &[0]).unwrap();
    assert_eq!((read.decisions_of(0), read.decisions_of(2)), (&[][..], &good[1..]));
    for (decisions, ends) in [
        (&good[..], &[][..]),
        (&good[..], &[3][..]),
        (&[decision(3, 0, 0)][..], &[0][..]),
        (&[decision(1, 1, 0)][..], &[0][..]),
        (&[decision(1, 0, 2)][..], &[0][..]),
        (&[good[1], good[0]][..], &[0][..]),
    ] {
        assert!(matches!(with(decisions, ends), Err(SiteTableError::Damaged(_))), "{decisions:?} {ends:?}");
    }
}

#[test]
fn operands_and_parts_are_checked_and_found() {
    let operand = |site, variable, step| Operand { site, variable, steps: [step; 3], ..Operand::default() };
    let part = |block, line| BlockPart { block, chain: vec![line], ..BlockPart::default() };
    let with = |operands: Vec<Operand>, parts: Vec<BlockPart>| {
        SiteTable::from_bytes(&SiteTable { operands, parts, names: vec!["in".into()], ..table() }.to_bytes())
    };
    let good = vec![operand(0, Some(0), Step::Times(Some(0))), operand(1, None, Step::Other)];
    let blocks = table().blocks.len() as u32;
    let parts: Vec<BlockPart> = if blocks == 0 { Vec::new() } else { vec![part(0, 0), part(0, 0)] };
    let read = with(good.clone(), parts.clone()).unwrap();
    assert_eq!((read.operand(1), read.operand(7)), (Some(&good[1]), None));
    assert_eq!((read.parts_of(0), read.parts_of(1)), (&parts[..], &[][..]));
    for operands in [
        vec![operand(2, None, Step::None)],
        vec![operand(0, Some(1), Step::None)],
        vec![operand(0, None, Step::Times(Some(1)))],
        vec![operand(1, None, Step::None), operand(0, None, Step::None)],
    ] {
        assert!(matches!(with(operands, Vec::new()), Err(SiteTableError::Damaged(_))));
    }
    for parts in [vec![part(blocks, 0)], vec![part(0, 99)]] {
        assert!(matches!(with(Vec::new(), parts), Err(SiteTableError::Damaged(_))));
    }
}

#[test]
fn conditions_and_atomic_operations_are_checked_and_found() {
    use crate::condition::Decider;
    let with = |conditions: usize, sites: &[u32]| {
        let condition = Condition { deciders: vec![Decider::Thread, Decider::Data], ends_loop: true };
        let branch = Branch { chain: vec![0], sides: 2, ..Branch::default() };
        let atomics = sites.iter().map(|&site| AtomicSite { site, kind: AtomicKind::Lock }).collect();
        let conditions = vec![condition; conditions];
        SiteTable::from_bytes(&SiteTable { branches: vec![branch], conditions, atomics, ..table() }.to_bytes())
    };
    let read = with(1, &[1]).unwrap();
    assert_eq!(read.condition(0).map(|one| one.deciders.len()), Some(2));
    assert_eq!((read.atomic(1), read.atomic(0)), (Some(AtomicKind::Lock), None));
    assert_eq!(with(0, &[]).unwrap().condition(0), None);
    for (conditions, sites) in [(2, &[][..]), (1, &[2]), (1, &[1, 0]), (1, &[1, 1])] {
        assert!(matches!(with(conditions, sites), Err(SiteTableError::Damaged(_))), "{conditions} {sites:?}");
    }
}

#[test]
fn expressions_are_checked_and_found() {
    use crate::expression::{Binary, ExpressionKind};
    let node = |kind| Expression { bits: 64, exact: false, kind };
    let thread = node(ExpressionKind::Thread(0));
    let with = |expressions: &[Expression], addresses: &[(u32, u32)], loops: &[LoopExpression]| {
        let address = |&(site, address): &(u32, u32)| AddressExpression { site, address, ..Default::default() };
        let addresses = addresses.iter().map(address).collect();
        let (expressions, loops) = (expressions.to_vec(), loops.to_vec());
        SiteTable::from_bytes(&SiteTable { expressions, addresses, loops, ..table() }.to_bytes())
    };
    let good = with(&[thread, node(ExpressionKind::Binary(Binary::Sum, 0, 0))], &[(1, 1)], &[]).unwrap();
    assert_eq!((good.address(1).map(|one| one.address), good.address(0)), (Some(1), None));
    let counted = node(ExpressionKind::Counter(0));
    let counted_loop = LoopExpression { ends: vec![0], ..LoopExpression::default() };
    assert!(with(&[counted], &[(0, 0)], &[counted_loop]).is_ok());
    let inside_itself = LoopExpression { around: vec![0], ..LoopExpression::default() };
    for (expressions, addresses, loops) in [
        (&[node(ExpressionKind::Signed(0))][..], &[][..], &[][..]),
        (&[node(ExpressionKind::Thread(3))], &[], &[]),
        (&[Expression { bits: 65, ..thread }], &[], &[]),
        (&[Expression { bits: 0, ..thread }], &[], &[]),
        (&[node(ExpressionKind::Global(0))], &[], &[]),
        (&[node(ExpressionKind::Shared(0))], &[], &[]),
        (&[counted], &[], &[]),
        (&[thread], &[(0, 1)], &[]),
        (&[thread], &[(2, 0)], &[]),
        (&[thread], &[(1, 0), (0, 0)], &[]),
        (&[thread], &[], &[inside_itself]),
    ] {
        let read = with(expressions, addresses, loops);
        assert!(matches!(read, Err(SiteTableError::Damaged(_))), "{expressions:?} {addresses:?} {loops:?}");
    }
}

#[test]
fn accesses_in_registers_are_checked_and_found() {
    let with = |in_registers: &[u32]| {
        let local = Site { space: Space::Local, ..table().sites[0].clone() };
        let sites = vec![local.clone(), table().sites[0].clone(), local];
        SiteTable { sites, in_registers: in_registers.to_vec(), ..table() }
    };
    let read = SiteTable::from_bytes(&with(&[2]).to_bytes()).unwrap();
    assert_eq!([0, 1, 2].map(|site| read.is_in_registers(site)), [false, false, true]);
    for wrong in [&[1][..], &[3], &[2, 0], &[0, 0]] {
        let read = SiteTable::from_bytes(&with(wrong).to_bytes());
        assert!(matches!(read, Err(SiteTableError::Damaged(_))), "{wrong:?}");
    }
    let mut marked = with(&[]);
    marked.keep_in_registers(&BTreeSet::from(["another".into()]));
    assert!(marked.in_registers.is_empty() && marked.has_local_accesses());
    marked.keep_in_registers(&BTreeSet::from([marked.functions[0].mangled.clone()]));
    assert_eq!(marked.in_registers, [0, 2]);
}

#[test]
fn bundles_are_checked() {
    let with = |members: &[(u32, i32)]| {
        let members = members.iter().map(|&(site, offset)| Member { site, offset }).collect();
        SiteTable::from_bytes(&SiteTable { bundles: vec![Bundle { members }], ..table() }.to_bytes())
    };
    assert!(with(&[(0, 0), (1, -4)]).is_ok());
    for wrong in [&[][..], &[(0, 4)], &[(0, 0), (2, 4)], &[(0, 0); MOST_MEMBERS + 1]] {
        assert!(matches!(with(wrong), Err(SiteTableError::Damaged(_))), "{wrong:?}");
    }
}
