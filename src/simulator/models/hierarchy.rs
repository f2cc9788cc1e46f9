//! The memory hierarchy in a model file.

use serde::Deserialize;

use super::figure::Figure;
use super::model::{Model, ModelError};
use crate::geometry::Banks;
use crate::hierarchy::{
    Atomics, Copies, DramConfig, Groups, HierarchyConfig, Index, L1Config, L1Stages, L2Config, L2Misses, Replacement,
    StoreFill, StorePolicy, TlbConfig,
};

/// `[coalescing]`: see [`Groups`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `Groups`")]
pub struct CoalescingFigures {
    pub bytes_4: Figure<u32>,
    pub bytes_8: Figure<u32>,
    pub bytes_16: Figure<u32>,
    pub whole_stores: Option<Figure<bool>>,
}

/// `[l1]`: see [`L1Config`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `L1Config`")]
pub struct L1Figures {
    pub bytes: Figure<u64>,
    pub reserved_bytes: Option<Figure<u64>>,
    pub shared_options: Option<Figure<Vec<u64>>>,
    pub default_shared: Option<Figure<u64>>,
    pub line_bytes: Figure<u32>,
    pub sector_bytes: Figure<u32>,
    pub sets: Figure<u32>,
    pub index: Figure<Index>,
    pub replacement: Figure<Replacement>,
    pub tags_per_line: Option<Figure<u32>>,
    pub store: Figure<StorePolicy>,
    pub caches_global_loads: Figure<bool>,
    pub opt_in_global_loads: Option<Figure<bool>>,
    pub caches_read_only_loads: Figure<bool>,
    pub read_only_bytes: Option<Figure<u64>>,
    pub atomics: Option<Figure<Atomics>>,
}

/// `[l2]`: see [`L2Config`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `L2Config`")]
pub struct L2Figures {
    pub line_bytes: Figure<u32>,
    pub sector_bytes: Figure<u32>,
    pub fill_bytes: Figure<u32>,
    pub misses: Option<Figure<L2Misses>>,
    pub slices: Figure<u32>,
    pub sets: Figure<u32>,
    pub ways: Figure<u32>,
    pub index: Figure<Index>,
    pub replacement: Figure<Replacement>,
    pub partitions: Option<Figure<u32>>,
    pub store_fill: Option<Figure<StoreFill>>,
    pub copies: Option<Figure<Copies>>,
}

/// `[dram]`: see [`DramConfig`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `DramConfig`")]
pub struct DramFigures {
    pub read_bytes: Figure<u32>,
    pub write_bytes: Figure<u32>,
}

/// `[shared]`: see [`Banks`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `Banks`")]
pub struct SharedFigures {
    pub banks: Figure<u32>,
    pub bank_bytes: Figure<u32>,
    pub word_bytes: Option<Figure<u32>>,
    pub merges_pairs: Option<Figure<bool>>,
}

/// `[stages]`: see [`L1Stages`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `L1Stages`")]
pub struct StageFigures {
    pub data_banks: Figure<u32>,
    pub data_bank_bytes: Figure<u32>,
    pub tag_banks: Figure<u32>,
    pub lanes: Figure<u32>,
}

/// `[tlb]`: see [`TlbConfig`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `TlbConfig`")]
pub struct TlbFigures {
    pub page_bytes: Figure<u64>,
    pub reach_bytes: Figure<u64>,
}

impl Model {
    /// Returns the memory hierarchy that is simulated for this model.
    ///
    /// # Errors
    /// [`ModelError::Missing`] where a table is absent.
    pub fn hierarchy(&self) -> Result<HierarchyConfig, ModelError> {
        let missing = |figure| ModelError::Missing { model: self.key.clone(), figure };
        let coalescing = self.coalescing.as_ref().ok_or_else(|| missing("[coalescing]"))?;
        let l1 = self.l1.as_ref().ok_or_else(|| missing("[l1]"))?;
        let l2 = self.l2.as_ref().ok_or_else(|| missing("[l2]"))?;
        let dram = self.dram.as_ref().ok_or_else(|| missing("[dram]"))?;
        Ok(HierarchyConfig {
            coalescing: Groups {
                bytes_4: coalescing.bytes_4.value,
                bytes_8: coalescing.bytes_8.value,
                bytes_16: coalescing.bytes_16.value,
            },
            whole_stores: coalescing.whole_stores.as_ref().is_some_and(|figure| figure.value),
            wave_lanes: self.warp,
            l1: L1Config {
                bytes: l1.bytes.value,
                reserved_bytes: l1.reserved_bytes.as_ref().map_or(0, |figure| figure.value),
                shared_options: l1.shared_options.as_ref().map_or_else(Vec::new, |figure| figure.value.clone()),
                default_shared: l1.default_shared.as_ref().map(|figure| figure.value),
                line_bytes: l1.line_bytes.value,
                sector_bytes: l1.sector_bytes.value,
                sets: l1.sets.value,
                index: l1.index.value,
                replacement: l1.replacement.value.clone(),
                tags_per_line: l1.tags_per_line.as_ref().map(|figure| figure.value),
                store: l1.store.value,
                caches_global_loads: l1.caches_global_loads.value,
                opt_in_global_loads: l1.opt_in_global_loads.as_ref().is_some_and(|figure| figure.value),
                caches_read_only_loads: l1.caches_read_only_loads.value,
                read_only_bytes: l1.read_only_bytes.as_ref().map(|figure| figure.value),
                atomics: l1.atomics.as_ref().map_or_else(Atomics::default, |figure| figure.value),
            },
            l2: L2Config {
                line_bytes: l2.line_bytes.value,
                sector_bytes: l2.sector_bytes.value,
                fill_bytes: l2.fill_bytes.value,
                misses: l2.misses.as_ref().map_or_else(L2Misses::default, |figure| figure.value),
                slices: l2.slices.value,
                sets: l2.sets.value,
                ways: l2.ways.value,
                index: l2.index.value,
                replacement: l2.replacement.value.clone(),
                partitions: l2.partitions.as_ref().map_or(1, |figure| figure.value),
                store_fill: l2.store_fill.as_ref().map_or_else(StoreFill::default, |figure| figure.value),
                copies: l2.copies.as_ref().map_or_else(Copies::default, |figure| figure.value),
            },
            dram: DramConfig { read_bytes: dram.read_bytes.value, write_bytes: dram.write_bytes.value },
            stages: self.stages.as_ref().map(|stages| L1Stages {
                data: Banks {
                    banks: stages.data_banks.value,
                    bank_bytes: stages.data_bank_bytes.value,
                    word_bytes: stages.data_bank_bytes.value,
                    merges_pairs: false,
                },
                tag_banks: stages.tag_banks.value,
                lanes: stages.lanes.value,
            }),
            shared: self.shared.as_ref().map(|shared| Banks {
                banks: shared.banks.value,
                bank_bytes: shared.bank_bytes.value,
                word_bytes: shared.word_bytes.as_ref().unwrap_or(&shared.bank_bytes).value,
                merges_pairs: shared.merges_pairs.as_ref().is_some_and(|figure| figure.value),
            }),
            tlb: self
                .tlb
                .as_ref()
                .map(|tlb| TlbConfig { page_bytes: tlb.page_bytes.value, reach_bytes: tlb.reach_bytes.value }),
        })
    }
}

/// Checks for figures without a known source and for hierarchies that cannot be simulated. Returns the line
/// and the reason.
pub(super) fn check(model: &Model, text: &str) -> Result<(), (usize, String)> {
    if let Ok(table) = toml::from_str::<toml::Table>(text) {
        for (section, entries) in &table {
            let Some(entries) = entries.as_table().filter(|_| section != "sources") else { continue };
            for (figure, entry) in entries {
                let source = entry.get("source").and_then(toml::Value::as_str).unwrap_or_default();
                if !model.sources.contains_key(source) {
                    let what = format!("[{section}] {figure}: the source `{source}` is not in [sources]");
                    return Err((line_of(text, section, figure), what));
                }
            }
        }
    }
    for (number, curve) in (1..).zip(&model.curves) {
        let wrong = if model.sources.contains_key(&curve.source) {
            curve.check().err().map(|error| error.to_string())
        } else {
            Some(format!("the source `{}` is not in [sources]", curve.source))
        };
        if let Some(wrong) = wrong {
            return Err((line_of(text, "[curves", "path"), format!("curve {number}: {wrong}")));
        }
    }
    model
        .check_rates()
        .map_err(|(figure, reason)| (line_of(text, "rates", figure), format!("rates.{figure} {reason}")))?;
    super::device::check(&model.device)
        .map_err(|(figure, reason)| (line_of(text, "device", figure), format!("device.{figure}: {reason}")))?;
    if model.key.is_empty() || !model.key.chars().all(super::model::is_of_key) {
        let what = "key: it takes letters, digits, `_`, `-` and `.`".to_owned();
        return Err((line_of(text, "", "key"), what));
    }
    if !matches!(model.warp, 32 | 64) {
        return Err((line_of(text, "", "warp"), format!("warp: {} is neither 32 nor 64", model.warp)));
    }
    if model.l1.is_none() && model.l2.is_none() && model.coalescing.is_none() && model.dram.is_none() {
        return Ok(());
    }
    let config = model.hierarchy().map_err(|error| (1, error.to_string()))?;
    config.check().map_err(|(figure, reason)| {
        let (section, key) = figure.split_once('.').unwrap_or((figure, ""));
        let key = key.split(' ').next().unwrap_or_default();
        (line_of(text, section, key), format!("{figure}: {reason}"))
    })
}

/// Returns the line of a figure, counted from 1, or the line of its section if the figure is absent.
fn line_of(text: &str, section: &str, key: &str) -> usize {
    let mut here = "";
    let mut section_line = 1;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            here = name;
            if here == section {
                section_line = index + 1;
            }
        } else if (here == section || here.is_empty()) && line.split('=').next().is_some_and(|name| name.trim() == key)
        {
            return index + 1;
        }
    }
    section_line
}

#[cfg(test)]
mod tests {
    use crate::models::{find, names};

    #[test]
    fn every_built_in_model_has_a_hierarchy_of_its_size() {
        for name in names() {
            let model = find(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            let config = model.hierarchy().unwrap_or_else(|error| panic!("{name}: {error}"));
            config.check().unwrap_or_else(|error| panic!("{name}: {error:?}"));
            if let Some(bytes) = &model.device.l2_bytes {
                assert_eq!(config.l2.bytes(), bytes.value, "{name}");
            }
        }
    }

    #[test]
    fn the_profiner_preset_is_the_paper_s() {
        let config = find("profiner").unwrap().hierarchy().unwrap();
        assert_eq!((config.l1.lines(0), config.l1.sets, config.l1.sector_bytes), (456, 1, 32));
        assert_eq!((config.l2.sets, config.l2.ways, config.l2.line_bytes), (5632, 16, 64));
        assert_eq!(find("rtx2080ti").unwrap().hierarchy().unwrap().l1.lines(0), 456);
    }

    #[test]
    fn the_carve_out_follows_the_shared_memory() {
        let a100 = find("a100").unwrap().hierarchy().unwrap();
        // The driver reserves at least 32 KiB.
        assert_eq!(a100.l1.lines(0), (188 - 32) * 1024 / 128);
        assert_eq!(a100.l1.lines(40_000), (188 - 64) * 1024 / 128);
        assert_eq!(a100.l1.lines(167_936), (188 - 164) * 1024 / 128);
    }

    fn wrong(from: &str, to: &str) -> String {
        let text = include_str!("../../../models/v100.toml").replace(from, to);
        crate::models::parse(&text, std::path::Path::new("mine.toml")).unwrap_err().to_string()
    }

    #[test]
    fn a_wrong_file_is_reported_with_line_and_reason() {
        let line =
            include_str!("../../../models/v100.toml").lines().position(|line| line.starts_with("ways")).unwrap() + 1;
        let message = wrong("ways = { value = 24,", "ways = { value = 0,");
        assert!(
            message.contains(&format!("mine.toml:{line}:")) && message.contains("l2.ways: 0 is not from"),
            "{message}"
        );
        let message = wrong("ways = { value = 24, source = \"cfg-qv100\"", "ways = { value = 24, source = \"rumour\"");
        assert!(message.contains("`rumour` is not in [sources]"), "{message}");
        let message = wrong("\"tree_plru\"", "\"clock\"");
        assert!(message.contains("clock") && message.contains("line"), "{message}");
        let message = wrong("[l2]", "[level2]");
        assert!(message.contains("level2"), "{message}");
    }
}
