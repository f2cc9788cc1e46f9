//! Where a warp's turn ends.

use crate::traffic::volumes::Affine;

/// A turn of a warp, by the rules of [`warpline_format::schedule`]: it ends with the item that makes it as many requests as a turn has, or more.
#[derive(Clone, Copy)]
pub struct Turn {
    left: i64,
    /// Item and site of the request before.
    last: Option<(usize, usize)>,
}

/// By access, in the order of the code and without loops: in which turn of so many requests it is made.
pub fn turns_of(accesses: &[Affine], requests: u32) -> Vec<usize> {
    let (mut turn, mut last) = (Turn::new(requests), 0);
    let place = |access| {
        if turn.is_over_before(access) {
            (turn, last) = (Turn::new(requests), last + 1);
        }
        turn.make(access);
        last
    };
    accesses.iter().map(place).collect()
}

impl Turn {
    /// A turn of so many requests.
    pub fn new(requests: u32) -> Turn {
        Turn { left: requests.into(), last: None }
    }

    /// Whether the requests are used up.
    pub fn is_used_up(&self) -> bool {
        self.left <= 0
    }

    /// Whether the turn ends before this access.
    #[inline(always)]
    pub fn is_over_before(&self, access: &Affine) -> bool {
        self.is_used_up() && self.last.is_none_or(|(item, _)| item != access.item)
    }

    /// The access makes a request; whether it is one more, as those of one site are the cases of one.
    #[inline(always)]
    pub fn make(&mut self, access: &Affine) -> bool {
        let now = Some((access.item, access.site));
        let is_more = self.last != now;
        self.left -= i64::from(is_more);
        self.last = now;
        is_more
    }

    /// What follows is another item, as in a loop's next iteration.
    #[inline(always)]
    pub fn leave_item(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Truth};

    /// Numbers of the accesses at which turns of four requests begin; items and sites of the accesses.
    fn begins(accesses: &[(usize, usize)]) -> Vec<usize> {
        let access = |&(item, site): &(usize, usize)| Affine {
            item,
            site,
            ..Affine::load(Form::number(0), Truth::Known(true), 4)
        };
        let turns = turns_of(&accesses.iter().map(access).collect::<Vec<_>>(), 4);
        (0..turns.len()).filter(|&number| number == 0 || turns[number] != turns[number - 1]).collect()
    }

    #[test]
    fn turns_end_with_the_item_that_uses_them_up() {
        let alone: Vec<(usize, usize)> = (0..9).map(|site| (site, site)).collect();
        assert_eq!(begins(&alone), [0, 4, 8]);
        // Three rows of three neighbours, each of which the trace has as one item.
        let rows: Vec<(usize, usize)> = (0..9).map(|site| (site / 3 * 3, site)).collect();
        assert_eq!(begins(&rows), [0, 6]);
        // Cases of the second site are one request.
        assert_eq!(begins(&[(0, 0), (1, 1), (1, 1), (2, 2), (3, 3), (4, 4)]), [0, 5]);
    }
}
