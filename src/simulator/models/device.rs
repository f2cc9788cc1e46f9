//! Checks the figures of a device.

use std::ops::RangeInclusive;

use serde::Deserialize;
use warpline_format::warp_order::{LONGEST_WAIT, MOST_DRIFT, Order};

use super::figure::Figure;

/// The figures of [`Device`] that are known, in the same units.
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
    /// How an SM chooses the warp that issues next; loose round robin if absent.
    pub warp_order: Option<Figure<WarpOrder>>,
    /// `drift` of [`Order::LooseRoundRobin`] in per cent; 0 if absent.
    pub warp_drift: Option<Figure<u32>>,
    /// `wait` of [`Order::OldestFirst`] in steps.
    pub warp_wait: Option<Figure<u32>>,
}

/// The names of [`Order`] in a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarpOrder {
    /// [`Order::LooseRoundRobin`].
    LooseRoundRobin,
    /// [`Order::OldestFirst`].
    OldestFirst,
}

impl DeviceFigures {
    /// Returns the order of warps. The other figures must already be checked.
    pub fn order(&self) -> Order {
        let value = |figure: &Option<Figure<u32>>| figure.as_ref().map_or(0, |figure| figure.value);
        match self.warp_order.as_ref().map(|figure| figure.value) {
            None | Some(WarpOrder::LooseRoundRobin) => Order::LooseRoundRobin { drift: value(&self.warp_drift) },
            Some(WarpOrder::OldestFirst) => Order::OldestFirst { wait: value(&self.warp_wait) },
        }
    }
}

/// Checks for figures that are impossible, or that make a run impossible.
///
/// # Errors
/// Returns the figure and the reason.
pub(super) fn check(figures: &DeviceFigures) -> Result<(), (&'static str, String)> {
    let range = |name: &'static str, figure: &Option<Figure<u32>>, range: RangeInclusive<u32>| match figure {
        Some(Figure { value, .. }) if !range.contains(value) => {
            Err((name, format!("{value} is not from {} to {}", range.start(), range.end())))
        }
        _ => Ok(()),
    };
    // The warp slots of all SMs are numbered with 28 bits.
    range("sms", &figures.sms, 1..=1 << 16)?;
    // A warp of 32 or 64 lanes must fit.
    range("threads_per_sm", &figures.threads_per_sm, 64..=1 << 12)?;
    range("blocks_per_sm", &figures.blocks_per_sm, 1..=1 << 10)?;
    // One warp with the smallest register allocation must fit.
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
    range("warp_drift", &figures.warp_drift, 0..=MOST_DRIFT)?;
    range("warp_wait", &figures.warp_wait, 0..=LONGEST_WAIT)?;
    check_order(figures)?;
    for (name, figure) in [("memory_bytes", &figures.memory_bytes), ("l2_bytes", &figures.l2_bytes)] {
        if let Some(Figure { value: 0, .. }) = figure {
            return Err((name, "0 is not a valid size".to_owned()));
        }
    }
    Ok(())
}

/// Checks that the figures match the order of warps.
fn check_order(figures: &DeviceFigures) -> Result<(), (&'static str, String)> {
    let oldest_first = figures.warp_order.as_ref().is_some_and(|figure| figure.value == WarpOrder::OldestFirst);
    let wrong = match (oldest_first, &figures.warp_drift, &figures.warp_wait) {
        (true, Some(_), _) => {
            ("warp_drift", "blocks drift in `loose_round_robin` only; remove it or change `warp_order`")
        }
        (false, _, Some(_)) => {
            ("warp_wait", "warps wait in `oldest_first` only; remove it or set `warp_order` to \"oldest_first\"")
        }
        (true, None, None) => (
            "warp_order",
            "`oldest_first` needs `warp_wait`, the steps in which a warp that issued is not ready; add it, as { value = 8, … }",
        ),
        _ => return Ok(()),
    };
    Err((wrong.0, wrong.1.to_owned()))
}

#[cfg(test)]
mod tests {
    use warpline_format::warp_order::Order;

    use crate::models::parse;

    #[test]
    fn impossible_devices_are_reported_with_their_line() {
        let text = include_str!("../../../models/rtx2080ti.toml");
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

    /// Returns the built-in model with the given lines added to its device table.
    fn with(lines: &str) -> Result<crate::models::Model, String> {
        let text = include_str!("../../../models/v100.toml").replacen("[device]\n", &format!("[device]\n{lines}"), 1);
        parse(&text, std::path::Path::new("mine.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn an_order_of_warps_is_read() {
        let order = |lines: &str| with(lines).unwrap().run_device().unwrap().device.order;
        let source = "source = \"cfg-qv100\"";
        assert_eq!(order(""), Order::LooseRoundRobin { drift: 0 });
        assert_eq!(order(&format!("warp_drift = {{ value = 30, {source} }}\n")), Order::LooseRoundRobin { drift: 30 });
        let oldest =
            format!("warp_order = {{ value = \"oldest_first\", {source} }}\nwarp_wait = {{ value = 8, {source} }}\n");
        assert_eq!(order(&oldest), Order::OldestFirst { wait: 8 });
        assert_eq!(crate::models::find("h100").unwrap().device.order(), Order::LooseRoundRobin { drift: 60 });
    }

    #[test]
    fn an_impossible_order_of_warps_is_reported_with_file_key_and_next_step() {
        let line = 1 + include_str!("../../../models/v100.toml").lines().position(|line| line == "[device]").unwrap();
        let source = "source = \"cfg-qv100\"";
        let wrong = |lines: &[&str]| {
            let lines: String = lines.iter().map(|line| format!("{line}, {source} }}\n")).collect();
            with(&lines).unwrap_err()
        };
        let order = "warp_order = { value = \"oldest_first\"";
        for (lines, line, what) in [
            (vec!["warp_drift = { value = 100"], line + 1, "device.warp_drift: 100 is not from 0 to 99"),
            (
                vec!["warp_wait = { value = 8"],
                line + 1,
                "device.warp_wait: warps wait in `oldest_first` only; remove it",
            ),
            (vec![order], line + 1, "device.warp_order: `oldest_first` needs `warp_wait`"),
            (vec![order, "warp_wait = { value = 70000"], line + 2, "device.warp_wait: 70000 is not from 0 to 65536"),
            (
                vec![order, "warp_drift = { value = 9"],
                line + 2,
                "device.warp_drift: blocks drift in `loose_round_robin` only",
            ),
        ] {
            let message = wrong(&lines);
            assert!(message.starts_with(&format!("mine.toml:{line}: {what}")), "{message}");
        }
        let message = wrong(&["warp_order = { value = \"greedy\""]);
        assert!(
            message.contains("mine.toml") && message.contains("warp_order") && message.contains("`oldest_first`"),
            "{message}"
        );
    }
}
