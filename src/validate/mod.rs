//! Validation: compares a model's caches with closed forms and with a GPU's latencies, and figures with the counters of
//! Nsight Compute. `docs/fidelity.md` describes the method.

mod chase;
mod closed_form;
mod comparison;
mod counters;
mod curve;
mod figures;
mod outcome;
mod text;

pub use chase::{Chase, CyclesError, PROGRAM, Sweep, plan_text, read_cycles, timing_plan};
pub use closed_form::{Case, Misses, cases};
pub use comparison::{Compared, ComparedKernel, Comparison, Summary, compare, summarize};
pub use counters::{CountersError, KernelCounters, METRICS, read as read_counters};
pub use curve::{Plateau, Point, doubling, plateaus, tag_bytes};
pub use figures::{FigureRow, curves, figures, model_text, of_curves};
pub use outcome::{CaseRow, Level, Validation};
pub use text::{comparison_text, validation_text};
