//! One GPU: its rings, its running launches, and the thread that drains the rings.
//!
//! The thread makes no CUDA call, so it continues while the program waits inside one. No lock is held during a CUDA
//! call that may wait for a kernel.

use super::addresses::{AddressMap, Translator};
use super::items::{ItemWriter, LaunchShape};
use super::wire::{Next, Reader, SLOTS, Ticket};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpline_format::event::{Event, LaunchEnd, LaunchId};
use warpline_format::gpu::CountLayout;

/// The number of bytes of items that are collected before they go to the trace.
const BATCH: usize = 256 << 10;
/// The maximum number of records that are read from one ring before the next ring is read.
const TURN: usize = 512;
/// After this number of iterations without a record, the thread sleeps between its checks.
const PATIENCE: u32 = 2000;

/// The destination of the items. Outside tests, it is the trace of the process.
pub trait Output: Send + Sync {
    /// A batch of items.
    fn batch(&self, launch: LaunchId, items: &[u8]);
    /// An event.
    fn event(&self, event: Event);
}

/// Memory that device and host share. The part of the program that can call CUDA creates it.
#[derive(Debug)]
pub struct Shared {
    /// The number of SMs of the device.
    pub sms: u32,
    /// The size of a ring in bytes, a power of two.
    pub capacity: u64,
    /// The host address of the data of the rings: zeroed, one ring after another.
    pub data: *mut u8,
    /// The host's positions, zeroed; each is in its own cache line of 64 bytes.
    pub tails: *mut u8,
}

// SAFETY: the fields are addresses of memory that lives as long as the process.
unsafe impl Send for Shared {}
// SAFETY: the fields are addresses of memory that lives as long as the process; all access goes through atomics.
unsafe impl Sync for Shared {}

/// The properties of a launch that the draining thread needs.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The shape, for the launch's items.
    pub shape: LaunchShape,
    /// The layout, for the launch's counts.
    pub layout: Arc<CountLayout>,
    /// Whether requests are counted on the device, so that there are no records.
    pub counted: bool,
    /// Whether the user's filters exclude this launch, so that its records are discarded.
    pub discarded: bool,
    /// The ticket that the launch's finish kernel fills in.
    pub ticket: TicketPlace,
}

/// The host address of a [`Ticket`] and the data after it.
#[derive(Clone, Copy, Debug)]
pub struct TicketPlace(pub *mut u64);

// SAFETY: the reasons for `Shared` apply.
unsafe impl Send for TicketPlace {}

impl TicketPlace {
    fn word(self, index: u64) -> u64 {
        // SAFETY: the caller's index is within the ticket; the device writes these words before `done`.
        unsafe { (*self.0.add(index as usize).cast::<AtomicU64>()).load(Ordering::Relaxed) }
    }

    fn done(self) -> &'static AtomicU64 {
        // SAFETY: the address is that of the first word of a ticket, which lives as long as the process.
        unsafe { &*self.0.cast::<AtomicU64>() }
    }
}

/// The launch slots, without the information which slots are busy.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Slots {
    begun: Vec<Option<Begun>>,
    /// The slots that belong to nodes of CUDA graphs, with one bit for each slot.
    pub(in crate::gpu) held: u64,
    pub(in crate::gpu) stop: bool,
}

/// A GPU whose launches are recorded in the trace.
pub struct Session {
    /// The memory that device and host share.
    pub shared: Shared,
    slots: Mutex<Slots>,
    /// Signals that a slot has become free or busy.
    pub(in crate::gpu) changed: Condvar,
    pub(in crate::gpu) busy: AtomicU64,
    /// The slots whose launch did not start.
    withdrawn: AtomicU64,
    /// The number of iterations of the draining thread in which records had arrived.
    pub(in crate::gpu) progress: AtomicU64,
    /// The code of the error after which nothing more arrives from the device.
    pub(in crate::gpu) fault: AtomicI32,
    addresses: &'static AddressMap,
    output: Box<dyn Output>,
    dropped: AtomicBool,
}

impl Session {
    /// Returns a session and starts its thread.
    pub fn start(shared: Shared, addresses: &'static AddressMap, output: Box<dyn Output>) -> Arc<Session> {
        let session = Arc::new(Session {
            shared,
            slots: Mutex::new(Slots { begun: vec![None; SLOTS], held: 0, stop: false }),
            changed: Condvar::new(),
            busy: AtomicU64::new(0),
            withdrawn: AtomicU64::new(0),
            progress: AtomicU64::new(0),
            fault: AtomicI32::new(0),
            addresses,
            output,
            dropped: AtomicBool::new(false),
        });
        let own = session.clone();
        let spawned = std::thread::Builder::new().name("warpline-drain".into()).spawn(move || own.drain());
        if let Err(error) = spawned {
            // Without the thread, a hooked kernel would wait forever, so no slot is ever assigned.
            crate::output::message::note(&format!("cannot start the thread that reads the GPU's records: {error}"));
            session.lock().stop = true;
        }
        session
    }

    pub(in crate::gpu) fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a launch slot, and waits if all slots are busy. Returns `None` after a fault.
    pub fn take_slot(&self) -> Option<u32> {
        let mut slots = self.lock();
        loop {
            if slots.stop || self.fault.load(Ordering::Relaxed) != 0 {
                return None;
            }
            let taken = self.busy.load(Ordering::Relaxed) | slots.held;
            if taken != u64::MAX {
                let slot = taken.trailing_ones();
                self.busy.fetch_or(1 << slot, Ordering::Relaxed);
                return Some(slot);
            }
            slots = self.changed.wait(slots).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Announces that the launch in a slot is about to start.
    pub fn begin(&self, slot: u32, begun: Begun) {
        begun.ticket.done().store(0, Ordering::Relaxed);
        self.lock().begun[slot as usize] = Some(begun);
        self.changed.notify_all();
    }

    /// Releases a slot whose launch did not start, and ends the launch in the trace if it had begun there.
    pub fn cancel(&self, slot: u32, error: i32) {
        let begun = self.withdraw(slot);
        if let Some(begun) = begun {
            let end = LaunchEnd { id: begun.shape.id, error, blocks: Vec::new(), branches: Vec::new() };
            self.output.event(Event::LaunchEnd(end));
        }
        self.release(slot);
    }

    /// Releases a slot that was not used; the caller writes the end of the launch.
    pub fn release_unused(&self, slot: u32) {
        self.withdraw(slot);
        self.release(slot);
    }

    /// Withdraws the announcement of a launch, which the draining thread may already have read.
    fn withdraw(&self, slot: u32) -> Option<Begun> {
        let begun = self.lock().begun[slot as usize].take();
        self.withdrawn.fetch_or(1 << slot, Ordering::Release);
        begun
    }

    fn release(&self, slot: u32) {
        let _slots = self.lock();
        self.busy.fetch_and(!(1 << slot), Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits until every launch that has begun has ended and is in the trace.
    pub fn settle(&self) {
        let mut slots = self.lock();
        while self.busy.load(Ordering::Relaxed) != 0 && !slots.stop {
            slots = self.changed.wait(slots).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Records that the device has stopped with an error: records that have arrived are read, and the running launches
    /// end with the error.
    pub fn fail(&self, error: i32) {
        let _slots = self.lock();
        let _ = self.fault.compare_exchange(0, error, Ordering::Relaxed, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Returns whether records were dropped, which happens only if the user allowed it.
    pub fn has_dropped(&self) -> bool {
        self.dropped.load(Ordering::Relaxed)
    }

    fn drain(&self) {
        let mut drain = Drain::new(self);
        let mut quiet = 0;
        loop {
            let busy = self.busy.load(Ordering::Relaxed);
            if busy == 0 {
                let slots = self.lock();
                if slots.stop {
                    return;
                }
                if self.busy.load(Ordering::Relaxed) == 0 {
                    drop(self.changed.wait(slots));
                    continue;
                }
            }
            let moved = drain.read_rings();
            let ended = drain.end_launches();
            if self.fault.load(Ordering::Relaxed) != 0 && !moved {
                drain.salvage();
            }
            if moved || ended {
                self.progress.fetch_add(1, Ordering::Relaxed);
                quiet = 0;
                continue;
            }
            quiet += 1;
            if quiet < PATIENCE {
                std::hint::spin_loop();
            } else {
                // The rings can store the records of several milliseconds, so a short sleep does not delay the kernels.
                drain.flush();
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }
}

/// The state of the draining thread.
struct Drain<'s> {
    session: &'s Session,
    readers: Vec<Reader>,
    writers: Vec<Option<(ItemWriter, Begun)>>,
    translator: Translator<'s>,
    dropped: u64,
    damaged: u64,
}

impl<'s> Drain<'s> {
    fn new(session: &'s Session) -> Drain<'s> {
        let Shared { sms, capacity, data, tails } = session.shared;
        let readers = (0..sms as usize)
            .map(|sm| {
                // SAFETY: the memory has these bounds, is zeroed, and lives as long as the process; only this thread
                // reads it.
                unsafe { Reader::new(data.add(sm * capacity as usize), capacity, tails.add(64 * sm).cast()) }
            })
            .collect();
        let translator = Translator::new(session.addresses);
        Drain { session, readers, writers: (0..SLOTS).map(|_| None).collect(), translator, dropped: 0, damaged: 0 }
    }

    /// Reads the records that have arrived; returns whether there were any.
    fn read_rings(&mut self) -> bool {
        self.translator.refresh();
        let mut moved = false;
        for sm in 0..self.readers.len() {
            for _ in 0..TURN {
                match self.readers[sm].read_next() {
                    Next::Record(record) => self.record(sm, &record),
                    Next::NotYet => break,
                    Next::Damaged => {
                        self.damaged += 1;
                        let end = self.readers[sm].position() + 1;
                        self.readers[sm].skip(end);
                    }
                }
            }
            if self.readers[sm].unreleased() != 0 {
                self.readers[sm].release();
                moved = true;
            }
        }
        moved
    }

    fn record(&mut self, sm: usize, record: &super::wire::Record) {
        let slot = record.slot as usize;
        if !self.has_writer(slot) {
            self.damaged += 1;
            return;
        }
        let Some((writer, begun)) = &mut self.writers[slot] else { return };
        if begun.discarded {
            return;
        }
        writer.record(sm, record, self.readers[sm].lanes(), &mut self.translator);
        if writer.len() >= BATCH {
            let items = writer.take();
            self.session.output.batch(writer.launch(), &items);
        }
    }

    /// Returns whether the launch in a slot is known; discards the state of a launch that did not start.
    fn has_writer(&mut self, slot: usize) -> bool {
        let bit = 1 << slot;
        if self.session.withdrawn.load(Ordering::Acquire) & bit != 0 {
            self.session.withdrawn.fetch_and(!bit, Ordering::Relaxed);
            self.writers[slot] = None;
        }
        self.writers[slot].is_some() || self.open(slot)
    }

    fn open(&mut self, slot: usize) -> bool {
        let begun = self.session.lock().begun[slot].clone();
        self.writers[slot] = begun.map(|begun| (ItemWriter::new(begun.shape.clone()), begun));
        self.writers[slot].is_some()
    }

    /// Passes on all waiting items.
    fn flush(&mut self) {
        for (writer, _) in self.writers.iter_mut().flatten() {
            if !writer.is_empty() {
                let items = writer.take();
                self.session.output.batch(writer.launch(), &items);
            }
        }
    }

    /// Ends the launches whose last record has been read; returns whether there were any.
    fn end_launches(&mut self) -> bool {
        let mut ended = false;
        let mut busy = self.session.busy.load(Ordering::Relaxed);
        while busy != 0 {
            let slot = busy.trailing_zeros() as usize;
            busy &= busy - 1;
            // A launch without any record has no writer yet.
            if !self.has_writer(slot) {
                continue;
            }
            let Some((_, begun)) = &self.writers[slot] else { continue };
            let ticket = begun.ticket;
            if ticket.done().load(Ordering::Acquire) == 0 {
                continue;
            }
            let head = size_of::<Ticket>() as u64 / 8;
            let sms = u64::from(self.session.shared.sms);
            if (0..sms).any(|sm| self.readers[sm as usize].position() < ticket.word(head + sm)) {
                continue;
            }
            let dropped: u64 = (0..sms).map(|sm| ticket.word(head + sms + sm)).sum();
            if begun.discarded {
                let id = begun.shape.id;
                self.end(slot, LaunchEnd { id, error: 0, blocks: Vec::new(), branches: Vec::new() });
                ended = true;
                continue;
            }
            let layout = &begun.layout;
            let count = if begun.counted { layout.all_cells() } else { layout.cells() };
            let cells: Vec<u64> = (0..count).map(|cell| ticket.word(head + 2 * sms + cell)).collect();
            if dropped > self.dropped {
                self.session.dropped.store(true, Ordering::Relaxed);
                self.session.output.event(Event::Dropped { records: dropped - self.dropped });
                self.dropped = dropped;
            }
            if begun.counted {
                let counts = Event::SiteCounts { launch: begun.shape.id, sites: layout.site_counts(&cells) };
                self.session.output.event(counts);
            }
            let (blocks, branches) = layout.counts(&cells);
            self.end(slot, LaunchEnd { id: begun.shape.id, error: 0, blocks, branches });
            ended = true;
        }
        ended
    }

    fn end(&mut self, slot: usize, end: LaunchEnd) {
        let Some((mut writer, _)) = self.writers[slot].take() else { return };
        writer.finish(&mut self.translator);
        if !writer.is_empty() {
            let items = writer.take();
            self.session.output.batch(writer.launch(), &items);
        }
        if writer.evicted() != 0 {
            crate::output::message::note(&format!(
                "launch {}: {} blocks left their SM without having ended; what they did later counts as new blocks",
                end.id,
                writer.evicted()
            ));
        }
        self.session.output.event(Event::LaunchEnd(end));
        self.session.lock().begun[slot] = None;
        self.session.release(slot as u32);
    }

    /// After a fault, reads the rings up to the last written word, and skips the gaps of warps that did not complete
    /// their records.
    fn salvage(&mut self) {
        for sm in 0..self.readers.len() {
            let end = self.readers[sm].horizon();
            while self.readers[sm].position() < end {
                if self.readers[sm].unreleased() > self.session.shared.capacity / 2 {
                    self.readers[sm].release();
                }
                match self.readers[sm].read_next() {
                    Next::Record(record) => self.record(sm, &record),
                    Next::NotYet | Next::Damaged => self.readers[sm].skip(end),
                }
            }
            self.readers[sm].release();
        }
        let error = self.session.fault.load(Ordering::Relaxed);
        let mut busy = self.session.busy.load(Ordering::Relaxed);
        while busy != 0 {
            let slot = busy.trailing_zeros() as usize;
            busy &= busy - 1;
            if !self.has_writer(slot) {
                continue;
            }
            let Some((_, begun)) = &self.writers[slot] else { continue };
            let end = LaunchEnd { id: begun.shape.id, error, blocks: Vec::new(), branches: Vec::new() };
            self.end(slot, end);
        }
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.flush();
        if self.damaged != 0 {
            crate::output::message::note(&format!(
                "{} records from the GPU were damaged and are missing",
                self.damaged
            ));
        }
    }
}
