//! Many small copies from one place: each costs its latency, whatever it brings.

use std::collections::BTreeSet;

use super::super::draft::Draft;
use super::super::facts::{Copies, Facts, innermost};
use super::super::words;
use crate::profile::{SECONDS_PER_COPY, SECONDS_PER_DEVICE_COPY, library_function};

/// Copies from one place, at least.
const LEAST: u64 = 50;
/// Bytes of each, at most: with 12 GB/s and 10 µs a copy the latency is then nine tenths of it.
const MOST_BYTES: u64 = 16 << 10;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // Copies to the device that mostly bring nothing are to be left out, not gathered. Back comes what a loop waits for, as a
    // flag, the same or not.
    let is_small = |copies: &Copies<'_>| {
        copies.count >= LEAST
            && copies.bytes / copies.count.max(1) <= MOST_BYTES
            && (!copies.to_device() || copies.unchanged <= copies.count / 2)
    };
    let mut lines = BTreeSet::new();
    // A library comes to its copies in several ways.
    let mut is_first = |copies: &Copies<'_>| {
        let place = innermost(copies.path).map(|frame| (frame.file.clone(), frame.line));
        of_library(copies).is_none() || copies.to_device() || lines.insert(place)
    };
    let over_bus = facts.bus_copies().into_iter().filter(is_small).filter(|copies| is_first(copies));
    let over_bus: Vec<Draft> = over_bus.filter_map(|copies| draft(facts, &copies)).collect();
    let within = facts.device_copies().into_iter().filter(is_small).filter_map(|copies| within_device(facts, &copies));
    over_bus.into_iter().chain(within).collect()
}

/// The algorithm of Thrust's that makes the copies for itself, of memory that the user does not know.
fn of_library(copies: &Copies<'_>) -> Option<String> {
    let is_its_own = copies.allocation().is_some_and(|allocation| allocation.name.is_none());
    library_function(copies.path).filter(|function| is_its_own && function.starts_with("thrust::"))
}

fn draft(facts: &Facts<'_>, copies: &Copies<'_>) -> Option<Draft> {
    let seconds = copies.count as f64 * SECONDS_PER_COPY;
    let to_device = copies.to_device();
    if let Some(function) = of_library(copies) {
        let reason = format!(
            "each call of `{function}` copies its result to the host and waits for it: {} of {} on average, at about 10 µs each",
            words::several(copies.count, "copy", "copies"),
            words::bytes(copies.bytes / copies.count.max(1)),
        );
        let cure = format!(
            "call `{function}` fewer times, for more at once, or take an algorithm that leaves its result on the device (of CUB, or a kernel) where the device alone goes on with it"
        );
        // What goes to the device for a call goes with it.
        let draft = at(copies, reason, &cure).filter(|_| !to_device)?;
        return Some(draft.object(Some(function)).score(facts.program_share(seconds)));
    }
    let reason = format!(
        "{} of {} on average go {} {} from here: each costs about 10 µs, however small it is",
        words::several(copies.count, "copy", "copies"),
        words::bytes(copies.bytes / copies.count.max(1)),
        if to_device { "to" } else { "from" },
        copies.describe().0,
    );
    let cure = if to_device {
        "gather them on the host and copy once (rows of a pitch with one cudaMemcpy2D), pass small values as arguments of the kernel, or, where \
         they are synchronous, use pinned memory and cudaMemcpyAsync so that they overlap with kernels"
    } else {
        "copy all that is read here at once, compute on the device what the host makes of it, or keep a flag or sum there for several \
         steps; where they are synchronous, use pinned memory and cudaMemcpyAsync so that they overlap with kernels"
    };
    Some(at(copies, reason, cure)?.score(facts.program_share(seconds)))
}

/// Of copies that do not cross the bus: the start of each is that of a launch, and a kernel could do all of them.
fn within_device(facts: &Facts<'_>, copies: &Copies<'_>) -> Option<Draft> {
    let seconds = copies.count as f64 * SECONDS_PER_DEVICE_COPY;
    let reason = format!(
        "{} of {} on average go within the device to {} from here: each costs about {:.0} µs, as a launch does, however small it is",
        words::several(copies.count, "copy", "copies"),
        words::bytes(copies.bytes / copies.count.max(1)),
        copies.describe().0,
        SECONDS_PER_DEVICE_COPY * 1e6,
    );
    let cure = "make one of them: rows or a column at equal distances with one cudaMemcpy2DAsync, whose pitches are these distances; others in a kernel with a thread for each \
                element, or in the kernel that makes the data or takes it";
    let all = facts.kernel_seconds + facts.copy_seconds + seconds;
    Some(at(copies, reason, cure)?.score(seconds / all))
}

fn at(copies: &Copies<'_>, reason: String, cure: &str) -> Option<Draft> {
    let allocation = copies.allocation()?;
    Some(
        Draft::new(reason, cure)
            .at_frame(innermost(copies.path))
            .of_allocation(allocation.id)
            .object(allocation.name.clone())
            .evidence("copies", copies.count as f64)
            .evidence("bytes_per_copy", copies.bytes as f64 / copies.count.max(1) as f64),
    )
}
