//! Compares several models: the predicted figures of the program on each.

use std::fmt::Write as _;

use super::kernels::more;
use super::{caches, estimate};
use crate::words::figures::{memory, model_caches, seconds};
use crate::words::names;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::{CacheMetrics, Kernel};

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let models = &profile.run.models;
    if models.len() < 2 {
        return;
    }
    let mut rows: Vec<(&Kernel, Vec<(&str, CacheMetrics)>)> = profile
        .kernels
        .iter()
        .map(|kernel| {
            (
                kernel,
                models.iter().filter_map(|model| Some((&**model, cache_metrics(kernel, model, models)?))).collect(),
            )
        })
        .filter(|(_, figures): &(&Kernel, Vec<_>)| !figures.is_empty())
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|(kernel, _)| (std::cmp::Reverse(memory(&kernel.metrics).sectors), kernel.id));
    let heading = "MODELS side by side, each in its own order of blocks (simulated and estimated as above)";
    _ = writeln!(out, "{}", style.heading(heading));
    let head = format!("{}  {:>9}  limited by", caches::head("model"), "at least");
    for (kernel, figures) in rows.iter().take(top) {
        _ = writeln!(out, "  {}", style.strong(&names::label(profile, kernel)));
        _ = writeln!(out, "{}", style.faint(&head.replacen("model", &format!("{:<12}", "model"), 1)));
        for model in models {
            let Some((_, figures)) = figures.iter().find(|(name, _)| name == model) else {
                _ = writeln!(out, "  {:>72}  {model:<12}  not possible there, see the notes", "-");
                continue;
            };
            let estimate = kernel.estimates.iter().find(|estimate| estimate.model == *model);
            let limit = estimate.map_or("-".to_owned(), estimate::limiter);
            let time = estimate.map_or("-".to_owned(), |estimate| seconds(estimate.seconds));
            let counted =
                caches::figures(&figures.l1, &figures.l2, &figures.dram, profile.run.lookup_bytes.get(model).copied());
            _ = writeln!(out, "{counted}{model:<12}  {time:>9}  {limit}");
        }
    }
    more(out, rows.len(), top, "kernels", style);
    out.push('\n');
}

/// Returns the cache figures of a kernel's requests on a model; `None` if it did not run on it.
fn cache_metrics(kernel: &Kernel, model: &str, models: &[String]) -> Option<CacheMetrics> {
    if models.first().is_some_and(|first| first == model) {
        let sum = memory(&kernel.metrics);
        return sum.l1.map(|l1| CacheMetrics {
            l1,
            l2: sum.l2.unwrap_or_default(),
            dram: sum.dram.unwrap_or_default(),
            l1_wavefronts: None,
        });
    }
    model_caches(&kernel.metrics, model)
}
