//! Checks whether the accesses of a block's threads stay inside a kernel's shared memory.

use super::count::SiteRequests;
use super::evaluated::Evaluated;
use super::form::{FIXED, THREADS, thread};
use super::guards::condition;
use super::launch::Launch;
use super::subject::Subject;
use super::value::Value;

/// An access to shared memory that exceeds its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Source line; 0 if unknown.
    pub line: u32,
    /// The first byte after the access.
    pub end: i128,
    /// Bytes of shared memory.
    pub size: u32,
}

/// Returns the first access that exceeds shared memory of a fixed size in all threads of a block, without a condition
/// on thread numbers. Dynamic shared memory (`extern __shared__`) is assumed to be large enough.
pub fn outside(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    counted: &[SiteRequests],
) -> Option<Outside> {
    let size = subject.recorded.static_shared_bytes;
    if size == 0 || subject.recorded.dynamic_shared_bytes > 0 || launch.block == subject.recorded.block {
        return None;
    }
    let addresses = subject.addresses;
    // The compiler may copy a loop's body for more iterations than a shape has. Such copies are never executed.
    let is_made = |number: usize| subject.accesses[number].shared && counted[number].requests.requests > 0.0;
    let mut of_shared = addresses.sites.iter().enumerate().filter(|(number, _)| is_made(*number));
    of_shared.find_map(|(number, site)| {
        let Value::Form(form) = evaluated.value(site.address) else { return None };
        let mut is_free = form.terms.iter().all(|(index, _)| *index < FIXED);
        match condition(addresses, evaluated, site) {
            Ok(Some(truth)) => truth.forms(&mut |form| {
                is_free &= form.terms.iter().all(|(index, _)| (thread(THREADS)..FIXED).contains(index));
            }),
            Ok(None) | Err(_) => is_free = false,
        }
        let end = form.range(&evaluated.bounds).1 + i128::from(subject.accesses[number].bytes);
        let line = subject.line(number);
        (is_free && end > i128::from(size)).then_some(Outside { line, end, size })
    })
}
