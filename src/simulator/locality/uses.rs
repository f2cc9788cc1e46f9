//! Steps of [`Reuse`](super::Reuse): determines and counts the results of uses of elements, sectors and lines.

use super::cells::{ReuseCells, counters};
use super::elements::{NONE, UseKind, class_of};
use super::timeline::{HistogramSelector, Notes, Timeline};

/// Times and results at one granularity.
#[derive(Clone, Debug, Default)]
pub(super) struct Times<T: Timeline> {
    pub(super) line: T,
    pub(super) notes: T::Notes,
}

pub(super) const ELEMENT: HistogramSelector = |counters| &mut counters.element;
pub(super) const SECTOR: HistogramSelector = |counters| &mut counters.sector;
pub(super) const LINE: HistogramSelector = |counters| &mut counters.line;

#[inline(always)]
pub(super) fn count_found(
    found: UseKind,
    times: u32,
    load: bool,
    cell: u32,
    notes: &mut impl Notes,
    cells: &mut ReuseCells,
) {
    match found {
        UseKind::New => {
            notes.cold(times, load, cell);
            if load {
                let counters = &mut cells[cell as usize];
                counters.element.infinite += u64::from(times);
                counters.streaming = counters.streaming.wrapping_add(u64::from(times));
            }
        }
        UseKind::Again { distance, first } => {
            notes.again(distance, times, load, cell, ELEMENT, cells);
            if let Some(first) = first {
                let streaming = &mut cells[first as usize].streaming;
                *streaming = streaming.wrapping_sub(u64::from(times));
            }
        }
    }
}

/// Uses consecutive items. Items whose last uses were consecutive are processed in one step.
#[inline(always)]
pub(super) fn use_times<T: Timeline>(
    mut times: &mut [u32],
    axis: &mut Times<T>,
    load: bool,
    weight: u32,
    cell: u32,
    which: HistogramSelector,
    cells: &mut ReuseCells,
) {
    let Times { line: axis, notes } = axis;
    while let Some(&first) = times.first() {
        // The times of unused items are all equal; the times of used items increase by one.
        let step = u32::from(first != NONE);
        let mut length = 1;
        let mut next = first.wrapping_add(step);
        while times.get(length) == Some(&next) {
            next = next.wrapping_add(step);
            length += 1;
        }
        let count = length as u32;
        if first == NONE {
            notes.cold(count * weight, load, cell);
            if load {
                which(counters(cells, cell)).infinite += u64::from(count * weight);
            }
        } else {
            let distance = count - 1 + axis.after(first + count);
            axis.clear(first, count);
            notes.again(distance, count * weight, load, cell, which, cells);
        }
        let now = axis.push(count);
        for (index, time) in times[..length].iter_mut().enumerate() {
            *time = now + index as u32;
        }
        times = &mut times[length..];
    }
}

/// Returns the runs of adjacent elements in a request whose stride equals its width. Returns `None` if inactive lanes
/// lie between active ones, or if addresses are not multiples of a common width.
pub(super) fn runs_of(bases: [u64; 2], mask: u32, bytes: u32) -> Option<impl Iterator<Item = (u64, u32)>> {
    let half = |base: u64, mask: u32| {
        let low = mask.trailing_zeros().min(16);
        let count = mask.count_ones();
        let gapless = mask == 0 || mask >> low == (1 << count) - 1;
        let base = base.wrapping_add(u64::from(low * bytes));
        let fits = count == 0 || (class_of(base, bytes).is_some() && base < u64::MAX - 1024);
        (gapless && fits).then_some((base, count))
    };
    let (low, high) = (half(bases[0], mask & 0xffff)?, half(bases[1], mask >> 16)?);
    let joined = low.0.wrapping_add(u64::from(low.1 * bytes)) == high.0;
    let runs = if joined && low.1 > 0 { [(low.0, low.1 + high.1), (0, 0)] } else { [low, high] };
    Some(runs.into_iter().filter(|run| run.1 > 0))
}

pub(super) fn end_time(time: &mut u32, axis: &mut impl Timeline) {
    if *time != NONE {
        axis.clear(*time, 1);
        *time = NONE;
    }
}
