//! What the figures of a device may be.

use std::ops::RangeInclusive;

use serde::Deserialize;

use super::figure::Figure;

/// The figures of [`Device`], as far as known; units as there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `Device`")]
pub struct DeviceFigures {
    pub compute_capability: Option<Figure<(u32, u32)>>,
    pub sms: Option<Figure<u32>>,
    pub threads_per_sm: Option<Figure<u32>>,
    pub blocks_per_sm: Option<Figure<u32>>,
    pub registers_per_sm: Option<Figure<u32>>,
    pub register_unit: Option<Figure<u32>>,
    pub shared_per_sm: Option<Figure<u32>>,
    pub shared_per_block: Option<Figure<u32>>,
    pub shared_per_block_optin: Option<Figure<u32>>,
    pub shared_reserved_per_block: Option<Figure<u32>>,
    pub shared_unit: Option<Figure<u32>>,
    pub clock_khz: Option<Figure<u32>>,
    pub memory_clock_khz: Option<Figure<u32>>,
    pub memory_bus_bits: Option<Figure<u32>>,
    pub memory_bytes: Option<Figure<u64>>,
    pub l2_bytes: Option<Figure<u64>>,
    pub turn: Option<Figure<u32>>,
}

/// Looks for figures that no device can have, nor a run be made with.
///
/// # Errors
/// The figure and what is wrong with it.
pub(super) fn check(figures: &DeviceFigures) -> Result<(), (&'static str, String)> {
    let range = |name: &'static str, figure: &Option<Figure<u32>>, range: RangeInclusive<u32>| match figure {
        Some(Figure { value, .. }) if !range.contains(value) => {
            Err((name, format!("{value} is not from {} to {}", range.start(), range.end())))
        }
        _ => Ok(()),
    };
    // Warp slots of all SMs are numbered in 28 bits.
    range("sms", &figures.sms, 1..=1 << 16)?;
    // A warp of 32 or 64 lanes has to fit.
    range("threads_per_sm", &figures.threads_per_sm, 64..=1 << 12)?;
    range("blocks_per_sm", &figures.blocks_per_sm, 1..=1 << 10)?;
    // One warp with the fewest registers that are given out.
    range("registers_per_sm", &figures.registers_per_sm, 1 << 10..=1 << 24)?;
    range("register_unit", &figures.register_unit, 1..=1 << 12)?;
    range("shared_per_sm", &figures.shared_per_sm, 0..=1 << 24)?;
    range("shared_per_block", &figures.shared_per_block, 0..=1 << 24)?;
    range("shared_per_block_optin", &figures.shared_per_block_optin, 0..=1 << 24)?;
    range("shared_reserved_per_block", &figures.shared_reserved_per_block, 0..=1 << 20)?;
    range("shared_unit", &figures.shared_unit, 1..=1 << 20)?;
    range("clock_khz", &figures.clock_khz, 1..=100_000_000)?;
    range("memory_clock_khz", &figures.memory_clock_khz, 1..=100_000_000)?;
    range("memory_bus_bits", &figures.memory_bus_bits, 1..=1 << 16)?;
    range("turn", &figures.turn, 1..=1 << 16)?;
    for (name, figure) in [("memory_bytes", &figures.memory_bytes), ("l2_bytes", &figures.l2_bytes)] {
        if let Some(Figure { value: 0, .. }) = figure {
            return Err((name, "0 is no size".to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::models::parse;

    #[test]
    fn impossible_devices_are_told_with_their_line() {
        let text = include_str!("../../models/rtx2080ti.toml");
        for figure in ["sms", "threads_per_sm", "registers_per_sm", "clock_khz", "blocks_per_sm"] {
            let line = text.lines().position(|line| line.starts_with(&format!("{figure} = "))).unwrap();
            let wrong: Vec<String> = text
                .lines()
                .enumerate()
                .map(|(index, text)| match text.split_once("value = ") {
                    Some((before, after)) if index == line => {
                        let rest = after.split_once(',').unwrap().1;
                        format!("{before}value = 0,{rest}")
                    }
                    _ => text.to_owned(),
                })
                .collect();
            let message = parse(&wrong.join("\n"), std::path::Path::new("mine.toml")).unwrap_err().to_string();
            assert!(message.starts_with(&format!("mine.toml:{}: device.{figure}: 0 is not", line + 1)), "{message}");
        }
    }
}
