//! What the L1 of each SM has of the lines of a sample.

use std::cmp::Ordering;

use super::gathered::{Gathered, Touch, sectors_of, whole_sectors_of};
use super::lifetime::{Gaps, Lifetime};
use crate::traffic::access::MemoryAccess;
use crate::traffic::flow::Flow;
use warpline_simulator::hierarchy::StorePolicy;

/// Lines that come into an empty L1 before it loses some that are in use, over those that it holds: what is pushed out first has not been used for a while.
const FULL: f64 = 1.25;

/// Part of what is missed by which it may differ from what is known to be.
const SETTLED: f64 = 0.02;

/// The caches of all SMs.
pub(super) struct FirstLevel<'f> {
    flow: &'f Flow<'f>,
    sms: usize,
    /// Indexed by access.
    lifetimes: Vec<Lifetime>,
    /// Indexed by access: the part of what is used again just as late as it is kept that is due to be there.
    due: Vec<f64>,
    /// Indexed by line and SM.
    kept: Vec<CachedLine>,
    /// When they have lost something for the first time.
    full: u32,
}

/// What an SM has of a line.
#[derive(Clone, Copy, Debug, Default)]
struct CachedLine {
    time: u32,
    sectors: u8,
}

impl<'f> FirstLevel<'f> {
    /// Of so many SMs, of whose accesses such shares of the loaded sectors miss, and which hold so many of the sample's lines together before they lose some; 0
    /// where blocks before have filled them.
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

    /// Chooses lifetimes anew, as a line that is lost takes sectors with it that others would have found: as often as `rounds`, or until what is missed is as much as
    /// is known to be.
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

    /// The sectors of a touch that are requested from L2.
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

/// Time since an SM used a line last, from when on something may have been lost.
#[inline(always)]
fn gap(touch: &Touch, own: &CachedLine, full: u32) -> u32 {
    if touch.time() < full { 0 } else { touch.time() - own.time }
}

/// Returns, indexed by access: the lifetime with which such a share misses.
fn of_gaps(gaps: &[Gaps], missed: &[f64]) -> Vec<Lifetime> {
    gaps.iter().zip(missed).map(|(gaps, missed)| gaps.lifetime(*missed)).collect()
}

/// When SMs have more of the sample's lines in L1 than there is room for.
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

/// Returns whether L1 may have what an access reads.
#[inline(always)]
fn goes_through(flow: &Flow<'_>, access: &MemoryAccess) -> bool {
    access.loads && !access.atomic && !access.past_l1 && flow.capacity.caches_loads()
}
