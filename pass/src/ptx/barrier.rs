//! Barriers of a block in inline assembly: `bar` and `barrier`.

use super::parse::{Operand, Statement};

/// The action of a barrier instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The warp waits.
    Sync,
    /// The warp arrives and continues.
    Arrive,
    /// The warp waits; the result is the number of threads whose predicate is true.
    Count,
    /// The warp waits; the result is whether all predicates are true.
    And,
    /// The warp waits; the result is whether at least one predicate is true.
    Or,
}

/// A barrier instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier<'s> {
    /// The action of the instruction.
    pub action: Action,
    /// The number of the barrier.
    pub number: &'s Operand,
    /// The number of threads; all threads of the block if there is none.
    pub threads: Option<&'s Operand>,
    /// The result and the predicate of a reduction, and whether the predicate is negated.
    pub reduced: Option<(&'s Operand, &'s Operand, bool)>,
    /// Whether all threads of the warp reach the barrier together.
    pub aligned: bool,
}

impl<'s> Barrier<'s> {
    /// Reads a statement; returns `None` for other instructions, including `bar.warp` and `barrier.cluster`.
    pub fn read(statement: &'s Statement) -> Option<Barrier<'s>> {
        let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
        let has = |part: &str| parts.contains(&part);
        if !matches!(parts.first(), Some(&"bar" | &"barrier")) || has("warp") || has("cluster") {
            return None;
        }
        let aligned = parts[0] == "bar" || has("aligned");
        let operands = &statement.operands[..];
        let plain = |action| {
            let (number, rest) = operands.split_first()?;
            (rest.len() <= 1).then_some(Barrier { action, number, threads: rest.first(), reduced: None, aligned })
        };
        match () {
            () if has("sync") => plain(Action::Sync),
            () if has("arrive") => plain(Action::Arrive).filter(|one| one.threads.is_some()),
            () if has("red") => {
                let action = match () {
                    () if has("popc") => Action::Count,
                    () if has("and") => Action::And,
                    () if has("or") => Action::Or,
                    () => return None,
                };
                let (result, number, threads, predicate) = match operands {
                    [result, number, predicate] => (result, number, None, predicate),
                    [result, number, threads, predicate] => (result, number, Some(threads), predicate),
                    _ => return None,
                };
                let (predicate, negated) = match predicate {
                    Operand::Not(inner) => (&**inner, true),
                    plain => (plain, false),
                };
                Some(Barrier { action, number, threads, reduced: Some((result, predicate, negated)), aligned })
            }
            () => None,
        }
    }

    /// Returns whether it is `__syncthreads` or one of its variants, for all threads of the block and barrier 0.
    pub fn is_block_wide(&self) -> bool {
        self.threads.is_none() && *self.number == Operand::Number(0) && self.action != Action::Arrive
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn form(text: &str) -> Option<(Action, bool, bool)> {
        let statements = parse(text).expect(text);
        Barrier::read(&statements[0]).map(|one| (one.action, one.is_block_wide(), one.aligned))
    }

    #[test]
    fn forms_are_distinguished() {
        assert_eq!(form("bar.sync 0;"), Some((Action::Sync, true, true)));
        assert_eq!(form("barrier.cta.sync.aligned 0;"), Some((Action::Sync, true, true)));
        assert_eq!(form("barrier.sync 1, $0;"), Some((Action::Sync, false, false)));
        assert_eq!(form("bar.arrive 1, 128;"), Some((Action::Arrive, false, true)));
        assert_eq!(form("bar.arrive 1;"), None);
        assert_eq!(form("bar.red.popc.u32 $0, 0, p;"), Some((Action::Count, true, true)));
        assert_eq!(form("barrier.cta.red.and.pred q, 2, 64, !p;"), Some((Action::And, false, false)));
        assert_eq!(form("bar.warp.sync $0;"), None);
        assert_eq!(form("barrier.cluster.arrive;"), None);
    }
}
