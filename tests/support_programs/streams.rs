//! What two runs of a program sent, warp by warp, so that devices can be compared.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::BufReader;
use std::path::Path;
use warpline::trace::{Ending, Message, TraceReader};
use warpline_format::access::{Access, Item, Items, Space, bundle_of};
use warpline_format::event::{AllocationKind, BlockCount, BranchCount, Event, Launch, SiteCount};
use warpline_format::gpu::is_counted;
use warpline_format::site_table::SiteTable;

/// One thing that a warp did, all in words: a request with its site, space and addresses, a barrier, a call.
type Deed = String;

/// What a warp did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stream {
    /// Does not depend on their order.
    summed: u64,
    deeds: u64,
}

impl Stream {
    fn add(&mut self, deed: &impl Hash) {
        let mut hasher = DefaultHasher::new();
        deed.hash(&mut hasher);
        let one = hasher.finish();
        self.summed = self.summed.wrapping_add(one);
        self.deeds += 1;
    }
}

/// Requests of a site in a space.
#[derive(Clone, Debug, Default)]
struct Requests {
    lanes: u64,
    ideal: u64,
    sectors: BTreeMap<u32, u64>,
    lines: BTreeMap<u32, u64>,
}

/// A launch as it was recorded.
struct Ran {
    launch: Launch,
    streams: HashMap<(u64, u32), Stream>,
    requests: BTreeMap<(u32, u8), Requests>,
    blocks: Vec<BlockCount>,
    branches: Vec<BranchCount>,
    /// Counted on the device.
    counted: Option<Vec<SiteCount>>,
    error: i32,
}

/// Where an allocation lies.
struct Allocated {
    id: u64,
    address: u64,
    bytes: u64,
    kind: AllocationKind,
    /// Number among those that both devices have.
    number: u64,
}

/// A run as it was recorded.
pub struct Recorded {
    /// Allocations, frees and copies, in order, without what only the CPU device has: arrays are opaque on a GPU.
    memory: Vec<String>,
    allocated: Vec<Allocated>,
    /// Sites, by module, that read what has no address on a GPU: arrays, and tables that the compiler made.
    unseen: BTreeSet<(u32, u32)>,
    launches: BTreeMap<u64, Ran>,
    tables: Vec<SiteTable>,
    operations: u64,
    complete: bool,
}

/// A warp whose deeds are wanted.
type Wanted = (u64, u64, u32);

/// Reads a trace without the accesses of some sites; the deeds of one warp are written out where they are wanted.
fn read(path: &Path, without: &BTreeSet<(u32, u32)>, wanted: Option<Wanted>) -> (Recorded, Vec<Deed>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = TraceReader::new(BufReader::new(file)).expect("a trace");
    let mut recorded = Recorded {
        memory: Vec::new(),
        allocated: Vec::new(),
        unseen: BTreeSet::new(),
        launches: BTreeMap::new(),
        tables: Vec::new(),
        operations: 0,
        complete: false,
    };
    let mut slots: HashMap<(u64, u32), (u64, u32)> = HashMap::new();
    let mut deeds = Vec::new();
    loop {
        match reader.next() {
            Ok(Message::Event(event)) => recorded.event(*event),
            Ok(Message::Batch { launch, items }) => {
                let Recorded { launches, tables, allocated, unseen, operations, .. } = &mut recorded;
                let ran = launches.get_mut(&launch).expect("records come after their launch");
                let table = &tables[ran.launch.module as usize];
                let mut turn = (0, 0);
                for item in Items::new(items) {
                    let item = item.expect("an item");
                    match item {
                        Item::BlockStart { slot, warps, block } => {
                            for warp in 0..warps {
                                slots.insert((launch, slot + warp), (block, warp));
                                ran.streams.entry((block, warp)).or_default();
                            }
                        }
                        Item::Turn { slot, .. } => turn = slots[&(launch, slot)],
                        _ => {
                            let stream = ran.streams.get_mut(&turn).expect("its block has started");
                            let mut tell = |deed: Deed| {
                                if wanted == Some((launch, turn.0, turn.1)) {
                                    deeds.push(deed);
                                }
                            };
                            match item {
                                Item::Access(access) => each_member(table, &access, &mut |access| {
                                    let site = (ran.launch.module, access.site);
                                    if without.contains(&site) {
                                        return;
                                    }
                                    let mut lanes = lanes_of(access);
                                    if matches!(access.space, Space::Global | Space::Constant | Space::Generic) {
                                        for (_, address) in &mut lanes {
                                            if place(allocated, address) {
                                                unseen.insert(site);
                                            }
                                        }
                                    }
                                    stream.add(&(access.site, access.space as u8, access.mask, &lanes));
                                    let key = (access.site, access.space as u8);
                                    ran.requests.entry(key).or_default().add(table, access, &lanes);
                                    tell(format!(
                                        "site {} {:?} mask {:08x} at {:x?}",
                                        access.site,
                                        access.space,
                                        access.mask,
                                        lanes.iter().map(|lane| lane.1).collect::<Vec<_>>()
                                    ));
                                }),
                                other => {
                                    *operations += u64::from(matches!(other, Item::Operation(_)));
                                    let text = format!("{other:?}");
                                    stream.add(&text);
                                    tell(text);
                                }
                            }
                        }
                    }
                }
            }
            Err(Ending::Complete) => {
                recorded.complete = true;
                break;
            }
            Err(_) => break,
        }
    }
    (recorded, deeds)
}

/// Turns an address into the allocation's number and the offset there; returns whether a GPU has no such allocation.
fn place(allocated: &[Allocated], address: &mut u64) -> bool {
    let holds = |one: &&Allocated| address.wrapping_sub(one.address) < one.bytes.max(1);
    let Some(found) = allocated.iter().rev().find(holds) else { return false };
    let unseen = matches!(found.kind, AllocationKind::Array | AllocationKind::Compiler);
    *address = *address - found.address + (found.number << 44);
    unseen
}

fn lanes_of(access: &Access<'_>) -> Vec<(u32, u64)> {
    let mut lanes = Vec::with_capacity(32);
    access.for_each_lane(|lane, address| lanes.push((lane, address)));
    lanes
}

/// The accesses that a record stands for.
fn each_member(table: &SiteTable, access: &Access<'_>, f: &mut impl FnMut(&Access<'_>)) {
    let Some(bundle) = bundle_of(access.site) else { return f(access) };
    for member in &table.bundles[bundle as usize].members {
        let mut spare = [0; 256];
        f(&access.member(member.site, member.offset, &mut spare));
    }
}

impl Requests {
    fn add(&mut self, table: &SiteTable, access: &Access<'_>, lanes: &[(u32, u64)]) {
        let site = &table.sites[access.site as usize];
        let words = |lane: u32, address: u64| -> Vec<(u64, u64)> {
            if access.space == Space::Local {
                // The same word of neighbouring lanes is contiguous.
                let word = |index: u64| ((address / 4 + index) * 128 + 4 * u64::from(lane), 4);
                return (0..u64::from(site.bytes.div_ceil(4))).map(word).collect();
            }
            vec![(address, u64::from(site.bytes))]
        };
        let pieces = |size: u64| -> u32 {
            let touched: BTreeSet<u64> = (lanes.iter().flat_map(|&(lane, address)| words(lane, address)))
                .flat_map(|(address, bytes)| address / size..=(address + bytes - 1) / size)
                .collect();
            touched.len() as u32
        };
        let useful = u64::from(site.byte_mask.map_or(site.bytes, u64::count_ones));
        let places: BTreeSet<(u32, u64)> = (lanes.iter())
            .map(|&(lane, address)| if access.space == Space::Local { (lane, 0) } else { (0, address) })
            .collect();
        self.lanes += lanes.len() as u64;
        self.ideal += (useful * places.len() as u64).div_ceil(32);
        *self.sectors.entry(pieces(32)).or_default() += 1;
        *self.lines.entry(pieces(128)).or_default() += 1;
    }
}

impl Recorded {
    /// Reads a trace.
    pub fn read(path: &Path) -> Recorded {
        read(path, &BTreeSet::new(), None).0
    }

    /// Number of launches with their requests.
    pub fn launches(&self) -> usize {
        self.launches.len()
    }

    /// Requests in all.
    pub fn requests(&self) -> u64 {
        let all = self.launches.values().flat_map(|ran| ran.requests.values());
        all.flat_map(|requests| requests.sectors.values()).sum()
    }

    /// Number of recorded executions of operations.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Module { site_table, .. } => {
                self.tables.push(SiteTable::from_bytes(&site_table).expect("a site table"));
            }
            Event::Allocation(allocation) => {
                let (id, kind, address, bytes) = (allocation.id, allocation.kind, allocation.address, allocation.bytes);
                let shared = |kind| kind != AllocationKind::Array;
                let number = 1 + self.allocated.iter().filter(|one| shared(one.kind)).count() as u64;
                self.allocated.push(Allocated { id, address, bytes, kind, number });
                if shared(kind) {
                    self.memory.push(format!("allocation {number} {kind:?} {bytes} {:?}", allocation.name));
                }
            }
            Event::Free { id, .. } => {
                let at = self.allocated.iter().position(|one| one.id == id).expect("what is freed was allocated");
                if self.allocated[at].kind != AllocationKind::Array {
                    self.memory.push(format!("free {}", self.allocated[at].number));
                }
                // Later allocations may lie there.
                self.allocated[at].bytes = 0;
                self.allocated[at].address = u64::MAX;
            }
            Event::Copy(copy) => {
                let mut copy = warpline_format::event::Copy { path: 0, ..copy };
                let ends = copy.destination.iter_mut().chain(copy.source.iter_mut());
                let arrays = ends.map(|address| place(&self.allocated, address)).fold(false, |one, other| one | other);
                if !arrays {
                    self.memory.push(format!("{copy:?}"));
                }
            }
            Event::Launch(launch) => {
                let ran = Ran {
                    launch: Launch { path: 0, ..launch },
                    streams: HashMap::new(),
                    requests: BTreeMap::new(),
                    blocks: Vec::new(),
                    branches: Vec::new(),
                    counted: None,
                    error: 0,
                };
                self.launches.insert(ran.launch.id, ran);
            }
            Event::SiteCounts { launch, sites } => {
                self.launches.get_mut(&launch).expect("its launch").counted = Some(sites);
            }
            Event::LaunchEnd(end) => {
                let ran = self.launches.get_mut(&end.id).expect("its launch");
                (ran.blocks, ran.branches, ran.error) = (end.blocks, end.branches, end.error);
            }
            _ => {}
        }
    }
}

/// How the records of a program on one device differ from those on another, in words; nothing if they do not.
pub fn differences(one: &Path, other: &Path) -> Vec<String> {
    let unseen = Recorded::read(one).unseen;
    let [left, right] = [one, other].map(|path| read(path, &unseen, None).0);
    let mut found = common(&left, &right);
    for (ran, twin) in pairs(&left, &right) {
        let id = ran.launch.id;
        let keys: BTreeSet<_> = ran.streams.keys().chain(twin.streams.keys()).copied().collect();
        let of = |ran: &Ran, key: &(u64, u32)| ran.streams.get(key).copied().unwrap_or_default();
        // Where its lanes part, a warp may do the same in another order.
        let differ: Vec<_> = keys.into_iter().filter(|key| of(ran, key) != of(twin, key)).collect();
        let Some(&(block, warp)) = differ.first() else { continue };
        let deeds = [one, other].map(|path| read(path, &unseen, Some((id, block, warp))).1);
        let at = (0..).find(|&at| deeds[0].get(at) != deeds[1].get(at)).unwrap_or(0);
        found.push(format!(
            "launch {id}: {} of {} warps differ; block {block}, warp {warp}, item {at}:\n    {}\n    {}",
            differ.len(),
            ran.streams.len(),
            deeds[0].get(at).map_or("nothing", String::as_str),
            deeds[1].get(at).map_or("nothing", String::as_str),
        ));
    }
    found
}

/// How what one device counted differs from what the records of another give.
pub fn count_differences(records: &Path, counts: &Path) -> Vec<String> {
    let (left, right) = (Recorded::read(records), Recorded::read(counts));
    let unseen = &left.unseen;
    let mut found = common(&left, &right);
    for (ran, twin) in pairs(&left, &right) {
        let id = ran.launch.id;
        let Some(counted) = &twin.counted else {
            found.push(format!("launch {id} has no counts"));
            continue;
        };
        let sites = &left.tables[ran.launch.module as usize].sites;
        let mut expected: Vec<SiteCount> = Vec::new();
        let seen = |site: u32| !unseen.contains(&(ran.launch.module, site));
        for (&(site, space), requests) in ran.requests.iter().filter(|((site, _), _)| seen(*site)) {
            let spaces = [Space::Global, Space::Shared, Space::Local, Space::Constant];
            let space = spaces.into_iter().find(|one| *one as u8 == space).expect("a space");
            if is_counted(&sites[site as usize]) {
                expected.push(SiteCount {
                    site,
                    space,
                    lanes: requests.lanes,
                    ideal_sectors: requests.ideal,
                    by_sectors: requests.sectors.iter().map(|(&pieces, &count)| (pieces, count)).collect(),
                    by_lines: requests.lines.iter().map(|(&pieces, &count)| (pieces, count)).collect(),
                });
            }
        }
        let counted: Vec<&SiteCount> = counted.iter().filter(|count| seen(count.site)).collect();
        if !counted.iter().copied().eq(&expected) {
            let at = (0..).find(|&at| counted.get(at).copied() != expected.get(at)).unwrap_or(0);
            found.push(format!(
                "launch {id}: counts differ from records\n    {:?}\n    {:?}",
                expected.get(at),
                counted.get(at)
            ));
        }
    }
    found
}

fn pairs<'a>(left: &'a Recorded, right: &'a Recorded) -> impl Iterator<Item = (&'a Ran, &'a Ran)> {
    left.launches.iter().filter_map(|(id, ran)| Some((ran, right.launches.get(id)?)))
}

/// What is the same whatever is kept of requests.
fn common(left: &Recorded, right: &Recorded) -> Vec<String> {
    let mut found = Vec::new();
    if !left.complete || !right.complete {
        found.push(format!("complete: {} and {}", left.complete, right.complete));
    }
    if left.memory != right.memory {
        let at = (0..).find(|&at| left.memory.get(at) != right.memory.get(at)).unwrap_or(0);
        found.push(format!("memory: {:?} and {:?}", left.memory.get(at), right.memory.get(at)));
    }
    if left.launches.len() != right.launches.len() {
        found.push(format!("{} launches and {}", left.launches.len(), right.launches.len()));
    }
    for (ran, twin) in pairs(left, right) {
        let id = ran.launch.id;
        if ran.launch != twin.launch {
            found.push(format!("launch {id}: {:?}\n    and {:?}", ran.launch, twin.launch));
        }
        if ran.error != twin.error {
            found.push(format!("launch {id}: errors {} and {}", ran.error, twin.error));
        }
        if let Some((one, other)) = first_apart(&ran.blocks, &twin.blocks) {
            found.push(format!("launch {id}: blocks {one} and {other}"));
        }
        if let Some((one, other)) = first_apart(&ran.branches, &twin.branches) {
            found.push(format!("launch {id}: branches {one} and {other}"));
        }
    }
    found
}

fn first_apart<T: PartialEq + std::fmt::Debug>(left: &[T], right: &[T]) -> Option<(String, String)> {
    let at = (0..left.len().max(right.len())).find(|&at| left.get(at) != right.get(at))?;
    let show = |list: &[T]| list.get(at).map_or("nothing".into(), |one| format!("{one:?}"));
    Some((show(left), show(right)))
}
