//! Results of analyses at the end of a launch, independent of their types.

use std::any::Any;
use std::fmt::Debug;

use super::Table;

/// The result of an analysis. It may contain only sums, maxima and sets, so that it does not depend on the number of
/// workers or on the order in which results are added.
pub trait Sum: Any + Clone + Debug + Default + Send + Sync {
    /// Adds another result, from other SMs or from another launch of the kernel.
    fn add(&mut self, other: &Self);

    /// Called when the results of all workers for a launch are added, before launches are added. Figures that need the
    /// whole launch, such as the number of blocks that touched a sector, can be computed here, and their inputs
    /// discarded.
    fn settle(&mut self) {}

    /// Returns the rows for the profile; `None` if there are none, or if the profile has separate fields for the
    /// result.
    fn table(&self) -> Option<Table>;
}

/// A [`Sum`] of any type.
pub(super) trait AnySum: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn add_any(&mut self, other: &dyn AnySum);
    fn cloned(&self) -> Box<dyn AnySum>;
    fn settle_any(&mut self);
    fn table(&self) -> Option<Table>;
}

impl<S: Sum> AnySum for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn add_any(&mut self, other: &dyn AnySum) {
        if let Some(other) = other.as_any().downcast_ref::<S>() {
            self.add(other);
        }
    }

    fn cloned(&self) -> Box<dyn AnySum> {
        Box::new(self.clone())
    }

    fn settle_any(&mut self) {
        self.settle();
    }

    fn table(&self) -> Option<Table> {
        Sum::table(self)
    }
}

impl Clone for Box<dyn AnySum> {
    fn clone(&self) -> Self {
        (**self).cloned()
    }
}

/// The results of all listed analyses, in the order of the list.
#[derive(Clone, Debug, Default)]
pub struct Sums(pub(super) Vec<Box<dyn AnySum>>);

impl Sums {
    /// Adds the results of other SMs or of another launch.
    pub fn add(&mut self, other: &Sums) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            sum.add_any(&**other);
        }
    }

    /// Calls [`Sum::settle`] on each result.
    pub fn settle(&mut self) {
        self.0.iter_mut().for_each(|sum| sum.settle_any());
    }

    /// Returns the result of one analysis, if it ran.
    pub fn get<S: Sum>(&self) -> Option<&S> {
        self.0.iter().find_map(|sum| sum.as_any().downcast_ref())
    }

    /// Returns the tables of all results that have one.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.0.iter().filter_map(|sum| sum.table())
    }
}
