//! Determines where a warp's issue slot ends.

use crate::traffic::access::MemoryAccess;

/// An issue slot of a warp, by the rules of [`warpline_format::schedule`]. It ends with the item that brings the number
/// of requests to the slot's limit or above.
#[derive(Clone, Copy)]
pub struct Turn {
    left: i64,
    /// Item and site of the previous request.
    last: Option<(usize, usize)>,
}

impl Turn {
    /// Creates an issue slot with a limit of requests.
    pub fn new(requests: u32) -> Turn {
        Turn { left: requests.into(), last: None }
    }

    /// Returns whether the limit is reached.
    pub fn is_used_up(&self) -> bool {
        self.left <= 0
    }

    /// Returns whether the issue slot ends before this access.
    #[inline(always)]
    pub fn is_over_before(&self, access: &MemoryAccess) -> bool {
        self.is_used_up() && self.last.is_none_or(|(item, _)| item != access.item)
    }

    /// Adds an access and returns whether it is a new request. Accesses of one site are cases of one request.
    #[inline(always)]
    pub fn make(&mut self, access: &MemoryAccess) -> bool {
        let now = Some((access.item, access.site));
        let is_more = self.last != now;
        self.left -= i64::from(is_more);
        self.last = now;
        is_more
    }

    /// Starts a new item, as at a loop's next iteration.
    #[inline(always)]
    pub fn leave_item(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Truth};

    /// Returns the numbers of the accesses at which issue slots of four requests start, given the items and sites of
    /// the accesses.
    fn begins(accesses: &[(usize, usize)]) -> Vec<usize> {
        let access = |&(item, site): &(usize, usize)| MemoryAccess {
            item,
            site,
            ..MemoryAccess::load(Form::number(0), Truth::Known(true), 4)
        };
        let mut turn = Turn::new(4);
        let mut begins = vec![0];
        for (number, access) in accesses.iter().map(access).enumerate() {
            if turn.is_over_before(&access) {
                turn = Turn::new(4);
                begins.push(number);
            }
            turn.make(&access);
        }
        begins
    }

    #[test]
    fn turns_end_with_the_item_that_uses_them_up() {
        let alone: Vec<(usize, usize)> = (0..9).map(|site| (site, site)).collect();
        assert_eq!(begins(&alone), [0, 4, 8]);
        // Three rows of three neighbours; each row is one item in the trace.
        let rows: Vec<(usize, usize)> = (0..9).map(|site| (site / 3 * 3, site)).collect();
        assert_eq!(begins(&rows), [0, 6]);
        // Cases of the second site are one request.
        assert_eq!(begins(&[(0, 0), (1, 1), (1, 1), (2, 2), (3, 3), (4, 4)]), [0, 5]);
    }
}
