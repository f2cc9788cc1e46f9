//! The JSON document of `predict --format json`, version 1; `docs/prediction-v1.schema.json` is its schema. Fields are only
//! ever added.

use serde::{Deserialize, Serialize};

use super::outcome::Prediction;
use super::worth_measuring::WorthMeasuring;
use warpline_profile::nine_digits;

/// Value of [`Document::schema`].
pub const SCHEMA: &str = "warpline.prediction";
/// Value of [`Document::version`].
pub const VERSION: u32 = 1;

/// Predictions for a kernel on a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// Demangled name.
    pub kernel: String,
    /// GPU model.
    pub model: String,
    /// Assumptions behind the figures.
    pub assumptions: Vec<String>,
    /// Changes of the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// Configurations, the best one first.
    pub configurations: Vec<Configuration>,
    /// Configurations that are worth a measurement, if a number of measurements was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth_measuring: Option<WorthMeasuring>,
    /// The best shape for each of several values of a parameter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Sizes>,
    /// Sites whose figures are taken from the recorded run.
    pub recorded: Vec<RecordedSite>,
    /// Configurations that are impossible, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// The launch that `other_work` of the configurations refers to, if it is not the recorded launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<Compared>,
    /// The documents of further models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_models: Vec<Document>,
}

/// A launch whose work the other launches should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub grid: [u32; 3],
}

/// A configuration. Bytes and wavefronts are sums over the whole launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Number of resident blocks per SM.
    pub blocks_per_sm: u32,
    /// Requests to global memory.
    pub requests: u64,
    /// Passes of global requests through the data stage of L1; `None` if the model has no rules for them.
    pub l1_wavefronts: Option<u64>,
    /// Passes of global requests through the tag stage of L1; `None` if the model has no rules for them.
    pub l1_tag_wavefronts: Option<u64>,
    /// Passes through the banks of shared memory.
    pub shared_wavefronts: u64,
    /// Distinct 32-byte sectors per global request, summed over all requests.
    pub request_sectors: u64,
    /// Mean of the distinct 32-byte sectors that a block loads.
    pub block_load_sectors: f64,
    /// Bytes loaded from L2.
    pub l2_load_bytes: u64,
    /// Bytes stored to L2.
    pub l2_store_bytes: u64,
    /// Bytes read from DRAM.
    pub dram_load_bytes: u64,
    /// Bytes written to DRAM.
    pub dram_store_bytes: u64,
    /// Relative uncertainty of `l2_load_bytes`, one standard error.
    #[serde(default)]
    pub l2_load_uncertainty: f64,
    /// Relative uncertainty of `dram_load_bytes`, one standard error.
    #[serde(default)]
    pub dram_load_uncertainty: f64,
    /// Relative uncertainty of `dram_store_bytes`, one standard error.
    #[serde(default)]
    pub dram_store_uncertainty: f64,
    /// Pages of 2 MiB that a wave of blocks touches.
    pub wave_pages: f64,
    /// Distinct 32-byte sectors that a wave of blocks touches. This field and the next three include only addresses
    /// that are affine or have affine cases.
    #[serde(default)]
    pub wave_sectors: u64,
    /// Distinct 128-byte lines that a wave of blocks touches.
    #[serde(default)]
    pub wave_lines: u64,
    /// Distinct 32-byte sectors that the launch touches.
    #[serde(default)]
    pub launch_sectors: u64,
    /// Distinct 128-byte lines that the launch touches.
    #[serde(default)]
    pub launch_lines: u64,
    /// Sectors that requests load again within their block, summed over all blocks. They come from L2 to the extent
    /// that L1 is oversubscribed.
    pub repeated_load_sectors: u64,
    /// Lines that the blocks of an SM load, divided by the capacity of L1.
    pub l1_oversubscription: f64,
    /// Lines that a wave of blocks touches, divided by the capacity of L2.
    pub l2_oversubscription: f64,
    /// Number of lines touched between two uses of data that earlier waves of blocks touched, divided by the capacity
    /// of L2, averaged over all reuses. A layer condition is satisfied if the value is below 1. The value is 0 if
    /// nothing is reused.
    #[serde(default)]
    pub l2_reuse_oversubscription: f64,
    /// Name of the slowest part, as in the profile's estimates; `None` if no rate is known.
    pub limiter: Option<String>,
    /// Lower bound of the time; `None` if no rate is known.
    pub seconds: Option<f64>,
    /// Lower end of the 95 % interval of `seconds`, from the uncertainties of the traffic.
    #[serde(default)]
    pub seconds_low: Option<f64>,
    /// Upper end of the 95 % interval of `seconds`.
    #[serde(default)]
    pub seconds_high: Option<f64>,
    /// The interval overlaps the interval of the first configuration, so the order of the two is uncertain without a
    /// measurement.
    #[serde(default)]
    pub undecided: bool,
    /// Share of the requested sectors whose addresses are affine.
    pub affine_share: f64,
    /// Share of the requested sectors that were counted thread by thread.
    pub computed_share: f64,
    /// The configuration has the shape of the recorded launch.
    pub recorded: bool,
    /// Lanes of all requests, relative to the launch whose work all configurations should do (the recorded launch or
    /// `compared_with`); present if the amount of work differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_work: Option<f64>,
}

/// A shape with its figures over several values of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// Name of the parameter.
    pub parameter: String,
    /// Threads per block.
    pub block: [u32; 3],
    /// Figures, sorted by the parameter's value.
    pub points: Vec<Size>,
}

/// Figures for one value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Value of the parameter.
    pub value: i64,
    /// Bytes read from and written to DRAM, divided by the number of threads that make requests.
    pub dram_bytes_per_thread: f64,
    /// The field of the same name in [`Configuration`].
    pub l2_reuse_oversubscription: f64,
    /// Share of data reused from earlier blocks that has to be read from DRAM again.
    #[serde(default)]
    pub l2_reuse_lost: f64,
    /// The field of the same name in [`Configuration`].
    pub seconds: Option<f64>,
}

/// Minimum rise of the share of reused data that comes from DRAM for which a layer condition is reported as broken.
const BREAKS: f64 = 0.1;

impl Sizes {
    /// Returns adjacent sizes between which a layer condition breaks: the share of reused data that comes from DRAM
    /// rises by at least `BREAKS`.
    pub fn broken_between(&self) -> impl Iterator<Item = (&Size, &Size)> {
        let pairs = self.points.windows(2).map(|pair| (&pair[0], &pair[1]));
        pairs.filter(|(small, large)| large.l2_reuse_lost - small.l2_reuse_lost >= BREAKS)
    }
}

/// A site whose address cannot be computed from the launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordedSite {
    /// Source file.
    pub file: String,
    /// Source line.
    pub line: u32,
    /// Reason why the address is unknown.
    pub reason: String,
}

/// A configuration that is impossible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// Threads per block.
    pub block: [u32; 3],
    /// The reason.
    pub reason: String,
}

impl Configuration {
    /// Creates the configuration of a prediction.
    pub fn new(found: &Prediction, recorded: bool) -> Configuration {
        let whole = |value: f64| value.round().max(0.0) as u64;
        Configuration {
            block: found.block,
            grid: found.grid,
            blocks_per_sm: found.blocks_per_sm,
            requests: whole(found.global.requests),
            l1_wavefronts: found.has_wavefronts.then(|| whole(found.global.wavefronts)),
            l1_tag_wavefronts: found.has_wavefronts.then(|| whole(found.global.tags)),
            shared_wavefronts: whole(found.shared.wavefronts),
            request_sectors: whole(found.global.sectors),
            block_load_sectors: nine_digits(found.block_load_sectors),
            l2_load_bytes: whole(found.l2_loads),
            l2_store_bytes: whole(found.l2_stores),
            dram_load_bytes: whole(found.dram_loads),
            dram_store_bytes: whole(found.dram_stores),
            l2_load_uncertainty: nine_digits(found.l2_load_uncertainty()),
            dram_load_uncertainty: nine_digits(found.dram_load_uncertainty()),
            dram_store_uncertainty: nine_digits(found.dram_store_uncertainty()),
            wave_pages: nine_digits(found.wave_pages),
            wave_sectors: whole(found.distinct.wave_sectors),
            wave_lines: whole(found.distinct.wave_lines),
            launch_sectors: whole(found.distinct.launch_sectors),
            launch_lines: whole(found.distinct.launch_lines),
            repeated_load_sectors: whole(found.repeated_sectors),
            l1_oversubscription: nine_digits(found.l1_oversubscription),
            l2_oversubscription: nine_digits(found.l2_oversubscription),
            l2_reuse_oversubscription: nine_digits(found.l2_reuse_oversubscription),
            limiter: Some(found.limiter.clone()).filter(|name| !name.is_empty()),
            seconds: found.seconds,
            seconds_low: found.seconds_interval.map(|[low, _]| low),
            seconds_high: found.seconds_interval.map(|[_, high]| high),
            undecided: false,
            affine_share: nine_digits(found.affine_share),
            computed_share: nine_digits(found.computed_share),
            recorded,
            other_work: None,
        }
    }

    /// Returns the seconds rounded to three digits. Smaller differences between times are not significant.
    pub fn rounded_seconds(&self) -> Option<f64> {
        let seconds = self.seconds?;
        Some(format!("{seconds:.2e}").parse().unwrap_or(seconds))
    }

    /// Compares configurations, the best one first: by time to three digits, then by bytes of DRAM and L2, then by
    /// shape. Configurations that do a different amount of work come last.
    pub fn rank(&self, other: &Configuration) -> std::cmp::Ordering {
        let time = |one: &Configuration| one.rounded_seconds().unwrap_or(f64::INFINITY);
        let dram = |one: &Configuration| one.dram_load_bytes.saturating_add(one.dram_store_bytes);
        let l2 = |one: &Configuration| one.l2_load_bytes.saturating_add(one.l2_store_bytes);
        self.other_work
            .is_some()
            .cmp(&other.other_work.is_some())
            .then(time(self).total_cmp(&time(other)))
            .then(dram(self).cmp(&dram(other)))
            .then(l2(self).cmp(&l2(other)))
            .then(self.block.cmp(&other.block))
    }
}
