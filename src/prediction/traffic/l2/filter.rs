//! Models which sampled lines the L1 of each SM contains.

use std::cmp::Ordering;

use super::gathered::{Gathered, Touch, sectors_of, whole_sectors_of};
use super::lifetime::{Gaps, Lifetime};
use crate::traffic::access::MemoryAccess;
use crate::traffic::flow::Flow;
use warpline_simulator::hierarchy::StorePolicy;

/// Number of lines that enter an empty L1 before it loses lines that are in use, divided by its capacity. The first
/// evicted lines have not been used for a while.
const FULL: f64 = 1.25;

/// Accepted relative difference between the modelled and the known number of misses.
const SETTLED: f64 = 0.02;

/// The caches of all SMs.
pub(super) struct FirstLevel<'f> {
    flow: &'f Flow<'f>,
    sms: usize,
    /// Indexed by access.
    lifetimes: Vec<Lifetime>,
    /// Indexed by access: the part of the sectors reused exactly after the lifetime that must hit. It carries fractions
    /// to later touches.
    due: Vec<f64>,
    /// Indexed by line and SM.
    kept: Vec<CachedLine>,
    /// Time of the first eviction of a used line.
    full: u32,
}

/// The state of a line in the L1 of one SM.
#[derive(Clone, Copy, Debug, Default)]
struct CachedLine {
    time: u32,
    sectors: u8,
}

impl<'f> FirstLevel<'f> {
    /// Creates the caches of some SMs. `missed` has the miss share of each access's loaded sectors. `full` is the
    /// number of sampled lines that fit into all L1s before lines are evicted, or 0 if earlier blocks have filled the
    /// caches.
    pub(super) fn new(
        flow: &'f Flow<'f>,
        gathered: &Gathered,
        (sms, room): (usize, f64),
        missed: &[f64],
    ) -> FirstLevel<'f> {
        let full = if room > 0.0 { full(flow, gathered, sms, FULL * room) } else { 0 };
        let mut kept: Vec<CachedLine> = vec![CachedLine::default(); gathered.lines.len() * sms];
        let mut gaps: Vec<Gaps> = flow.all.0.iter().map(|_| Gaps::default()).collect();
        for touch in gathered.touches.iter().filter(|touch| goes_through(flow, &flow.all.0[touch.access()])) {
            let own = &mut kept[touch.line as usize * sms + touch.sm()];
            let sectors = sectors_of(gathered.bytes(touch));
            gaps[touch.access()].touch(gap(touch, own, full), sectors, own.sectors);
            *own = CachedLine { time: touch.time(), sectors: own.sectors | sectors };
        }
        let lifetimes = of_gaps(&gaps, missed);
        kept.fill(CachedLine::default());
        FirstLevel { flow, sms, lifetimes, due: vec![0.0; flow.all.0.len()], kept, full }
    }

    /// Refines the lifetimes, because an evicted line also loses sectors that other accesses would hit. Stops after
    /// `rounds` rounds, or when the modelled misses match the known ones.
    pub(super) fn settle(&mut self, gathered: &Gathered, missed: &[f64], rounds: usize) {
        let mut best = (f64::INFINITY, self.lifetimes.clone());
        for _ in 0..rounds {
            let mut gaps: Vec<Gaps> = self.lifetimes.iter().map(|_| Gaps::default()).collect();
            let mut passed = vec![0.0; self.lifetimes.len()];
            for touch in &gathered.touches {
                let (number, bytes) = (touch.access(), gathered.bytes(touch));
                if goes_through(self.flow, &self.flow.all.0[number]) {
                    let own = self.kept[touch.line as usize * self.sms + touch.sm()];
                    gaps[number].touch(gap(touch, &own, self.full), sectors_of(bytes), own.sectors);
                    passed[number] += f64::from(self.passes_on(touch, bytes).count_ones());
                } else {
                    self.passes_on(touch, bytes);
                }
            }
            self.kept.fill(CachedLine::default());
            self.due.fill(0.0);
            let wanted = gaps.iter().zip(missed).map(|(gaps, missed)| missed * gaps.sectors());
            let (mut apart, mut all) = (0.0, 0.0);
            for (passed, wanted) in passed.iter().zip(wanted) {
                (apart, all) = (apart + (passed - wanted).abs(), all + wanted);
            }
            if apart < best.0 {
                best = (apart, self.lifetimes.clone());
            }
            if apart <= SETTLED * all {
                break;
            }
            self.lifetimes = of_gaps(&gaps, missed);
        }
        self.lifetimes = best.1;
    }

    /// Returns the sectors of a touch that L1 requests from L2.
    #[inline(always)]
    pub(super) fn passes_on(&mut self, touch: &Touch, bytes: u128) -> u8 {
        let access = &self.flow.all.0[touch.access()];
        let sectors = sectors_of(bytes);
        let own = &mut self.kept[touch.line as usize * self.sms + touch.sm()];
        if goes_through(self.flow, access) {
            let Lifetime { time, share } = self.lifetimes[touch.access()];
            let is_there = match gap(touch, own, self.full).cmp(&time) {
                Ordering::Less => true,
                Ordering::Greater => false,
                Ordering::Equal => {
                    let due = &mut self.due[touch.access()];
                    *due += share;
                    let is_there = *due >= 1.0;
                    *due -= f64::from(u8::from(is_there));
                    is_there
                }
            };
            let had = if is_there { own.sectors } else { 0 };
            *own = CachedLine { time: touch.time(), sectors: had | sectors };
            return sectors & !had;
        }
        if access.stores && !access.atomic {
            let with = |stored: u8| CachedLine { time: touch.time(), sectors: own.sectors | stored };
            match self.flow.capacity.hierarchy.l1.store {
                StorePolicy::Evict => own.sectors &= !sectors,
                StorePolicy::Update => {}
                StorePolicy::Allocate => *own = with(sectors),
                StorePolicy::AllocateBytes => *own = with(whole_sectors_of(bytes)),
            }
        }
        sectors
    }
}

/// Returns the time since an SM's last use of a line. Before `full`, nothing has been evicted.
#[inline(always)]
fn gap(touch: &Touch, own: &CachedLine, full: u32) -> u32 {
    if touch.time() < full { 0 } else { touch.time() - own.time }
}

/// Returns, indexed by access, the lifetimes that produce the given miss shares.
fn of_gaps(gaps: &[Gaps], missed: &[f64]) -> Vec<Lifetime> {
    gaps.iter().zip(missed).map(|(gaps, missed)| gaps.lifetime(*missed)).collect()
}

/// Returns the time at which the SMs' L1s hold more sampled lines than fit.
fn full(flow: &Flow<'_>, gathered: &Gathered, sms: usize, room: f64) -> u32 {
    let of_store = matches!(flow.capacity.hierarchy.l1.store, StorePolicy::Allocate | StorePolicy::AllocateBytes);
    let allocates = |access: &MemoryAccess| goes_through(flow, access) || access.stores && !access.atomic && of_store;
    let mut there = vec![false; gathered.lines.len() * sms];
    let mut lines = 0.0;
    for touch in gathered.touches.iter().filter(|touch| allocates(&flow.all.0[touch.access()])) {
        let own = &mut there[touch.line as usize * sms + touch.sm()];
        lines += f64::from(u8::from(!*own));
        *own = true;
        if lines > room {
            return touch.time();
        }
    }
    u32::MAX
}

/// Returns whether an access can hit in L1.
#[inline(always)]
fn goes_through(flow: &Flow<'_>, access: &MemoryAccess) -> bool {
    access.loads && !access.atomic && !access.past_l1 && flow.capacity.caches_loads()
}
