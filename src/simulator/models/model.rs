//! GPU models: `models/*.toml`, each figure with its source. Figures without a source are absent. If a run needs such a
//! figure, this module supplies an assumption, and the profile reports it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use warpline_format::device::Device;
use warpline_format::visible;

use super::curves::Curve;
use super::device::DeviceFigures;
use super::figure::Figure;
use super::hierarchy;
use super::hierarchy::{CoalescingFigures, DramFigures, L1Figures, L2Figures, SharedFigures, StageFigures, TlbFigures};
use super::rates::RateFigures;

/// The model that is used if none is requested.
pub const DEFAULT_MODEL: &str = "rtx2080ti";

/// The models that are included in Warpline, oldest first.
const BUILT_IN: &[(&str, &str)] = &[
    ("gtx480", include_str!("../../../models/gtx480.toml")),
    ("gtx560ti", include_str!("../../../models/gtx560ti.toml")),
    ("k40c", include_str!("../../../models/k40c.toml")),
    ("gtx980", include_str!("../../../models/gtx980.toml")),
    ("p100", include_str!("../../../models/p100.toml")),
    ("v100", include_str!("../../../models/v100.toml")),
    ("t4", include_str!("../../../models/t4.toml")),
    ("rtx2080ti", include_str!("../../../models/rtx2080ti.toml")),
    ("a100", include_str!("../../../models/a100.toml")),
    ("rtx3090", include_str!("../../../models/rtx3090.toml")),
    ("rtx4090", include_str!("../../../models/rtx4090.toml")),
    ("h100", include_str!("../../../models/h100.toml")),
    ("h200", include_str!("../../../models/h200.toml")),
    ("b200", include_str!("../../../models/b200.toml")),
    ("vega10", include_str!("../../../models/vega10.toml")),
    ("vega20", include_str!("../../../models/vega20.toml")),
    ("mi210", include_str!("../../../models/mi210.toml")),
    ("profiner", include_str!("../../../models/profiner.toml")),
];

/// The contents of a model file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Marketing name.
    pub name: String,
    /// Name on the command line.
    pub key: String,
    /// Architecture and chip.
    pub architecture: String,
    /// Lanes per warp (64 on GCN and CDNA).
    pub warp: u32,
    /// See [`DeviceFigures`].
    pub device: DeviceFigures,
    /// Groups of lanes that are coalesced together.
    pub coalescing: Option<CoalescingFigures>,
    /// L1.
    pub l1: Option<L1Figures>,
    /// Stages of L1.
    pub stages: Option<StageFigures>,
    /// L2.
    pub l2: Option<L2Figures>,
    /// Device memory.
    pub dram: Option<DramFigures>,
    /// Banks of shared memory.
    pub shared: Option<SharedFigures>,
    /// TLB.
    pub tlb: Option<TlbFigures>,
    /// Rates.
    pub rates: Option<RateFigures>,
    /// Measured latencies.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Texts of the sources, by key.
    pub sources: BTreeMap<String, String>,
}

/// Reasons why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No model has this name.
    #[error("unknown GPU model `{name}`; known are: {known}; or give a model file (*.toml)")]
    Unknown {
        /// The requested name.
        name: String,
        /// All existing names.
        known: String,
    },
    /// The file cannot be read.
    #[error("{path}: cannot read the model: {error}")]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// The file is not a model.
    #[error("{path}: not a GPU model: {error}")]
    Parse {
        /// File.
        path: PathBuf,
        /// Cause.
        error: Box<toml::de::Error>,
    },
    /// A value of the file is invalid.
    #[error("{path}:{line}: {what}")]
    Wrong {
        /// File.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The figure and the reason.
        what: String,
    },
    /// A figure that a run requires is absent.
    #[error("GPU model {model} has no figure for `{figure}`, so programs cannot be run for it")]
    Missing {
        /// Model.
        model: String,
        /// Figure.
        figure: &'static str,
    },
}

/// Returns the names of the built-in models.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Finds a model by name (case, blanks, dashes and underscores do not matter) or by file.
///
/// # Errors
/// Returns a [`ModelError`] other than `Missing`.
pub fn find(name: &str) -> Result<Model, ModelError> {
    let (text, path) = text(name)?;
    let mut model = parse(&text, &path)?;
    // A modified copy of a built-in model is a different model. Both can be used at the same time.
    if matches!(text, Cow::Owned(_)) && names().any(|built_in| built_in == model.key) {
        let stem = path.file_stem().map_or("file".into(), |stem| stem.to_string_lossy());
        let stem: String = stem.chars().map(|c| if is_of_key(c) { c } else { '_' }).collect();
        model.key = if stem == model.key { format!("{stem}.toml") } else { stem };
    }
    Ok(model)
}

/// Returns whether a character is allowed in a model's key.
pub(super) fn is_of_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.')
}

/// Returns the text of a model file, which is found as in [`find`].
fn text(name: &str) -> Result<(Cow<'static, str>, PathBuf), ModelError> {
    let plain: String = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect();
    if let Some((key, text)) = BUILT_IN.iter().find(|(key, _)| *key == plain) {
        return Ok((Cow::Borrowed(text), PathBuf::from(key)));
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") || path.is_file() {
        let text = std::fs::read_to_string(path).map_err(|error| ModelError::Read { path: path.to_owned(), error })?;
        return Ok((Cow::Owned(text), path.to_owned()));
    }
    Err(ModelError::Unknown { name: name.to_owned(), known: names().collect::<Vec<_>>().join(" ") })
}

/// A table of a model file: its name, and the name, value and source of each figure.
pub type Section = (String, Vec<(String, String, String)>);

/// Returns the figures of the memory hierarchy and the rates as the model file contains them, table by table.
///
/// # Errors
/// As [`find`].
pub fn sections(name: &str) -> Result<Vec<Section>, ModelError> {
    let (text, path) = text(name)?;
    parse(&text, &path)?;
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| ModelError::Parse { path, error: Box::new(error) })?;
    let order = ["coalescing", "l1", "stages", "l2", "dram", "shared", "tlb", "rates"];
    let sections = order.into_iter().filter_map(|section| {
        let figures = table.get(section)?.as_table()?.iter().map(|(figure, entry)| {
            let of = |key: &str| entry.get(key).cloned();
            let value = of("value").map_or_else(String::new, |value| match value {
                toml::Value::String(text) => text,
                other => other.to_string(),
            });
            let source = of("source").and_then(|source| source.as_str().map(str::to_owned)).unwrap_or_default();
            (figure.clone(), value, source)
        });
        Some((section.to_owned(), figures.collect()))
    });
    Ok(sections.collect())
}

/// Reads the text of a model's file; `path` is for messages.
///
/// # Errors
/// Returns a [`ModelError`] with the reason and the line.
pub fn parse(text: &str, path: &Path) -> Result<Model, ModelError> {
    let mut model: Model =
        toml::from_str(text).map_err(|error| ModelError::Parse { path: path.to_owned(), error: Box::new(error) })?;
    // Reports and messages contain these texts.
    [&mut model.name, &mut model.key, &mut model.architecture].into_iter().for_each(visible::make_name);
    hierarchy::check(&model, text).map_err(|(line, what)| ModelError::Wrong { path: path.to_owned(), line, what })?;
    Ok(model)
}

/// Returns the name of the model for a GPU name that the driver reports, such as `NVIDIA H100 80GB HBM3`.
pub fn for_gpu(name: &str) -> Option<&'static str> {
    let words: Vec<String> = name.split([' ', '-']).map(str::to_lowercase).collect();
    // A model's name consists of one or more consecutive words, such as `RTX 2080 Ti`. The longest match is used.
    let runs = (0..words.len()).flat_map(|first| (first..words.len()).map(move |last| (first, last)));
    let mut found: Vec<&'static str> = runs
        .filter_map(|(first, last)| {
            let joined = words[first..=last].concat();
            names().find(|key| *key == joined)
        })
        .collect();
    found.sort_by_key(|key| std::cmp::Reverse(key.len()));
    found.first().copied()
}

/// A device for the runtime, and the names of its assumed figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDevice {
    /// The device that the runtime receives.
    pub device: Device,
    /// Names of assumed figures.
    pub assumed: Vec<&'static str>,
}

impl Model {
    /// Returns the figures that a run needs.
    ///
    /// # Errors
    /// Returns [`ModelError::Missing`] for a figure that cannot be assumed.
    pub fn run_device(&self) -> Result<RunDevice, ModelError> {
        let mut assumed = Vec::new();
        let figures = &self.device;
        let missing = |figure| ModelError::Missing { model: self.key.clone(), figure };
        fn need<T: Copy>(figure: &Option<Figure<T>>) -> Option<T> {
            figure.as_ref().map(|figure| figure.value)
        }
        let threads_per_sm = need(&figures.threads_per_sm).ok_or_else(|| missing("threads_per_sm"))?;
        let shared_per_sm = need(&figures.shared_per_sm).ok_or_else(|| missing("shared_per_sm"))?;
        let shared_per_block = need(&figures.shared_per_block).unwrap_or(shared_per_sm.min(48 << 10));
        let mut or = |figure: &Option<Figure<u32>>, name: &'static str, value: u32| {
            need(figure).unwrap_or_else(|| {
                assumed.push(name);
                value
            })
        };
        // No consulted source contains the allocation units of compute capability 7.x and older; these are commonly
        // stated values. The size of an issue slot is a property of this scheduler, because GPU vendors publish none.
        let register_unit = or(&figures.register_unit, "register_unit", 256);
        let shared_unit = or(&figures.shared_unit, "shared_unit", 256);
        let blocks_per_sm = or(&figures.blocks_per_sm, "blocks_per_sm", threads_per_sm / self.warp.max(1));
        let clock_khz = or(&figures.clock_khz, "clock_khz", 1_000_000);
        let memory_clock_khz = or(&figures.memory_clock_khz, "memory_clock_khz", 1_000_000);
        let memory_bus_bits = or(&figures.memory_bus_bits, "memory_bus_bits", 256);
        let turn = need(&figures.turn).unwrap_or(4);
        let device = Device {
            name: self.name.clone(),
            compute_capability: need(&figures.compute_capability).unwrap_or_else(|| {
                assumed.push("compute_capability");
                (7, 5)
            }),
            sms: need(&figures.sms).ok_or_else(|| missing("sms"))?,
            threads_per_sm,
            blocks_per_sm,
            registers_per_sm: need(&figures.registers_per_sm).ok_or_else(|| missing("registers_per_sm"))?,
            register_unit,
            shared_per_sm,
            shared_per_block,
            shared_per_block_optin: need(&figures.shared_per_block_optin).unwrap_or(shared_per_block),
            shared_reserved_per_block: need(&figures.shared_reserved_per_block).unwrap_or(0),
            shared_unit,
            clock_khz,
            memory_clock_khz,
            memory_bus_bits,
            memory_bytes: need(&figures.memory_bytes).unwrap_or_else(|| {
                assumed.push("memory_bytes");
                16 << 30
            }),
            l2_bytes: need(&figures.l2_bytes).unwrap_or_else(|| {
                assumed.push("l2_bytes");
                4 << 20
            }),
            turn,
            order: figures.order(),
        };
        Ok(RunDevice { device, assumed })
    }
}

#[cfg(test)]
mod tests {
    use warpline_format::device::model_for;

    use super::*;

    #[test]
    fn every_built_in_model_is_found_and_cites_its_sources() {
        for name in names() {
            let model = find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(model.key, name);
            if model.warp == 32 {
                model.run_device().unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
        assert_eq!(find("RTX 2080-Ti").unwrap().key, "rtx2080ti");
        let mut unknown = find("gtx560ti").unwrap();
        unknown.device.sms = None;
        assert!(unknown.run_device().unwrap_err().to_string().contains("sms"));
        assert!(find("nonesuch").unwrap_err().to_string().contains("a100"));
    }

    #[test]
    fn a_changed_copy_is_another_model() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my gpu.toml");
        let text = include_str!("../../../models/rtx2080ti.toml");
        std::fs::write(&file, text).unwrap();
        assert_eq!(find(file.to_str().unwrap()).unwrap().key, "my_gpu");
        std::fs::write(&file, text.replacen("key = \"rtx2080ti\"", "key = \"mine\"", 1)).unwrap();
        assert_eq!(find(file.to_str().unwrap()).unwrap().key, "mine");
        std::fs::write(&file, text.replacen("key = \"rtx2080ti\"", "key = \"a\\u001b[1m\"", 1)).unwrap();
        assert!(find(file.to_str().unwrap()).unwrap_err().to_string().contains("key: it takes"));
    }

    #[test]
    fn gpus_are_known_by_their_drivers_names() {
        for (name, key) in [
            ("NVIDIA H200", Some("h200")),
            ("NVIDIA A100-SXM4-80GB", Some("a100")),
            ("NVIDIA H100 80GB HBM3", Some("h100")),
            ("Tesla V100-SXM2-16GB", Some("v100")),
            ("Tesla T4", Some("t4")),
            ("NVIDIA T400 4GB", None),
            ("NVIDIA GeForce RTX 2080 Ti", Some("rtx2080ti")),
            ("NVIDIA GeForce RTX 2080", None),
            ("Tesla K40c", Some("k40c")),
        ] {
            assert_eq!(for_gpu(name), key, "{name}");
        }
        // Models are also found by their own names.
        for key in ["a100", "h200", "p100", "rtx2080ti", "b200", "v100"] {
            assert_eq!(for_gpu(&find(key).unwrap().name), Some(key));
        }
    }

    /// Returns the text of `format/src/devices.rs` that follows from the models. The runtime thereby has their figures
    /// without reading model files.
    fn devices() -> String {
        let mut models: Vec<&str> = (0..=100).map(model_for).collect();
        models.sort_unstable_by_key(|name| names().position(|known| known == *name));
        models.dedup();
        let (mut arms, mut default) = (String::new(), String::new());
        for name in models {
            let Device {
                name: marketing_name,
                compute_capability,
                sms,
                threads_per_sm,
                blocks_per_sm,
                registers_per_sm,
                register_unit,
                shared_per_sm,
                shared_per_block,
                shared_per_block_optin,
                shared_reserved_per_block,
                shared_unit,
                clock_khz,
                memory_clock_khz,
                memory_bus_bits,
                memory_bytes,
                l2_bytes,
                turn,
                order,
            } = find(name).unwrap().run_device().unwrap().device;
            let pattern = if name == DEFAULT_MODEL { "_".to_owned() } else { format!("{name:?}") };
            let arm = format!(
                "        {pattern} => Device {{
            name: {marketing_name:?}.into(),
            compute_capability: {compute_capability:?},
            sms: {sms},
            threads_per_sm: {threads_per_sm},
            blocks_per_sm: {blocks_per_sm},
            registers_per_sm: {registers_per_sm},
            register_unit: {register_unit},
            shared_per_sm: {shared_per_sm},
            shared_per_block: {shared_per_block},
            shared_per_block_optin: {shared_per_block_optin},
            shared_reserved_per_block: {shared_reserved_per_block},
            shared_unit: {shared_unit},
            clock_khz: {clock_khz},
            memory_clock_khz: {memory_clock_khz},
            memory_bus_bits: {memory_bus_bits},
            memory_bytes: {memory_bytes},
            l2_bytes: {l2_bytes},
            turn: {turn},
            order: Order::{order:?},
        }},
"
            );
            *(if name == DEFAULT_MODEL { &mut default } else { &mut arms }) += &arm;
        }
        format!(
            "//! The GPUs of programs for which no model was requested. `make docs` generates this file from `models/*.toml`, which
//! contain the sources; a test compares the two.

use crate::device::{{Device, model_for}};
use crate::warp_order::Order;

impl Device {{
    /// RTX 2080 Ti, the default.
    pub fn rtx_2080_ti() -> Device {{
        of_model(model_for(0))
    }}

    /// Returns the device for a program with code of this architecture (80 for `sm_80`) if no model was requested: the
    /// GPU that [`model_for`] returns.
    pub fn for_architecture(architecture: u32) -> Device {{
        of_model(model_for(architecture))
    }}
}}

fn of_model(name: &str) -> Device {{
    match name {{
{arms}{default}    }}
}}
"
        )
    }

    #[test]
    fn the_runtime_s_devices_are_those_of_the_models() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../format/src/devices.rs");
        let made = devices();
        if std::env::var_os("WARPLINE_WRITE_DOCS").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        assert!(
            std::fs::read_to_string(path).unwrap() == made,
            "{path} differs from the models: `make docs` writes it"
        );
        assert_eq!(model_for(0), DEFAULT_MODEL);
        assert_eq!(find(DEFAULT_MODEL).unwrap().run_device().unwrap().device, Device::rtx_2080_ti());
    }
}
