//! Rates in a model file: the maximum throughput of a GPU per cycle and per second.

use serde::Deserialize;

use super::figure::Figure;
use super::model::Model;
use crate::geometry::{Banks, SECTOR_BYTES};
use warpline_format::matrix::Product;

/// `[rates]`, for the bottleneck estimate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateFigures {
    /// Warp instructions that an SM issues per cycle.
    pub issue: Option<Figure<u32>>,
    /// Single-precision results per cycle and SM.
    pub fp32: Option<Figure<u32>>,
    /// Double-precision results per cycle and SM.
    pub fp64: Option<Figure<u32>>,
    /// Results of the special function units per cycle and SM.
    pub special: Option<Figure<u32>>,
    /// Dense multiply-adds of tensor cores per cycle and SM, for `f16` and `bf16` with single-precision accumulation.
    pub tensor_fp16: Option<Figure<u32>>,
    /// The same for `f16` with half-precision accumulation.
    pub tensor_fp16_sums: Option<Figure<u32>>,
    /// The same for `tf32`.
    pub tensor_tf32: Option<Figure<u32>>,
    /// The same for 8-bit floating-point numbers.
    pub tensor_fp8: Option<Figure<u32>>,
    /// The same for 8-bit integers.
    pub tensor_int8: Option<Figure<u32>>,
    /// The same for doubles.
    pub tensor_fp64: Option<Figure<u32>>,
    /// 10⁹ bytes per second from L2 to all SMs, measured.
    pub l2_gbs: Option<Figure<f64>>,
    /// 10⁹ bytes per second from device memory, measured if a measurement is known.
    pub dram_gbs: Option<Figure<f64>>,
}

/// Rates of a model; unknown rates are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Clock rate of an SM in cycles per second.
    pub clock_hz: Option<f64>,
    /// Warp instructions per cycle and SM.
    pub issue: Option<f64>,
    /// Single-precision results per cycle and SM.
    pub fp32: Option<f64>,
    /// Double-precision results per cycle and SM.
    pub fp64: Option<f64>,
    /// Results of the special function units per cycle and SM.
    pub special: Option<f64>,
    /// Multiply-adds of tensor cores per cycle and SM, by [`Product`].
    pub products: [Option<f64>; Product::ALL.len()],
    /// Passes through the data and the tag stage per cycle and SM; 1 if the model has these stages.
    pub stage_passes: Option<f64>,
    /// 4-byte words per cycle and SM that the load/store units move.
    pub lane_words: Option<f64>,
    /// Passes through the banks of shared memory per cycle and SM.
    pub shared_passes: Option<f64>,
    /// The banks of shared memory.
    pub shared_banks: Option<Banks>,
    /// Bytes of a lookup of L1 and of L2.
    pub lookup_bytes: (u64, u64),
    /// Bytes of an SM's L1 without shared memory, and bytes of L2; 0 if unknown.
    pub cache_bytes: (u64, u64),
    /// Shared memory and L1 share one array, so both use the data stage.
    pub unified: bool,
    /// Bytes per second from L2.
    pub l2: Option<f64>,
    /// Bytes per second from device memory.
    pub dram: Option<f64>,
}

/// Returns the accessor of the rate of a kind of products.
fn pick(kind: Product) -> fn(&RateFigures) -> &Option<Figure<u32>> {
    match kind {
        Product::Half => |rates| &rates.tensor_fp16,
        Product::HalfSums => |rates| &rates.tensor_fp16_sums,
        Product::Tensor32 => |rates| &rates.tensor_tf32,
        Product::Eighth => |rates| &rates.tensor_fp8,
        Product::Integer => |rates| &rates.tensor_int8,
        Product::Double => |rates| &rates.tensor_fp64,
    }
}

impl Model {
    /// Returns the rates that the bottleneck estimate divides by.
    pub fn rates(&self) -> Rates {
        let rates = self.rates.as_ref();
        let count = |pick: fn(&RateFigures) -> &Option<Figure<u32>>| {
            rates.and_then(|rates| pick(rates).as_ref()).map(|figure| f64::from(figure.value))
        };
        let bytes = |pick: fn(&RateFigures) -> &Option<Figure<f64>>| {
            rates.and_then(|rates| pick(rates).as_ref()).map(|figure| figure.value * 1e9)
        };
        let options = self.l1.as_ref().and_then(|l1| l1.shared_options.as_ref());
        Rates {
            sms: self.device.sms.as_ref().map_or(0, |sms| sms.value),
            clock_hz: self.device.clock_khz.as_ref().map(|clock| f64::from(clock.value) * 1e3),
            issue: count(|rates| &rates.issue),
            fp32: count(|rates| &rates.fp32),
            fp64: count(|rates| &rates.fp64),
            special: count(|rates| &rates.special),
            products: Product::ALL.map(|kind| count(pick(kind))),
            stage_passes: self.stages.as_ref().map(|_| 1.0),
            lane_words: self.stages.as_ref().map(|stages| f64::from(stages.lanes.value)),
            // One row of every bank is read per cycle; on Fermi, it takes two cycles (programming guide 4.2, F.4.3).
            shared_passes: self.shared.as_ref().map(|_| if self.before_kepler() { 0.5 } else { 1.0 }),
            shared_banks: self.hierarchy().ok().and_then(|hierarchy| hierarchy.shared),
            lookup_bytes: (
                self.l1.as_ref().map_or(SECTOR_BYTES, |l1| l1.sector_bytes.value.into()),
                self.l2.as_ref().map_or(SECTOR_BYTES, |l2| l2.sector_bytes.value.into()),
            ),
            cache_bytes: self
                .hierarchy()
                .map_or((0, 0), |hierarchy| (hierarchy.l1.bytes_by_default(), hierarchy.l2.bytes())),
            unified: options.is_some_and(|options| options.value.len() > 1) && self.stages.is_some(),
            l2: bytes(|rates| &rates.l2_gbs),
            dram: bytes(|rates| &rates.dram_gbs),
        }
    }

    fn before_kepler(&self) -> bool {
        self.device.compute_capability.as_ref().is_some_and(|figure| figure.value.0 < 3)
    }

    /// Checks for impossible rates. Returns the figure and the reason.
    pub(super) fn check_rates(&self) -> Result<(), (&'static str, String)> {
        let Some(rates) = &self.rates else { return Ok(()) };
        let counts =
            [("issue", &rates.issue), ("fp32", &rates.fp32), ("fp64", &rates.fp64), ("special", &rates.special)];
        let products = Product::ALL.map(|kind| (kind.name(), pick(kind)(rates)));
        for (name, figure) in counts.into_iter().chain(products) {
            if figure.as_ref().is_some_and(|figure| figure.value == 0 || figure.value > 1 << 16) {
                return Err((name, "is not from 1 to 65536".to_owned()));
            }
        }
        for (name, figure) in [("l2_gbs", &rates.l2_gbs), ("dram_gbs", &rates.dram_gbs)] {
            if figure.as_ref().is_some_and(|figure| !(figure.value > 0.0 && figure.value < 1e9)) {
                return Err((name, "is not above 0 and below 10^9".to_owned()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::models::{find, parse};
    use warpline_format::matrix::Product;

    #[test]
    fn rates_are_per_second_and_absent_where_unknown() {
        let turing = find("rtx2080ti").unwrap().rates();
        assert_eq!((turing.sms, turing.clock_hz), (68, Some(1.545e9)));
        let ampere = find("a100").unwrap().rates();
        // The peak is 312 TFLOPS of half precision.
        let peak = 2.0 * ampere.products[Product::Half as usize].unwrap() * 108.0 * ampere.clock_hz.unwrap();
        assert_eq!((peak / 1e12).round(), 312.0);
        assert_eq!((turing.issue, turing.fp64, turing.l2), (Some(4.0), Some(2.0), Some(1344e9)));
        assert!(turing.unified);
        let fermi = find("gtx480").unwrap().rates();
        assert_eq!((fermi.issue, fermi.stage_passes, fermi.l2), (None, None, None));
        assert_eq!(fermi.shared_passes, Some(0.5));
        assert!(!find("p100").unwrap().rates().unified);
        assert_eq!(find("b200").unwrap().rates().clock_hz, None);
    }

    #[test]
    fn an_impossible_rate_is_reported_with_its_line() {
        let text = include_str!("../../../models/v100.toml");
        let line = text.lines().position(|line| line.starts_with("dram_gbs")).unwrap() + 1;
        let wrong = text.replace("dram_gbs = { value = 866.0", "dram_gbs = { value = -1.0");
        let message = parse(&wrong, std::path::Path::new("mine.toml")).unwrap_err().to_string();
        assert!(message.contains(&format!("mine.toml:{line}:")) && message.contains("rates.dram_gbs"), "{message}");
    }
}
