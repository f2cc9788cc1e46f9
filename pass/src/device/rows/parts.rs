//! Assigns the instructions of a block to their source lines.
//!
//! The optimiser decides where a block starts: code that one lane runs after a loop may be in a block whose first
//! instruction belongs to the loop. The block's counts are assigned to the lines of its instructions instead.

use super::locate::known;
use super::mix::of_instruction;
use super::table::Table;
use crate::llvm::{Block, Value};
use warpline_format::site_table::{BlockPart, Frame, FrameId, InstructionMix};

/// Returns the mix of a block's instructions, in total and by line. If there is at most one line, the list of lines is
/// empty.
pub(in crate::device) fn of_block(
    block: Block<'_>,
    number: u32,
    table: &mut Table<'_>,
) -> (InstructionMix, Vec<BlockPart>) {
    let mut whole = InstructionMix::default();
    let mut parts: Vec<BlockPart> = Vec::new();
    // Instructions without a position belong to the line before them; instructions at the start belong to the first
    // line.
    let mut current = 0;
    let mut waiting = InstructionMix::default();
    for instruction in block.instructions() {
        let mix = of_instruction(instruction);
        add(&mut whole, &mix);
        if let Some(chain) = chain(instruction, table) {
            current = parts.iter().position(|part| part.chain == chain).unwrap_or_else(|| {
                parts.push(BlockPart { block: number, chain, mix: InstructionMix::default() });
                parts.len() - 1
            });
        }
        match parts.get_mut(current) {
            Some(part) => {
                add(&mut part.mix, &mix);
                add(&mut part.mix, &std::mem::take(&mut waiting));
            }
            None => add(&mut waiting, &mix),
        }
    }
    parts.retain(|part| part.mix != InstructionMix::default());
    if parts.len() < 2 {
        parts.clear();
    }
    (whole, parts)
}

/// Returns the lines of an instruction's chain, without columns.
fn chain(instruction: Value<'_>, table: &mut Table<'_>) -> Option<Vec<FrameId>> {
    let frames = table.chain(known(instruction)?);
    let lines = frames.into_iter().map(|frame| {
        let Frame { function, file, line, .. } = table.table.frames[frame as usize].clone();
        table.frame(Frame { function, file, line, column: 0 })
    });
    Some(lines.collect())
}

fn add(sum: &mut InstructionMix, more: &InstructionMix) {
    let InstructionMix { fp16, fp32, fp64, int, special, conversion, control, memory, barrier, tensor, products } =
        more;
    sum.fp16 += fp16;
    sum.fp32 += fp32;
    sum.fp64 += fp64;
    sum.int += int;
    sum.special += special;
    sum.conversion += conversion;
    sum.control += control;
    sum.memory += memory;
    sum.barrier += barrier;
    sum.tensor += tensor;
    for (sum, more) in sum.products.iter_mut().zip(products) {
        *sum = sum.saturating_add(*more);
    }
}
