//! The fields of a section, in order.

use std::collections::BTreeMap;

use super::pack::{Pack, describe_field, pack, replace};
use super::reader::{Broken, Reader};
use super::writer::Writer;
use crate::model::{
    Allocation, Atomics, BankConflict, Beyond, Block, BlockPart, Branch, ByAllocation, ByKernel, Bytes, CacheMetrics,
    Context, CopyRow, DistanceBucket, Distances, DramMetrics, Estimate, EstimateExact, Estimated, Exact, Finding,
    FindingLine, Frame, HostAllocation, HotPlace, IdealEstimate, InstructionCount, Kernel, KernelExact, LaneSlots,
    Launch, LaunchGroup, LevelMetrics, Lifetime, Limit, Line, Metrics, NameOverRanks, OpMetrics, Operand, PageMetrics,
    PassMetrics, PathOverRanks, PathSpread, Pattern, Profile, RankSpread, RatioSpread, ReuseMetrics, Site, Spread,
    StageMetrics, ThreadStep, TouchedMap, TouchedRows, WarpBlocks,
};
use warpline_format::condition::{AtomicKind, Decider};

/// Source lines of a file, by number.
type SourceLines = BTreeMap<u32, String>;

pack! {
    Profile {
        schema version kernels lines sites allocations host_allocations branches blocks findings allocation_names sources;
        json run faults conflicts stream_conflicts host_accesses uninitialised float_exceptions float_origins access_values allocation_values rounded_allocations compared_results failed_calls memory_divergence arithmetic_intensity not_seen
    }
    Kernel {
        id name mangled module file line metrics instructions lane_slots warp_blocks host_memory launches launch_groups
        launch_count recorded_launches over_launches ratios_over_launches over_paths spill_bytes estimates pages over_ranks
        paths_over_ranks exact;
        json bypass whole_run tables;
        without addresses
    }
    Launch {
        id grid block dynamic_shared_bytes static_shared_bytes registers resident_blocks block_share stream error path metrics
        by_op rank own_id;
        without arguments
    }
    LaunchGroup {
        launches first last failed grid block dynamic_shared_bytes static_shared_bytes registers block_share path metrics by_op
        over_launches ratios_over_launches
    }
    Line { file line kernel metrics instructions whole_run over_ranks }
    Estimated { estimate bound }
    Site {
        id kernel file line column function leaf inlined_at op space bytes past_l1 result_used atomic library approximate metrics operand pattern
        by_allocation contexts over_ranks
    }
    ByAllocation { allocation metrics }
    Context { calls metrics }
    Frame { function file line column }
    Operand { variable member structure structure_bytes thread_steps loaded_index }
    Pattern {
        requests uniform contiguous misaligned strided rows irregular stride_bytes offset_bytes sector_offset_bytes row_lanes
        row_pitch_bytes span_bytes span_sum atomics bank_conflict
    }
    Atomics { requests lanes addresses deepest hottest places }
    HotPlace { allocation offset lanes requests }
    BankConflict { passes ideal bytes lanes }
    Allocation {
        id name kind bytes path freed count freed_count live_at_once touched_bytes touched_map lifetime copies metrics by_kernel
    }
    TouchedMap { part_bytes touched rows }
    TouchedRows { pitch_bytes equal }
    Lifetime { first_launch last_launch }
    CopyRow { direction bytes count unchanged_count source_count source_bytes first_launch last_launch host path }
    ByKernel { kernel metrics }
    HostAllocation { id name kind bytes path count }
    Branch { kernel file line column executions divergent lanes instructions idle_lane_slots kernel_line decided_by ends_loop order_assumed }
    Block { kernel file line executions lanes partial warp_blocks instructions lanes_lost kernel_line parts }
    BlockPart { file line kernel_line instructions }
    LaneSlots { issued active lost_partial }
    WarpBlocks { count divergent partial }
    Metrics {
        requests lanes bytes sectors ideal_sectors lines_touched shared constant l1_wavefronts l1 l2 dram other_models reuse
    }
    OpMetrics { requests lanes bytes sectors ideal_sectors l1 l2 dram }
    LevelMetrics { lookups hits load_lookups load_hits store_allocations far }
    DramMetrics { read_sectors write_sectors }
    CacheMetrics { l1 l2 dram l1_wavefronts }
    ReuseMetrics { element sector line streaming }
    Distances { buckets infinite mean sum beyond }
    Beyond { l1 l2 }
    DistanceBucket { upto count }
    PassMetrics { wavefronts ideal_wavefronts }
    StageMetrics { data ideal_data tag words }
    InstructionCount { warps lanes }
    Spread { mean min max stddev }
    RatioSpread { mean min max stddev }
    PathSpread { path launches count counts ratios exact }
    Estimate { model launches limiter seconds bytes limits unknown ideal exact }
    Bytes { l1 l2 dram bus }
    Limit { name amount unit rate seconds }
    IdealEstimate { limiter seconds gain }
    EstimateExact { femtoseconds limits ideal }
    PageMetrics { page_bytes window_requests windows mean sum most distinct reach_bytes beyond_reach }
    KernelExact { over_launches shapes_left_out }
    Exact { sum squares }
    RankSpread { ranks sum squares min min_rank mean max max_rank stddev }
    PathOverRanks { path over_ranks }
    NameOverRanks { name over_ranks }
    // The data that a merged profile keeps of the findings of its parts.
    FindingLine { line column }
    Finding { id kernel file line lines other_kernels; without rank severity cause remedy verified confidence title column inside_library allocation object evidence reason cure gain }
}

impl Pack for ThreadStep {
    fn describe(to: &mut String) {
        to.push_str("step");
    }

    fn pack(&self, to: &mut Writer) {
        match self {
            ThreadStep::None => to.number(0),
            ThreadStep::Bytes(bytes) => {
                to.number(1);
                bytes.pack(to);
            }
            ThreadStep::Times(name) => {
                to.number(2);
                to.name(name);
            }
            ThreadStep::Other => to.number(3),
        }
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        match (from.number()?, &mut *self) {
            (0, step) => *step = ThreadStep::None,
            (1, step) => {
                let mut bytes = 0i64;
                bytes.unpack(from)?;
                *step = ThreadStep::Bytes(bytes);
            }
            (2, ThreadStep::Times(name)) => replace(name, from.name()?),
            (2, step) => *step = ThreadStep::Times(from.name()?.to_owned()),
            (3, step) => *step = ThreadStep::Other,
            _ => return Err(Broken),
        }
        Ok(())
    }
}

/// Encodes enumerations that have a list of all variants as positions in that list.
macro_rules! kinds {
    ($($kind:ty, $form:literal;)*) => { $(
        impl Pack for $kind {
            fn describe(to: &mut String) {
                to.push_str($form);
            }

            fn pack(&self, to: &mut Writer) {
                to.number(*self as u64);
            }

            fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
                let place = usize::try_from(from.number()?).map_err(|_| Broken)?;
                *self = *<$kind>::ALL.get(place).ok_or(Broken)?;
                Ok(())
            }
        }
    )* };
}

kinds! { Decider, "decider"; AtomicKind, "atomic"; }

impl Pack for SourceLines {
    fn describe(to: &mut String) {
        to.push_str("sources");
    }

    fn pack(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        for (number, text) in self {
            number.pack(to);
            to.line(text);
        }
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        let count = from.count()?;
        let mut before = std::mem::take(self);
        for _ in 0..count {
            let mut number = 0u32;
            number.unpack(from)?;
            let text = from.line()?;
            match before.remove(&number) {
                Some(mut line) => {
                    replace(&mut line, text);
                    self.insert(number, line);
                }
                None => _ = self.insert(number, text.to_owned()),
            }
        }
        Ok(())
    }
}
