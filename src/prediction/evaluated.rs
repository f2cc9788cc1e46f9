//! The values of all expressions of a kernel in one launch.

use warpline_format::expression::{ExpressionId, LoopId};

use super::form::{Bounds, Truth, counter};
use super::launch::Launch;
use super::value::{Lost, Value, node};
use warpline_profile::model::Addresses;

/// Maximum number of iterations of a loop that is followed for each thread.
pub const MOST_BY_THREAD: i64 = 64;

/// The values of all expressions of a kernel in one launch.
pub struct Evaluated {
    pub(super) values: Vec<Value>,
    /// Ranges of all indices.
    pub bounds: Bounds,
    /// Indexed by loop: the condition under which a thread reaches the iteration given by the counter; `None` if all
    /// threads reach all iterations.
    pub loops: Vec<Result<Option<Truth>, Lost>>,
    /// Indexed by loop: its end is not a condition on forms and differs between threads ([`super::trip_counts`]).
    pub by_thread: Vec<bool>,
}

impl Evaluated {
    /// Returns the value of an expression.
    pub fn value(&self, id: ExpressionId) -> &Value {
        &self.values[id as usize]
    }

    /// Returns whether the last iteration of a loop differs between threads, and the loop is short enough to be
    /// followed for each thread.
    pub fn differs(&self, loop_id: LoopId) -> bool {
        let own = self.by_thread[loop_id as usize] || matches!(self.loops.get(loop_id as usize), Some(Ok(Some(_))));
        own && self.bounds.extent(counter(loop_id)) <= MOST_BY_THREAD
    }

    /// Evaluates all expressions over the ranges of the indices.
    pub(super) fn fill(&mut self, addresses: &Addresses, launch: &Launch) {
        self.values.clear();
        for id in 0..addresses.expressions.len() {
            let value = node(addresses, launch, &self.values, &self.bounds, id);
            self.values.push(value);
        }
    }

    /// Evaluates all expressions over a part of the launch, where more of them may be affine.
    pub fn narrowed(&self, addresses: &Addresses, launch: &Launch, bounds: Bounds) -> Evaluated {
        let mut found =
            Evaluated { values: Vec::new(), bounds, loops: self.loops.clone(), by_thread: self.by_thread.clone() };
        found.fill(addresses, launch);
        found
    }

    /// Returns the value of an expression over a part of the launch, where it may be affine even if it is not affine
    /// over the whole launch.
    pub fn within(addresses: &Addresses, launch: &Launch, bounds: &Bounds, id: ExpressionId) -> Value {
        let mut values = Vec::with_capacity(id as usize + 1);
        for id in 0..=id as usize {
            values.push(node(addresses, launch, &values, bounds, id));
        }
        values.pop().unwrap_or(Value::Computed)
    }
}
