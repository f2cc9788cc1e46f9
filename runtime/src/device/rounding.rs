//! Rounds the elements of chosen allocations to a smaller type (`--what-if-type`), so that the program computes with the
//! values that the smaller type would have.
//!
//! Accesses to these allocations reach the access check, because the ranges of their sites stay empty. A store is
//! rounded in memory before the next access that reaches the check, and at the end of the launch. Nothing can read the
//! allocation in between. Copies and fills are rounded when they are made, or, while the format of the elements is
//! unknown, before the first access that shows it.

use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::Warp;
use crate::device::faults::access::Access;
use crate::memory::DeviceMemory;
use crate::memory::host_guard::is_host_visible;
use crate::memory::registry::Live;
use crate::memory::rows::Rows;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use warpline_format::access::LANES;
use warpline_format::event::{AllocationId, AllocationKind, Event, LaunchId};
use warpline_format::operation::FloatFormat;
use warpline_format::options::Check;
use warpline_format::rounding::{OtherAccess, RoundedType, Rounding, RoundingErrors, WhatIfType, Writer};
use warpline_format::site_table::{Op, Site, SiteTable};
use warpline_format::values::{Element, ElementKind};

/// Rectangles of bytes that one copy or fill wrote.
#[derive(Clone, Copy, Debug)]
pub struct WrittenRows {
    /// Start and distance of the rows.
    pub rows: Rows,
    /// Bytes per row.
    pub width: u64,
    /// Number of rows.
    pub height: u64,
}

/// An allocation whose elements are rounded.
#[derive(Debug)]
struct Chosen {
    to: RoundedType,
    /// The format of the elements; `None` until an access shows it.
    from: Option<FloatFormat>,
    /// Copies and fills before the format is known.
    waiting: Vec<(WrittenRows, Writer)>,
    /// Sites of a module with accesses to other elements. Copies are then not rounded, because it is unknown which of
    /// their bytes are numbers.
    others: BTreeSet<(u32, u32)>,
    /// Whether the host can write the memory without a call.
    on_both_sides: bool,
}

/// The elements of one allocation that a store is about to write.
#[derive(Clone, Copy, Debug)]
struct StoredPart {
    allocation: AllocationId,
    start: u64,
    from: FloatFormat,
    to: RoundedType,
    lanes: u32,
}

/// A store that has been checked, and whose values are not rounded yet.
#[derive(Debug)]
struct Pending {
    site: u32,
    parts: Vec<StoredPart>,
    addresses: [u64; LANES],
    bytes: u64,
}

/// The errors of the stores of one site to one allocation in the running launch.
type StoreKey = (AllocationId, u32, FloatFormat, RoundedType);

/// Rounds the elements of chosen allocations.
#[derive(Debug)]
pub struct Roundings {
    wanted: Vec<WhatIfType>,
    /// For each allocation that was accessed or written; `None` if it is not chosen.
    allocations: HashMap<AllocationId, Option<Chosen>>,
    launch: LaunchId,
    pending: Option<Pending>,
    stores: BTreeMap<StoreKey, RoundingErrors>,
    /// The element of each allocation by its first typed access, if results are compared.
    elements: Option<HashMap<AllocationId, Element>>,
    /// Events that are not in the trace yet.
    events: Vec<Event>,
}

impl Roundings {
    /// Creates the state for the requests of a run.
    pub fn new(wanted: Vec<WhatIfType>, compares: bool) -> Roundings {
        Roundings {
            wanted,
            allocations: HashMap::new(),
            launch: 0,
            pending: None,
            stores: BTreeMap::new(),
            elements: compares.then(HashMap::new),
            events: Vec::new(),
        }
    }

    /// Begins a launch: rounds what the host has written without a call.
    pub fn begin_launch(&mut self, launch: LaunchId, memory: &DeviceMemory) {
        self.launch = launch;
        self.pending = None;
        self.round_whole(memory, Writer::Host, |chosen| chosen.on_both_sides);
    }

    /// Ends a launch. If some of its stores have no hooks (`is_hidden`), rounds all allocations.
    pub fn end_launch(&mut self, memory: &DeviceMemory, is_hidden: bool) {
        self.settle();
        if is_hidden {
            self.round_whole(memory, Writer::Launch(self.launch), |_| true);
        }
        let launch = self.launch;
        for ((allocation, site, from, to), errors) in std::mem::take(&mut self.stores) {
            let writer = Writer::Site { launch, site };
            self.events.push(Event::Rounding(Rounding { allocation, writer, from, to, errors }));
        }
    }

    /// Returns the element of an allocation by its first typed access.
    pub fn element(&self, allocation: AllocationId) -> Option<Element> {
        self.elements.as_ref()?.get(&allocation).copied()
    }

    /// Returns the events that are not in the trace yet.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Rounds the elements that changed in the chosen allocations that `is_meant` selects.
    fn round_whole(&mut self, memory: &DeviceMemory, writer: Writer, is_meant: impl Fn(&Chosen) -> bool) {
        for live in memory.registry.iter() {
            let Some(Some(chosen)) = self.allocations.get(&live.id) else { continue };
            let Some(from) = chosen.from.filter(|_| chosen.others.is_empty() && is_meant(chosen)) else { continue };
            let all = live.start()..live.start() + live.bytes;
            let errors = round_range(live, all, (from, chosen.to), None, true);
            if errors.elements > 0 {
                self.events.push(Event::Rounding(Rounding {
                    allocation: live.id,
                    writer,
                    from,
                    to: chosen.to,
                    errors,
                }));
            }
        }
    }

    /// Rounds what a copy or fill has written, or keeps its position until the format of the elements is known.
    pub fn written(&mut self, memory: &DeviceMemory, part: WrittenRows, writer: Writer) {
        let Some(live) = memory.registry.find(part.rows.start) else { return };
        let Some(chosen) = chosen(&mut self.allocations, &self.wanted, live) else { return };
        match chosen.from {
            Some(_) if chosen.others.is_empty() => {
                self.events.extend(round_rows(live, chosen, &part, writer));
            }
            Some(_) => {}
            None => {
                // What is overwritten before it is read needs no rounding.
                chosen.waiting.retain(|(earlier, _)| !part.covers(earlier));
                chosen.waiting.push((part, writer));
            }
        }
    }

    /// Rounds what the last store has written; the store is complete now.
    pub fn settle(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        for part in &pending.parts {
            let bytes = u64::from(part.from.bits() / 8);
            let errors = self.stores.entry((part.allocation, pending.site, part.from, part.to)).or_default();
            for lane in lanes(part.lanes) {
                let first = pending.addresses[lane];
                // Lanes with the same address leave one value.
                if lanes(part.lanes & ((1 << lane) - 1)).any(|earlier| pending.addresses[earlier] == first) {
                    continue;
                }
                for at in (0..pending.bytes / bytes).map(|index| first + index * bytes) {
                    let element = (at - part.start) / bytes;
                    // SAFETY: the check permitted the access, and an allocation lives as long as the launch or is freed
                    // in a call of the launch.
                    unsafe { round_element(at, part.from, part.to, errors, (element, Some(self.launch)), false) };
                }
            }
        }
    }

    /// Processes an access of the lanes in `mask` before it is performed. Returns whether the site's next access must
    /// reach the check, too.
    ///
    /// # Safety
    /// `warp` is the running one; the lanes may perform the access.
    pub unsafe fn follow(&mut self, warp: *mut Warp, access: &Access, mask: u32) -> bool {
        // SAFETY: by the contract; only this launch changes memory.
        let (memory, module, is_checked) = unsafe {
            let running = (*warp).running;
            (&*(*running).memory, &*(*running).module, (*running).check != Check::Off)
        };
        let Some(site) = module.table.sites.get(access.site as usize) else { return true };
        let element = format_of(&module.table, access.site, site);
        let mut parts = Vec::new();
        let mut touches = false;
        let mut left = mask;
        while left != 0 {
            let first = left.trailing_zeros();
            let Some(live) = memory.registry.find(access.addresses[first as usize]) else {
                left &= !(1 << first);
                continue;
            };
            let range = live.start()..live.start() + live.bytes;
            let inside = lanes(left).filter(|&lane| range.contains(&access.addresses[lane]));
            let inside: u32 = inside.map(|lane| 1 << lane).sum();
            left &= !inside;
            let moved = module.table.element(access.site);
            if let Some(elements) = self.elements.as_mut().filter(|_| moved.is_number() && site.byte_mask.is_none()) {
                elements.entry(live.id).or_insert(moved);
            }
            let Some(chosen) = chosen(&mut self.allocations, &self.wanted, live) else { continue };
            touches = true;
            match element {
                Accessed::Float(from) if chosen.from.is_none_or(|known| known == from) && is_wider(from, chosen.to) => {
                    if chosen.from.is_none() {
                        chosen.from = Some(from);
                        self.events.extend(begin_rounding(live, chosen));
                    }
                    let part =
                        StoredPart { allocation: live.id, start: range.start, from, to: chosen.to, lanes: inside };
                    parts.extend((site.op != Op::Load).then_some(part));
                }
                Accessed::Bytes if site.op == Op::Load => {}
                _ => {
                    if chosen.others.insert((module.id, access.site)) {
                        let other = OtherAccess { allocation: live.id, launch: self.launch, site: access.site };
                        self.events.push(Event::OtherAccess(other));
                    }
                }
            }
        }
        if !parts.is_empty() {
            let (addresses, bytes) = (*access.addresses, u64::from(access.bytes));
            self.pending = Some(Pending { site: access.site, parts, addresses, bytes });
        }
        touches || !is_checked
    }
}

impl WrittenRows {
    fn covers(&self, other: &WrittenRows) -> bool {
        let range =
            |part: &WrittenRows| part.rows.start..part.rows.start + (part.height - 1) * part.rows.pitch + part.width;
        let (own, other) = (range(self), range(other));
        self.height == 1 && own.start <= other.start && other.end <= own.end
    }
}

/// The elements that a site accesses.
#[derive(Clone, Copy, Debug)]
enum Accessed {
    /// Numbers of this format.
    Float(FloatFormat),
    /// Bytes of unknown meaning.
    Bytes,
    /// Other elements, or elements with gaps.
    Other,
}

fn format_of(table: &SiteTable, number: u32, site: &Site) -> Accessed {
    let element = table.element(number);
    match element.kind {
        ElementKind::Float(format)
            if site.byte_mask.is_none() && element.bytes != 0 && site.bytes.is_multiple_of(element.bytes) =>
        {
            Accessed::Float(format)
        }
        ElementKind::Untyped | ElementKind::NotFollowed => Accessed::Bytes,
        _ => Accessed::Other,
    }
}

/// Returns whether elements of a format are rounded to a type.
fn is_wider(from: FloatFormat, to: RoundedType) -> bool {
    match from {
        FloatFormat::Double => true,
        FloatFormat::Single => to != RoundedType::Single,
        FloatFormat::Half | FloatFormat::Brain => false,
    }
}

/// Returns the state of an allocation, if it is chosen.
fn chosen<'a>(
    allocations: &'a mut HashMap<AllocationId, Option<Chosen>>,
    wanted: &[WhatIfType],
    live: &Live,
) -> Option<&'a mut Chosen> {
    let state = allocations.entry(live.id).or_insert_with(|| {
        let name = live.name.as_deref().filter(|_| live.kind != AllocationKind::Array)?;
        let wanted = wanted.iter().find(|wanted| wanted.matches(name))?;
        let on_both_sides = is_host_visible(live.kind);
        Some(Chosen { to: wanted.to, from: None, waiting: Vec::new(), others: BTreeSet::new(), on_both_sides })
    });
    state.as_mut()
}

/// Rounds the content of an allocation, because the format of its elements has become known.
fn begin_rounding(live: &Live, chosen: &mut Chosen) -> Vec<Event> {
    let Some(from) = chosen.from else { return Vec::new() };
    let (allocation, to) = (live.id, chosen.to);
    let mut events = vec![Event::ElementsRounded { allocation, from, to }];
    let waiting = std::mem::take(&mut chosen.waiting);
    if !chosen.others.is_empty() {
        return events;
    }
    for (part, writer) in waiting {
        events.extend(round_rows(live, chosen, &part, writer));
    }
    let errors = round_range(live, live.start()..live.start() + live.bytes, (from, to), None, true);
    if errors.elements > 0 {
        events.push(Event::Rounding(Rounding { allocation, writer: Writer::Host, from, to, errors }));
    }
    events
}

/// Rounds what a copy or fill has written.
fn round_rows(live: &Live, chosen: &Chosen, part: &WrittenRows, writer: Writer) -> Option<Event> {
    let (from, to) = (chosen.from?, chosen.to);
    let mut errors = RoundingErrors::default();
    for row in 0..part.height {
        let start = part.rows.start + row * part.rows.pitch;
        errors.add(&round_range(live, start..start + part.width, (from, to), None, false));
    }
    Some(Event::Rounding(Rounding { allocation: live.id, writer, from, to, errors }))
}

/// Rounds the elements of an allocation that have bytes in a range; if `changes_only`, counts only those that change.
fn round_range(
    live: &Live,
    range: Range<u64>,
    (from, to): (FloatFormat, RoundedType),
    launch: Option<LaunchId>,
    changes_only: bool,
) -> RoundingErrors {
    let bytes = u64::from(from.bits() / 8);
    let end = range.end.min(live.start() + live.bytes);
    let first = range.start.saturating_sub(live.start()) / bytes;
    let last = end.saturating_sub(live.start()).div_ceil(bytes).min(live.bytes / bytes);
    let mut errors = RoundingErrors::default();
    for element in first..last {
        // SAFETY: the element is inside the live allocation, and no other thread uses it.
        unsafe {
            round_element(live.start() + element * bytes, from, to, &mut errors, (element, launch), changes_only);
        }
    }
    errors
}

/// Rounds one element in memory.
///
/// # Safety
/// The bytes of the element are valid for reads and writes.
unsafe fn round_element(
    address: u64,
    from: FloatFormat,
    to: RoundedType,
    errors: &mut RoundingErrors,
    (element, launch): (u64, Option<LaunchId>),
    changes_only: bool,
) {
    let is_double = from == FloatFormat::Double;
    // SAFETY: by the contract; the format is `float` or `double`.
    let value = unsafe {
        match is_double {
            true => (address as *const f64).read_unaligned(),
            false => f64::from((address as *const f32).read_unaligned()),
        }
    };
    if changes_only && (value.is_nan() || to.round(value).value == value) {
        return;
    }
    let rounded = errors.round(to, value, element, launch);
    if rounded == value || value.is_nan() {
        return;
    }
    // SAFETY: by the contract. A `float` represents the numbers of all types to which it is rounded.
    unsafe {
        match is_double {
            true => (address as *mut f64).write_unaligned(rounded),
            false => (address as *mut f32).write_unaligned(rounded as f32),
        }
    }
}
