//! The JSON document of `report --format json`, version 1. `docs/profile-v1.schema.json` is its
//! schema, `docs/report.md` defines each figure. Fields are only ever added.

mod addresses;
mod advice;
mod allocations;
mod basis;
mod checks;
mod control_flow;
mod estimate;
mod finding;
mod floats;
mod frames;
mod hit_rate;
mod kernel;
mod merged;
mod metrics;
mod number;
mod operand;
mod pattern;
mod places;
mod profile;
mod rounding;
mod run;
mod spread;
mod table;
mod values;

pub use addresses::{Addresses, Argument, Parameter, Unreached, Variable};
pub use advice::{BypassAdvice, BypassEquation, PageMetrics, SiteChoice, WarpChoice};
pub use allocations::{Allocation, ByKernel, CopyRow, HostAllocation, Intensity, Lifetime, TouchedMap, TouchedRows};
pub use basis::Basis;
pub use checks::{
    Conflict, ConflictParty, ConflictUpdate, FailedCall, Fault, FaultMember, HostAccess, Missing, StreamAccess,
    StreamConflict, Uninitialised,
};
pub use control_flow::{Block, BlockPart, Branch, LaneSlots, WarpBlocks};
pub use estimate::{Bytes, Estimate, IdealEstimate, Limit};
pub use finding::{Finding, FindingLine, Gain, Severity, also_on};
pub use floats::{FloatException, FloatOrigin, FloatStep};
pub use frames::{Frame, is_system, user_frame};
pub use hit_rate::HitRate;
pub use kernel::{Kernel, Launch, LaunchGroup};
pub use merged::{
    EstimateExact, Exact, FoundBefore, KernelExact, MergedFrom, MergedRanks, NameOverRanks, OverRanks, PathOverRanks,
    Ranges, RankSpread,
};
pub use metrics::{
    Beyond, ByOp, CacheMetrics, DistanceBucket, Distances, DramMetrics, InstructionCount, Instructions, LevelMetrics,
    Metrics, OpMetrics, PassMetrics, ReuseMetrics, Spaces, StageMetrics,
};
pub use number::Wide;
pub use number::nine_digits;
pub use operand::{Operand, ThreadStep};
pub use pattern::HOTTEST;
pub use pattern::{Atomics, BankConflict, HotPlace, Pattern};
pub use places::{ByAllocation, Context, Line, Site};
pub use profile::{NotSeen, Profile, SCHEMA, VERSION};
pub use rounding::{ComparedResult, RoundedAllocation, RoundedElement, RoundedWrites, RoundingErrors, UnroundedAccess};
pub use run::{CacheBytes, Environment, LookupBytes, Rank, Run};
pub use spread::{Estimated, PathSpread, RatioSpread, Spread, WholeRun};
pub use table::{Table, TableCell, TableColumn, join_rows};
pub use values::{AccessValues, AllocationValues, ValueSet};
