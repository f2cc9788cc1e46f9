//! Programs with one planted problem each: the first finding names its line, what it is about and a remedy, and the
//! fixed twin (`-DCURED`) has no finding above a note.

use crate::planted_program::{document, planted_lines, profiled, recorded};
use crate::support_programs::{root, work_folder};
use serde_json::Value;

/// One program: `id` of its finding, name of what it is about, and its cause and remedy, or words that its cure has to
/// have.
fn pair(name: &str, id: &str, about: &str, cure: &[&str]) {
    pair_with(&[], name, id, about, cure);
}

/// The same of a program that is run with `options`, as a check that is off by default.
fn pair_with(options: &[&str], name: &str, id: &str, about: &str, cure: &[&str]) {
    let planted = recorded(name, false, options);
    let first = &planted["findings"][0];
    assert_eq!(first["id"], id, "{name}: {:#}", planted["findings"]);
    assert_eq!(first["rank"], 1);
    assert!(matches!(first["severity"].as_str(), Some("warning" | "error")), "{name}: {first:#}");
    let line = first["line"].as_u64().expect("a line");
    assert!(planted_lines(name).contains(&line), "{name}: line {line} is not marked: {first:#}");
    assert!(first["file"].as_str().expect("a file").ends_with(&format!("{name}.cu")), "{name}: {first:#}");
    let allocations = planted["allocations"].as_array().expect("allocations");
    let allocation = allocations.iter().find(|allocation| allocation["id"] == first["allocation"]);
    let names = [&first["object"], allocation.map_or(&Value::Null, |allocation| &allocation["name"])];
    assert!(about.is_empty() || names.iter().any(|name| **name == about), "{name}: {names:?} is not about {about}");
    let text = first["cure"].as_str().expect("a cure");
    for word in cure {
        let is_there = first["cause"] == *word || first["remedy"] == *word || text.contains(word);
        assert!(is_there, "{name}: the finding lacks {word:?}: {first:#}");
    }
    let is_fixed = recorded(name, true, options);
    let left: Vec<&Value> = is_fixed["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["severity"] != "note")
        .collect();
    assert!(left.is_empty(), "{name}, fixed: {left:#?}");
}

/// Programs whose planted problem is a note, with a test of their own.
const NOTES: [&str; 7] =
    ["launch_tail", "block_shape", "narrow_access", "record_pairs", "range_counts", "handed_rows", "filled_output"];

/// Launches that only read what they sweep do not depend on each other.
#[test]
fn range_counts() {
    let found = |is_fixed: bool| {
        let document = recorded("range_counts", is_fixed, &[]);
        document["findings"].as_array().expect("findings").clone()
    };
    let planted = found(false);
    assert_eq!(planted.len(), 1, "{planted:#?}");
    assert_eq!(
        (&planted[0]["cause"], &planted[0]["remedy"]),
        (&"independent-launches".into(), &"merge-launches".into())
    );
    assert!(planted_lines("range_counts").contains(&planted[0]["line"].as_u64().expect("a line")), "{planted:#?}");
    let is_fixed = found(true);
    assert!(is_fixed.is_empty(), "{is_fixed:#?}");
}

/// Bytes that neighbours take one by one are a note: how many instructions wider accesses save is not modelled.
#[test]
fn narrow_access() {
    let found = |is_fixed: bool| {
        let document = recorded("narrow_access", is_fixed, &[]);
        let all = document["findings"].as_array().expect("findings").clone();
        all.into_iter().filter(|finding| finding["id"] == "narrow-access").collect::<Vec<_>>()
    };
    let planted = found(false);
    let lines: Vec<u64> = planted.iter().map(|finding| finding["line"].as_u64().expect("a line")).collect();
    assert_eq!(lines.len(), 2, "{planted:#?}");
    assert!(lines.iter().all(|line| planted_lines("narrow_access").contains(line)), "{planted:#?}");
    for finding in &planted {
        assert_eq!((&finding["severity"], &finding["evidence"]["requests"]), (&"note".into(), &32768.0.into()));
        assert!(finding["cure"].as_str().expect("a cure").contains("uchar4"), "{finding:#}");
    }
    let is_fixed = found(true);
    assert!(is_fixed.is_empty(), "{is_fixed:#?}");
}

/// What two loads bring together is used: nothing is gained by wider elements, and no change is suggested.
#[test]
fn record_pairs() {
    for finding in recorded("record_pairs", false, &[])["findings"].as_array().expect("findings") {
        let gain = finding["gain"]["factor"].as_f64().unwrap_or(1.0);
        assert!(gain < 1.1 && finding["severity"] == "note", "{finding:#}");
    }
}

/// What is handed over between kernels is found wherever its rows start: aligning them creates no warning.
#[test]
fn handed_rows() {
    let warnings = |is_aligned: bool| {
        let document = recorded("handed_rows", is_aligned, &[]);
        let all = document["findings"].as_array().expect("findings").clone();
        let warnings = all.into_iter().filter(|finding| finding["severity"] != "note");
        let id = |finding: Value| (finding["id"].to_string(), finding["cause"].to_string());
        warnings.map(id).collect::<std::collections::BTreeSet<_>>()
    };
    let (odd, aligned) = (warnings(false), warnings(true));
    assert!(odd.iter().any(|(_, cause)| cause.contains("producer-consumer")), "{odd:?}");
    assert!(aligned.is_subset(&odd), "{aligned:?}, {odd:?}");
}

/// Another shape is a note: it was never run.
#[test]
fn block_shape() {
    let of_shape = |is_fixed: bool| {
        let document = recorded("block_shape", is_fixed, &["--gpu", "rtx2080ti"]);
        let all = document["findings"].as_array().expect("findings").clone();
        let dram = &document["kernels"][0]["metrics"]["global"]["dram"];
        let moved = dram["read_sectors"].as_f64().expect("sectors") + dram["write_sectors"].as_f64().expect("sectors");
        (all.into_iter().find(|finding| finding["id"] == "block-shape"), moved)
    };
    let (planted, before) = of_shape(false);
    let planted = planted.expect("a finding");
    assert_eq!(planted["severity"], "note");
    assert!(planted_lines("block_shape").contains(&planted["line"].as_u64().expect("a line")), "{planted:#}");
    assert_eq!(planted["object"], "block 256");
    let (is_fixed, after) = of_shape(true);
    assert!(is_fixed.is_none(), "{is_fixed:#?}");
    // What it promised is what came of it.
    let promised = planted["evidence"]["dram_factor"].as_f64().expect("a factor");
    assert!((promised / (before / after) - 1.0).abs() < 0.25, "{promised}, {before} to {after}");
}

/// A fill is a note: DRAM writes it in less time than a small copy takes.
#[test]
fn filled_output() {
    let found = |is_fixed: bool| {
        let document = recorded("filled_output", is_fixed, &[]);
        let all = document["findings"].as_array().expect("findings").clone();
        all.into_iter().find(|finding| finding["id"] == "redundant-fill")
    };
    let planted = found(false).expect("a finding");
    assert!(planted_lines("filled_output").contains(&planted["line"].as_u64().expect("a line")), "{planted:#}");
    assert_eq!((&planted["cause"], &planted["remedy"]), (&"overwritten-by-kernel".into(), &"remove-fill".into()));
    assert_eq!(planted["evidence"]["fills"], 4.0, "{planted:#}");
    assert!(found(true).is_none());
}

/// A tail is a note: how long blocks take is not modelled.
#[test]
fn launch_tail() {
    let planted = recorded("launch_tail", false, &[]);
    let all = planted["findings"].as_array().expect("findings");
    let tail = all.iter().find(|finding| finding["id"] == "launch-tail").expect("a tail");
    assert_eq!(tail["severity"], "note");
    assert!(planted_lines("launch_tail").contains(&tail["line"].as_u64().expect("a line")), "{tail:#}");
    assert_eq!((&tail["evidence"]["blocks"], &tail["evidence"]["blocks_per_wave"]), (&280.0.into(), &272.0.into()));
    let is_fixed = recorded("launch_tail", true, &[]);
    assert!(is_fixed["findings"].as_array().expect("findings").iter().all(|finding| finding["id"] != "launch-tail"));
}

macro_rules! pairs {
    ($($name:ident $id:literal $about:literal [$($cure:literal),*]),* $(,)?) => {
        const PAIRS: &[(&str, &str)] = &[$((stringify!($name), $id)),*];
        $(#[test] fn $name() { pair(stringify!($name), $id, $about, &[$($cure),*]); })*
    };
}

pairs![
    base_counts "atomic-contention" "census" ["privatise-in-shared-memory"],
    bond_energy "atomic-contention" "sums" ["reduce-within-block"],
    chess_moves "local-array" "moves" ["constant-indices-if-small"],
    connected_parts "host-round-trip" "labels" ["overwritten-on-host", "reduce-on-device"],
    crop_growth "divergent-branch" "" ["group-by-warp"],
    erosion "bank-conflict" "terrain" ["pad-rows"],
    inventory "allocation-churn" "sold" ["allocated-per-iteration", "allocate-once"],
    mixing_desk "struct-fields" "Frame" ["array-per-member"],
    option_paths "strided-access" "paths" ["transpose-data"],
    polymer "random-gather" "bead" ["sort-indices"],
    shallow_water "host-round-trip" "height" ["copied-there-and-back", "keep-on-device"],
    soil_moisture "redundant-copy" "stations" ["unchanged-input", "copy-once"],
    star_tracks "double-precision" "" ["float-literals-and-functions"],
    tree_growth "misaligned-access" "" ["align-parts"],
    tide_table "constant-serialised" "tides" ["move-table-to-global-or-shared-memory"],
    video_lines "misaligned-access" "" ["pad-rows"],
    api_error "api-error" "cudaLaunchKernel" ["launch-refused", "correct-launch"],
    allocation_churn "allocation-churn" "next" ["allocated-per-iteration", "allocate-once"],
    atomic_counter "atomic-contention" "count" ["reduce-within-block"],
    bank_conflict "bank-conflict" "tile" ["pad-rows"],
    constant_index "constant-serialised" "weights" ["move-table-to-global-or-shared-memory"],
    divergent_branch "divergent-branch" "" ["group-by-warp"],
    divergent_outer "divergent-branch" "" ["collect-in-list"],
    double_precision "double-precision" "" ["float-literals-and-functions"],
    doubled_rows "race" "sums" ["repeated-by-block-dimension", "use-thread-index"],
    gather "random-gather" "table" ["sort-indices"],
    halo "misaligned-access" "filtered" ["align-blocks"],
    layer_weights "small-copies" "d_weights" ["small-copies-returned-unchanged", "keep-small-data-on-device"],
    local_array "local-array" "bins" ["constant-indices-if-small"],
    misaligned "misaligned-access" "padded" ["align-data"],
    reservoir "bank-conflict" "part" ["pad-periodically"],
    repeated_copy "redundant-copy" "coefficients" ["unchanged-input", "copy-once"],
    row_conflict "bank-conflict" "tile" ["pad-rows-of-the-block"],
    shortest_trips "local-array" "kept" ["constant-member-indices"],
    short_rows "strided-access" "" ["exchange-indices"],
    small_blocks "partial-warps" "in" ["short-rows", "widen-block"],
    small_launch "small-launch" "" ["few-blocks-of-grid-stride-loop", "launch-more-blocks"],
    strided "strided-access" "matrix" ["share-row-among-lanes"],
    struct_copy "struct-fields" "Body" ["split-by-alignment", "align-structure"],
    struct_fields "struct-fields" "particles" ["array-per-member"],
    swapped_indices "strided-access" "scaled" ["exchange-indices"],
    texture_columns "strided-access" "picture" ["fetch-neighbouring-texels"],
    weighted_years "memory-accumulator" "income" ["store-after-loop"],
    scaled_rows "fault" "" ["outside-member", "check-member-index"],
    row_sums "fault" "" ["outside-shared-variable", "check-shared-index"],
    smoothed_image "kernel-copy" "image" ["array-to-array", "exchange-pointers"],
    sweep "cache-sweep" "field" ["fuse-launches"],
    untouched_copy "untouched-copy" "log" ["one-part", "copy-part"],
    unused_allocation "unused-allocation" "workspace" ["never-used", "remove-allocation"],
    launch_overhead "launch-overhead" "" ["short-launches", "merge-launches-or-cuda-graph"],
    leaked_buffer "memory-leak" "brighter" ["never-freed-in-loop", "free-or-reuse"],
    loop_barrier "race" "best" ["missing-barrier-in-loop", "barrier-in-loop"],
    race_claim "race" "owners" ["check-then-act", "atomic-check"],
    race_lanes "race" "counts" ["lost-update-in-warp", "atomic-update"],
    race_scan "race" "row" ["read-and-replaced", "barrier-between-read-and-store"],
    race_scope "race" "sums" ["atomic-of-block-scope", "device-scope"],
    race_tiles "race" "field" ["computed-in-place", "separate-output"],
    race_ticket "race" "totals" ["unordered-update", "atomic-update"],
    stream_copy "stream-race" "values" ["unordered-copy", "order-streams"],
    stream_kernels "stream-race" "squares" ["unordered-kernels", "order-streams"],
    staged_pipeline "host-round-trip" "made" ["copied-there-and-back", "keep-on-device"],
    uneven_barrier "race" "row" ["barrier-not-reached-by-all-warps", "make-barrier-uniform"],
    unused_shared "low-occupancy" "" ["unused-shared-memory", "request-less-shared-memory"],
];

macro_rules! checked_pairs {
    ($($option:tt $name:ident $id:literal $about:literal [$($cure:literal),*]),* $(,)?) => {
        const CHECKED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { pair_with(&$option, stringify!($name), $id, $about, &[$($cure),*]); })*
    };
}

checked_pairs![
    ["--check-float", "report"] half_overflow "float-exception" "" ["overflow-on-conversion", "scale-before-conversion"],
    ["--check-float", "report"] half_sums "float-exception" "sums" ["overflow", "scale-or-widen"],
    ["--check-float", "report"] nan_factor "float-exception" "results" ["nan-in-input", "check-input"],
    ["--check-float", "report"] nan_input "float-exception" "scaled" ["nan-in-input", "check-input"],
    ["--check-float", "report"] nan_mean "float-exception" "means" ["zero-divided-by-zero", "guard-divisor"],
    ["--check-float", "report"] nan_product "float-exception" "outputs" ["nan-from-infinity", "avoid-infinity"],
    ["--check-float", "report"] nan_root "float-exception" "distances" ["nan-from-invalid-operand", "guard-operand"],
    ["--check-float", "report"] nan_softmax "float-exception" "weights" ["nan-from-infinity", "avoid-infinity"],
    ["--check-float", "report"] nan_texture "float-exception" "scaled" ["nan-in-input", "check-input"],
    ["--check-host"] early_pinned "stream-race" "results" ["unordered-host-access", "wait-before-access"],
    ["--check-host"] early_read "stream-race" "squares" ["unordered-host-access", "wait-before-access"],
    ["--check-host"] host_deref "host-access" "total" ["device-memory-on-host", "copy-to-host"],
    ["--check-leaks"] unfreed "memory-leak" "table" ["not-freed-at-exit", "free-before-exit"],
    ["--values"] constant_weights "redundant-values" "weights" ["one-value", "pass-as-argument"],
    ["--values"] silent_relax "silent-store" "distance" ["update-without-change", "store-if-changed"],
    ["--values"] unread_norms "unread-result" "norms" ["never-read", "remove-store"],
    ["--values"] wide_labels "redundant-values" "labels" ["narrow-range", "uint8_t"],
    ["--check-init"] unset_border "uninitialised-read" "tile" ["shared-memory-not-written", "fill-shared-memory"],
    ["--check-init"] unset_copy "uninitialised-read" "results" ["copied-to-host", "copy-what-is-written"],
    ["--check-init"] unset_half "uninitialised-read" "table" ["part-not-written", "write-all-elements"],
    ["--check-init"] unset_pool "uninitialised-read" "scratch" ["reused-memory", "write-after-each-allocation"],
    ["--check-init"] unset_sums "uninitialised-read" "sums" ["updated-before-set", "clear-before-update"],
];

/// Counts are those that follow from the programs: half of a table, a border per block, one step in three, 100 floats.
#[test]
fn unwritten_bytes_are_counted_exactly() {
    let folder = work_folder("findings-unwritten-counts");
    let evidence = |name: &str| {
        profiled(name, &folder, false, &["--check-init"]);
        document(&folder)["findings"][0]["evidence"].clone()
    };
    let (n, blocks) = (f64::from(1 << 17), f64::from(1 << 9));
    let half = evidence("unset_half");
    assert_eq!([&half["lanes"], &half["requests"], &half["offset"]], [n / 2.0, n / 64.0, n / 2.0 * 8.0], "{half}");
    let border = evidence("unset_border");
    assert_eq!([&border["lanes"], &border["requests"], &border["offset"]], [blocks, blocks, 257.0 * 4.0], "{border}");
    let sums = evidence("unset_sums");
    assert_eq!([&sums["lanes"], &sums["requests"], &sums["offset"]], [n, n / 32.0, 0.0], "{sums}");
    let copy = evidence("unset_copy");
    assert_eq!([&copy["bytes"], &copy["copies"], &copy["offset"]], [400.0, 1.0, 3996.0 * 4.0], "{copy}");
}

/// Counts of exceptional results are those that follow from the programs, and each origin leads back to its operation.
#[test]
fn exceptional_values_are_counted_exactly() {
    let folder = work_folder("findings-exceptional-counts");
    let rows = |name: &str| {
        profiled(name, &folder, false, &["--check-float", "report"]);
        document(&folder)
    };
    let count = |document: &Value, kind: &str| {
        let rows = document["float_exceptions"].as_array().expect("rows").clone();
        rows.iter().filter(|row| row["kind"] == kind).map(|row| row["lanes"].as_u64().expect("lanes")).sum::<u64>()
    };
    let n = 1u64 << 17;
    let (sevenths, thousands) = ((0..n).filter(|i| i % 7 == 6).count(), (0..n).filter(|i| i % 1000 == 7).count());
    let mean = rows("nan_mean");
    assert_eq!(count(&mean, "nan"), thousands as u64, "{:#}", mean["float_exceptions"]);
    assert_eq!(count(&rows("nan_root"), "nan"), sevenths as u64);
    let beyond = (0..n).filter(|i| i % 1000 * 70 >= 65520).count();
    assert_eq!(count(&rows("half_overflow"), "conversion_overflow"), beyond as u64);
    let steps_of = |document: &Value| {
        let origins = document["float_origins"].as_array().expect("origins");
        let origin = origins.iter().find(|one| one["kind"] == "nan").expect("a NaN");
        origin["steps"].as_array().expect("steps").clone()
    };
    // One row in 16 of 256, and each column: the NaN that the first product makes stays in the sum.
    let product = rows("nan_product");
    assert_eq!(count(&product, "nan"), 256 / 16 * 256, "{:#}", product["float_exceptions"]);
    assert_eq!(steps_of(&product).len(), 4, "store, product, load, division: {:#?}", steps_of(&product));
    // One row in 16 of 256, and each column: the sum of the 11th product is the first beyond 65504.
    assert_eq!(count(&rows("half_sums"), "overflow"), 256 / 16 * 256);
    let factor = steps_of(&rows("nan_factor"));
    let kinds: Vec<_> = factor.iter().map(|step| (step["operation"].as_str(), step["passes"].as_bool())).collect();
    let product = Some("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
    let (store, load) = ((Some("store"), None), (Some("load"), None));
    assert_eq!(kinds, [store, (product, Some(true)), load, load], "{factor:#?}");
    assert_eq!(factor[3]["offset"], 2 * (7 * 128 + 9 * 8 + 3), "{factor:#?}");
    let steps = steps_of(&rows("nan_softmax"));
    let names: Vec<&str> = steps.iter().map(|step| step["operation"].as_str().expect("a name")).collect();
    assert_eq!(names[0], "store", "{steps:#?}");
    assert!(names.contains(&"load") && names.len() >= 3, "the way leads back to the exponential: {steps:#?}");
}

/// `stop` ends the kernel that makes the first NaN.
#[test]
fn a_nan_stops_its_kernel() {
    let folder = work_folder("findings-nan-stops");
    profiled("nan_mean", &folder, false, &["--check-float", "stop"]);
    let document = document(&folder);
    assert_eq!(document["run"]["complete"], false);
    let missing = document["run"]["missing"].as_array().expect("what is missing");
    assert!(missing.iter().any(|row| row["what"] == "ended_early"), "{missing:#?}");
}

/// The check is off by default: the same programs are silent.
#[test]
fn unwritten_bytes_are_reported_on_request() {
    let folder = work_folder("findings-unwritten-off");
    profiled("unset_sums", &folder, false, &[]);
    let document = document(&folder);
    let found = document["findings"].as_array().expect("findings");
    assert!(found.iter().all(|finding| finding["id"] != "uninitialised-read"), "{found:#?}");
    assert!(document["run"]["init_check"].is_null(), "{}", document["run"]);
}

#[test]
fn every_program_is_a_pair() {
    let folder = root().join("tests/findings/planted");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the programs")
        .map(|entry| entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut listed: Vec<&str> =
        PAIRS.iter().map(|(name, _)| *name).chain(NOTES).chain(CHECKED.iter().copied()).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
}
