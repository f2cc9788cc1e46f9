//! Counts the results of operations by kind, in runs that record operation values.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::access::{MOST_ROWS, OperationValues};
use warpline_format::event::LaunchId;
use warpline_format::operation::{FloatClass, FloatFormat, ValueType};

use super::shards::ByLaunch;
use super::{Column, Merged, Sum, Table, Value};
use crate::requests::{AnalysisTool, Cells, Event, LaunchShape};

const ID: &str = "operations";
const TITLE: &str = "Recorded operations";
const COLUMNS: [Column; 9] = [
    Column { name: "place", unit: "", merged: Merged::Key },
    Column { name: "operation", unit: "", merged: Merged::Key },
    Column { name: "result", unit: "", merged: Merged::Key },
    Column { name: "executions", unit: "executions", merged: Merged::Sum },
    Column { name: "results", unit: "results", merged: Merged::Sum },
    Column { name: "uniform", unit: "executions", merged: Merged::Sum },
    Column { name: "zero", unit: "results", merged: Merged::Sum },
    Column { name: "exceptional", unit: "results", merged: Merged::Sum },
    Column { name: "outside 16 bits", unit: "results", merged: Merged::Sum },
];

/// Executions of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Executions by warps.
    executions: u64,
    /// Executions by lanes.
    results: u64,
    /// Executions by several lanes that all have the same operands and the same result.
    uniform: u64,
    /// Results that are zero.
    zero: u64,
    /// Results that are NaN, infinite or subnormal.
    exceptional: u64,
    /// Results outside the normal range of the kind's 16-bit type: binary16, or a signed integer.
    outside: u64,
}

impl Counts {
    fn add(&mut self, more: &Counts) {
        self.executions += more.executions;
        self.results += more.results;
        self.uniform += more.uniform;
        self.zero += more.zero;
        self.exceptional += more.exceptional;
        self.outside += more.outside;
    }

    /// Counts the results of a record; returns whether all lanes have the same values.
    fn record(&mut self, values: &OperationValues<'_>, result: ValueType) -> bool {
        self.executions += u64::from(values.part == 0);
        let mut first: Option<[u64; MOST_ROWS]> = None;
        let (mut lanes, mut same) = (0, true);
        values.for_each_lane(|_, row| {
            lanes += 1;
            same &= *first.get_or_insert(row) == row;
            self.result(row[0], result);
        });
        same && lanes > 1
    }

    fn result(&mut self, bits: u64, ty: ValueType) {
        self.results += 1;
        let Some(format) = ty.float() else {
            let unused = 64 - ty.bits();
            let value = ((bits << unused) as i64) >> unused;
            self.zero += u64::from(value == 0);
            self.outside += u64::from(ty != ValueType::Bit && i16::try_from(value).is_err());
            return;
        };
        let zero = format.is_zero(bits);
        self.zero += u64::from(zero);
        match format.classify(bits) {
            FloatClass::Ordinary => self.outside += u64::from(!zero && !is_normal_half(format.value(bits))),
            _ => self.exceptional += 1,
        }
    }
}

/// Returns whether a number lies in the range of normal numbers of binary16 (IEEE 754-2019, table 3.5).
fn is_normal_half(value: f64) -> bool {
    let half = FloatFormat::Half;
    (half.value(half.smallest_normal())..=half.value(half.infinity() - 1)).contains(&value.abs())
}

/// Counts by operation and type of its result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationCounts(BTreeMap<(u32, ValueType), Counts>);

impl Sum for OperationCounts {
    fn add(&mut self, other: &Self) {
        for (key, counts) in &other.0 {
            self.0.entry(*key).or_default().add(counts);
        }
    }

    fn table(&self) -> Option<Table> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(key, counts)| (std::cmp::Reverse(counts.results), **key));
        let row = |(&(operation, result), counts): (&(u32, ValueType), &Counts)| {
            let Counts { executions, results, uniform, zero, exceptional, outside } = *counts;
            let numbers = [executions, results, uniform, zero, exceptional, outside].map(Value::Count);
            let keys = [Value::Operation(operation), Value::Operator(operation), Value::Text(result.name())];
            keys.into_iter().chain(numbers).collect()
        };
        let rows: Vec<_> = rows.into_iter().map(row).collect();
        (!rows.is_empty()).then_some(Table { id: ID, title: TITLE, columns: &COLUMNS, rows })
    }
}

/// Counts of a launch.
#[derive(Debug, Default)]
struct State {
    counts: OperationCounts,
    /// Executions with several results of which all so far are uniform: slot and operation.
    uniform: BTreeSet<(u32, u32)>,
}

impl State {
    fn record(&mut self, slot: u32, values: &OperationValues<'_>, result: ValueType) {
        let counts = self.counts.0.entry((values.operation, result)).or_default();
        let same = counts.record(values, result);
        if values.parts == 1 {
            counts.uniform += u64::from(same);
            return;
        }
        let key = (slot, values.operation);
        let same = (self.uniform.remove(&key) || values.part == 0) && same;
        if values.part.saturating_add(1) == values.parts {
            counts.uniform += u64::from(same);
        } else if same {
            self.uniform.insert(key);
        }
    }
}

/// Counts the operations of one worker's SMs.
#[derive(Debug, Default)]
pub struct Operations(ByLaunch<State>);

impl AnalysisTool for Operations {
    type Result = OperationCounts;

    fn needs_shared(&self) -> bool {
        false
    }

    fn needs_requests(&self) -> bool {
        false
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.start(launch.id, State::default());
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.batch(launch);
    }

    fn batch_end(&mut self) {
        self.0.batch_end();
    }

    fn event(&mut self, event: Event<'_>) {
        let Event::Operation(execution) = event else { return };
        let (Some(state), Some(result)) = (self.0.current(), execution.values.types.get(0)) else { return };
        state.record(execution.slot, execution.values, result);
    }

    fn end(&mut self, launch: &LaunchShape, _cells: &mut Cells) -> OperationCounts {
        self.0.end(launch.id).unwrap_or_default().counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::access::{Item, Items, operation_head, part_word};
    use warpline_format::operation::ValueTypes;

    /// Returns the record of an execution in which lane `l` of `mask` has these bits in each row.
    fn record(mask: u32, types: &[ValueType], bits: impl Fn(usize, u32) -> u64) -> Vec<u8> {
        let mut bytes = operation_head(5, types.len()).to_le_bytes().to_vec();
        bytes.extend(mask.to_le_bytes());
        bytes.extend(u64::from(ValueTypes::new(types).0).to_le_bytes());
        for row in 0..types.len() {
            let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
            bytes.extend(lanes.flat_map(|lane| bits(row, lane).to_le_bytes()));
        }
        bytes
    }

    fn counted(bytes: &[u8]) -> Counts {
        let mut state = State::default();
        for item in Items::new(bytes) {
            let Ok(Item::Operation(values)) = item else { panic!("no operation") };
            state.record(3, &values, values.types.get(0).unwrap());
        }
        state.counts.0.into_values().next().expect("counts")
    }

    /// An execution with two results per lane, as records of the first and the last.
    #[test]
    fn results_of_one_execution_are_counted_together() {
        let double = [ValueType::Double, ValueType::Double];
        let two = |uniform: [bool; 2]| {
            let parts =
                (0..2u16).map(|part| {
                    let mut bytes = record(0xff, &double, |_, lane| {
                        if uniform[usize::from(part)] { 0 } else { f64::from(lane + 1).to_bits() }
                    });
                    bytes[12..16].copy_from_slice(&part_word(part, 2).to_le_bytes());
                    bytes
                });
            counted(&parts.collect::<Vec<_>>().concat())
        };
        let all = two([true, true]);
        assert_eq!(all, Counts { executions: 1, results: 16, uniform: 1, zero: 16, ..Counts::default() });
        assert_eq!([two([true, false]), two([false, true])].map(|counts| counts.uniform), [0, 0]);
    }

    #[test]
    fn results_are_counted_by_kind() {
        let single = [ValueType::Single, ValueType::Single];
        let results = [0.0, -1.0, 65504.0, 65536.0, 1e-5, f32::NAN, f32::INFINITY, 1e-40];
        let bytes = record(0xff, &single, |_, lane| u64::from(results[lane as usize].to_bits()));
        let want = Counts { executions: 1, results: 8, uniform: 0, zero: 1, exceptional: 3, outside: 2 };
        assert_eq!(counted(&bytes), want);
        let integers = [0, -1, 32767, -32768, 32768, i32::MIN];
        let bytes = record(0x3f, &[ValueType::Int32], |_, lane| u64::from(integers[lane as usize] as u32));
        assert_eq!(counted(&bytes), Counts { executions: 1, results: 6, zero: 1, outside: 2, ..Counts::default() });
    }

    #[test]
    fn an_execution_is_uniform_if_operands_are_too() {
        let pair = [ValueType::Double, ValueType::Double, ValueType::Double];
        let one = 1f64.to_bits();
        let uniform = |bytes: &[u8]| counted(bytes).uniform;
        assert_eq!(uniform(&record(0xf0, &pair, |_, _| one)), 1);
        assert_eq!(uniform(&record(0xf0, &pair, |row, lane| if row == 2 { u64::from(lane) } else { one })), 0);
        assert_eq!(uniform(&record(0x10, &pair, |_, _| one)), 0);
    }
}
