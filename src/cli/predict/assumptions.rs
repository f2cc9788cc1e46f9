//! Sentences about the assumptions of a document's figures.

use std::collections::BTreeSet;

use warpline_format::warp_order::Order;

use super::options::RequestedChanges;
use warpline_prediction::configurations::GridRule;
use warpline_prediction::count::Basis;
use warpline_prediction::document::RecordedSite;
use warpline_prediction::launch::Launch;
use warpline_prediction::model::Model;
use warpline_prediction::outcome::Prediction;
use warpline_prediction::overflow::overflows;
use warpline_prediction::subject::Subject;

/// Returns the sites for which some configuration uses figures of the run.
pub(super) fn recorded_sites(subject: &Subject<'_>, predictions: &[Prediction]) -> Vec<RecordedSite> {
    let mut found = BTreeSet::new();
    for prediction in predictions {
        for (site, row) in prediction.sites.iter().zip(&subject.rows) {
            if let (Basis::Lost(lost), Some(row)) = (site.basis, row) {
                found.insert(RecordedSite { file: row.file.clone(), line: row.line, reason: lost.to_string() });
            }
        }
    }
    for row in subject.others.iter().filter(|row| row.space != "constant") {
        let reason = format!("{} memory, or a function that was not inlined", row.space);
        found.insert(RecordedSite { file: row.file.clone(), line: row.line, reason });
    }
    found.into_iter().collect()
}

/// Returns a note if predictions do not simulate the model's order of warps.
pub(super) fn order_not_replayed(model: &Model<'_>) -> Option<String> {
    let order = model.device.order;
    (!matches!(order, Order::LooseRoundRobin { .. })).then(|| {
        format!(
            "warps issue in loose round robin without drift, although {} issues {order}: predictions replay no other order; \
             `warpline sim` does",
            model.key
        )
    })
}

/// Returns the assumptions of the figures.
pub(super) fn assumptions(
    subject: &Subject<'_>,
    requested: &RequestedChanges<'_>,
    launches: &[(Launch, Vec<GridRule>)],
    predictions: &[Prediction],
) -> Vec<String> {
    let mut all = vec![
        "L1 and L2 are empty when the kernel starts".to_owned(),
        format!("instructions and shared memory are those of launch {}", subject.recorded.id),
    ];
    let mut rules: Vec<&GridRule> = launches.iter().flat_map(|(_, rules)| rules).collect();
    rules.dedup();
    rules.sort_by_key(|rule| format!("{rule:?}"));
    rules.dedup();
    for rule in rules {
        all.push(match rule {
            GridRule::SameIndices => "grids cover as many indices along each axis as the recorded one".to_owned(),
            GridRule::SameBlocks => "grids have as many blocks as the recorded one along an axis where a block's work does not grow with its threads".to_owned(),
            GridRule::Parameter(name) => format!("grids follow {name}, as the recorded one does"),
            GridRule::Given => "the grid is the one given".to_owned(),
        });
    }
    let fixed = requested.fixed_axes(subject);
    if !fixed.is_empty() {
        all.push(format!(
            "along {} grids are as large as in the run, for every --set and --over: no comparison of an index there shows the parameter that determines them; \
             give them by --grid where that is wrong",
            fixed.join(" and ")
        ));
    }
    let other_shapes = launches.iter().any(|(launch, _)| launch.block != subject.recorded.block);
    let tiling = requested.tiling();
    if requested.recorded_shape_only() && !other_shapes {
        all.push(
            "no address of this kernel uses blockDim: the shape of its blocks is written into the code, so of all shapes only the recorded \
             one is predicted"
                .to_owned(),
        );
    }
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate().filter(|(axis, _)| !tiling.free[*axis]) {
        if launches.iter().any(|(launch, _)| launch.block[axis] != subject.recorded.block[axis]) {
            all.push(format!(
                "no address of this kernel uses blockDim.{name}: the size of its blocks along {name} is written into the code, which has \
                 to change with it"
            ));
        }
    }
    if requested.changes() {
        all.push("pointers lead to the allocations of the run, whatever their sizes".to_owned());
        if launches.iter().any(|(launch, _)| overflows(subject.addresses, launch)) {
            let text = "numbers have as many bits as they need: with these sizes some leave the width that the code gives them, and the program would overflow";
            all.push(text.to_owned());
        }
    }
    if predictions.iter().any(|one| one.sites.iter().any(|site| site.basis == Basis::Sample)) {
        all.push("addresses that are not affine were counted for some of the blocks".to_owned());
    }
    let unknown_lines: BTreeSet<u32> = predictions.iter().flat_map(|one| unknown_lines(subject, one)).collect();
    if !unknown_lines.is_empty() {
        let lines: Vec<String> = unknown_lines.iter().map(u32::to_string).collect();
        all.push(format!(
            "the run did not reach accesses that some of these launches come to, and what they do or where is not known: they are left out (line {}); run the \
             program, with this release, at sizes that reach them",
            lines.join(", ")
        ));
    }
    all.extend(of_the_caches(predictions));
    if predictions.iter().any(|one| one.rough) {
        all.push("footprints leave some edges and overlaps out of account".to_owned());
    }
    all
}

/// Returns the lines of accesses in a launch about which too little is known.
fn unknown_lines(subject: &Subject<'_>, found: &Prediction) -> Vec<u32> {
    let made = found.sites.iter().enumerate().filter(|(number, site)| subject.is_unknown(*number, site));
    made.map(|(number, _)| subject.line(number)).collect()
}

/// Explains the consequence of figures that are taken from a run on the model `measured_on`.
pub(super) fn taken_from_the_run(
    measured_on: Option<&str>,
    model: &str,
    requested: &RequestedChanges<'_>,
) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(measured_on) = measured_on.filter(|measured_on| *measured_on != model) {
        all.push(format!(
            "what is taken from the run was measured on the model {measured_on}: the caches of {model} would serve it otherwise"
        ));
    }
    if requested.changes() {
        all.push("what is taken from the run is as it was for each thread, for every --set".to_owned());
    }
    all
}

/// Relative difference between predicted and recorded bytes above which a note is shown, and the number of bytes below
/// which it is irrelevant.
const APART: f64 = 0.1;
const FEW_BYTES: f64 = (1 << 20) as f64;

/// Compares the bytes predicted for the recorded launch with those of the run, if it used the same model.
pub(super) fn beside_the_run(subject: &Subject<'_>, found: &Prediction, model: &Model<'_>) -> Option<String> {
    let metrics = subject.recorded.metrics.get("global").filter(|_| subject.recorded.block_share <= 1)?;
    let (l2, dram) = (metrics.l2?, metrics.dram?);
    let loads = (l2.load_lookups * model.rates.lookup_bytes.1) as f64;
    let all = [
        ("loads from L2", found.l2_loads, loads),
        ("loads from DRAM", found.dram_loads, dram.read_sectors as f64 * 32.0),
        ("stores to DRAM", found.dram_stores, dram.write_sectors as f64 * 32.0),
    ];
    let apart = all.into_iter().filter(|(_, predicted, of_run)| {
        predicted.max(*of_run) >= FEW_BYTES && (predicted - of_run).abs() > APART * of_run
    });
    let mebibytes = |bytes: f64| format!("{:.1} MiB", bytes / f64::from(1 << 20));
    let apart: Vec<String> = apart
        .map(|(what, predicted, of_run)| format!("{what} {} (in the run {})", mebibytes(predicted), mebibytes(of_run)))
        .collect();
    (!apart.is_empty()).then(|| {
        format!(
            "of the recorded launch itself other figures are predicted than it had: {}; if not because its data lay in L2 before, those of other shapes are off as \
             much",
            apart.join(", ")
        )
    })
}

/// Ratio of footprint to capacity above which L2's replacement policy matters.
const NEARLY_FULL: f64 = 0.5;

/// Returns the assumptions of the cache figures.
fn of_the_caches(predictions: &[Prediction]) -> Vec<String> {
    let mut all = Vec::new();
    let blocks = |one: &Prediction| one.grid.iter().map(|&size| u64::from(size)).product::<u64>();
    let some = predictions.iter().filter(|one| (1..blocks(one)).contains(&one.replayed.blocks));
    let shares: Vec<f64> = some.map(|one| one.replayed.blocks as f64 / blocks(one) as f64).collect();
    if !shares.is_empty() {
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        all.push(format!(
            "L1 serves all blocks as it served those that were replayed, {} of them or more",
            percent(least)
        ));
    }
    let left_out = predictions.iter().map(|one| one.replayed.left_out).fold(0.0, f64::max);
    if left_out > 0.0 {
        all.push(format!(
            "loops go on as they began: the replay ran {} of their iterations or more",
            percent(1.0 - left_out)
        ));
    }
    let nearly_full = |one: &&Prediction| one.l2_oversubscription.max(one.l2_reuse_oversubscription) > NEARLY_FULL;
    let sampled = || predictions.iter().filter(nearly_full).filter_map(|one| one.sampled);
    let sets = sampled().map(|one| one.sets).reduce(f64::min).map(percent);
    let blocks = sampled().map(|one| one.blocks).fold(1.0, f64::min);
    match sets {
        Some(sets) if blocks < 1.0 => all.push(format!(
            "L2 serves all blocks as those in the middle of the launch that were run, {} of them or more, and all its sets do as {sets} \
             of them or more",
            percent(blocks)
        )),
        Some(sets) => all.push(format!("all sets of L2 do as those that were run, {sets} of them or more")),
        None => {}
    }
    if predictions.iter().filter(nearly_full).any(|one| one.sampled.is_none()) {
        let text = "DRAM traffic of some shapes is an estimate from footprints, as too much would have to be run through L2: it can be off by factors where \
                    loops go through arrays about as large as L2";
        all.push(text.to_owned());
    }
    all
}

/// Formats a share with two digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = (1.0 - percent.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{percent:.digits$} %")
}
