//! Findings that were wrong, doubtful or missing when public programs and planted problems were judged, each
//! as a small case: what is reported of it now, and what must not be reported again.

mod allocations;
mod atomics;
mod bank_conflicts;
mod computing;
mod copies;
mod divergence;
mod eighteenth;
mod gathers;
mod launches;
mod local_memory;
mod nineteenth;
mod program;
mod programs;
mod races;
mod reuse;
mod rows;
mod sixteenth;
mod strides;
mod tools;
mod twentieth;
mod twenty_second;
