//! What analyses hand on at the end of a launch, whatever their types.

use std::any::Any;
use std::fmt::Debug;

use super::Table;

/// The result of an analysis. Sums, greatest values and sets only: so that neither the number of workers nor the order
/// in which their results are added matters.
pub trait Sum: Any + Clone + Debug + Default + Send + Sync {
    /// Adds another one, of other SMs or of another launch of the kernel.
    fn add(&mut self, other: &Self);

    /// All that the workers found in a launch is added up. What is known only then, as which blocks touched a sector,
    /// may be counted here and discarded, before launches are added to each other.
    fn settle(&mut self) {}

    /// Returns its rows in the profile; `None` if it has none, or if the profile has separate fields for it.
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

/// The results of all listed analyses, in the list's order.
#[derive(Clone, Debug, Default)]
pub struct Sums(pub(super) Vec<Box<dyn AnySum>>);

impl Sums {
    /// Adds those of other SMs or of another launch.
    pub fn add(&mut self, other: &Sums) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for (sum, other) in self.0.iter_mut().zip(&other.0) {
            sum.add_any(&**other);
        }
    }

    /// All that the workers found in a launch is added up.
    pub fn settle(&mut self) {
        self.0.iter_mut().for_each(|sum| sum.settle_any());
    }

    /// Returns the result of one analysis, where it ran.
    pub fn get<S: Sum>(&self) -> Option<&S> {
        self.0.iter().find_map(|sum| sum.as_any().downcast_ref())
    }

    /// Returns the rows of all that have some.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        self.0.iter().filter_map(|sum| sum.table())
    }
}
