//! Datasets as `warpline export` writes them: read back in Rust against the profile that they were made of, and by the
//! tools that they are for (`tests/dataset/`, in Python, with the wheels that `scripts/setup.sh --tests` fetches).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::demo;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use warpline::dataset::column::Kind;
use warpline::dataset::tables::tables;
use warpline::profile::model::Rank;
use warpline::profile::{self, Profile};

fn warpline(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpline")).args(arguments).current_dir(folder).output().expect("warpline starts")
}

fn done(arguments: &[&str], folder: &Path) -> String {
    let output = warpline(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder with the demo's trace and its profile on two models.
struct ExportFolder {
    folder: tempfile::TempDir,
    profile: Profile,
}

impl ExportFolder {
    fn new() -> ExportFolder {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("columns.cu");
        std::fs::write(&source, demo::SOURCE).unwrap();
        std::fs::write(folder.path().join("demo.wltrace"), demo::trace(source.to_str().unwrap())).unwrap();
        done(&["sim", "demo.wltrace", "--gpu", "a100,v100", "-o", "demo.wlprof"], folder.path());
        let profile = profile::read(&folder.path().join("demo.wlprof")).unwrap();
        ExportFolder { folder, profile }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The demo as rank of a job, with all its traffic so many times.
    fn rank(&self, index: u32, times: u64) -> String {
        let mut profile = self.profile.clone();
        let node = Some(format!("node{index}"));
        profile.run.environment.rank =
            Some(Rank { index, count: Some(3), local_index: None, node, launcher: "slurm".to_owned() });
        for metrics in profile.kernels.iter_mut().flat_map(|kernel| kernel.metrics.values_mut()) {
            metrics.sectors *= times;
        }
        let name = format!("rank.{index}.wlprof");
        profile::write(&profile, &self.path().join(&name)).unwrap();
        name
    }
}

/// All files of a table below a folder, by path from there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                walk(root, &entry, found);
            } else {
                found.insert(entry.strip_prefix(root).unwrap().to_owned(), std::fs::read(&entry).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

fn batches(table: &Path) -> Vec<(PathBuf, RecordBatch)> {
    let mut found = Vec::new();
    for (path, bytes) in files(table) {
        assert!(path.extension().is_some_and(|end| end == "parquet"), "{} was left behind", path.display());
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap().build().unwrap();
        found.extend(reader.map(|batch| (path.clone(), batch.unwrap())));
    }
    found
}

fn sum(batches: &[(PathBuf, RecordBatch)], column: &str) -> i64 {
    let of = |batch: &RecordBatch| {
        batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().flatten().sum::<i64>()
    };
    batches.iter().map(|(_, batch)| of(batch)).sum()
}

fn texts(batches: &[(PathBuf, RecordBatch)], column: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, batch) in batches {
        let texts = batch.column_by_name(column).unwrap().as_dictionary::<Int32Type>();
        let texts = texts.downcast_dict::<arrow_array::StringArray>().unwrap();
        found.extend(texts.into_iter().flatten().map(str::to_owned));
    }
    found
}

#[test]
fn tables_hold_what_the_profile_says() {
    let place = ExportFolder::new();
    let arguments = ["export", "ds", "demo.wlprof", "--label", "commit=1a2b/c", "--requests", "demo.wltrace"];
    done(&arguments, place.path());
    let folder = place.path().join("ds");
    let table = |name: &str| batches(&folder.join(name));
    let lines = table("lines");
    let models: BTreeSet<String> =
        lines.iter().map(|(path, _)| path.parent().unwrap().to_string_lossy().into_owned()).collect();
    let program = place.profile.run.program[0].rsplit('/').next().unwrap();
    let expected = ["a100", "v100"].map(|model| format!("program={program}/commit=1a2b%2Fc/rank=0/model={model}"));
    assert_eq!(models, expected.into());
    // What is counted stands with each model; what caches make of it with its own.
    for (model, other) in [("a100", None), ("v100", Some("v100"))] {
        let here: Vec<_> = lines.iter().filter(|(path, _)| path.to_string_lossy().contains(model)).cloned().collect();
        let metrics = || place.profile.lines.iter().flat_map(|line| line.metrics.values());
        let total = |figure: &dyn Fn(&profile::model::Metrics) -> u64| metrics().map(figure).sum::<u64>() as i64;
        assert!(total(&|metrics| metrics.sectors) > 0);
        assert_eq!(sum(&here, "sectors"), total(&|metrics| metrics.sectors));
        assert_eq!(sum(&here, "requests"), total(&|metrics| metrics.requests));
        let l1 = |metrics: &profile::model::Metrics| match other {
            None => metrics.l1,
            Some(other) => metrics.other_models.get(other).map(|caches| caches.l1),
        };
        assert_eq!(sum(&here, "l1_hits"), total(&|metrics| l1(metrics).unwrap_or_default().hits));
    }
    // One of the runs at a time; requests are of the first.
    let requests = table("requests");
    let of_profile: u64 = place.profile.sites.iter().map(|site| site.metrics.requests).sum();
    assert_eq!(requests.iter().map(|(_, batch)| batch.num_rows()).sum::<usize>() as u64, of_profile);
    for (figure, name) in [(0, "lanes"), (1, "bytes"), (2, "sectors"), (3, "ideal_sectors")] {
        let of = |metrics: &profile::model::Metrics| {
            [metrics.lanes, metrics.bytes, metrics.sectors, metrics.ideal_sectors][figure]
        };
        let expected: u64 = place.profile.sites.iter().map(|site| of(&site.metrics)).sum();
        assert_eq!(sum(&requests, name), expected as i64, "{name}");
    }
    let names: BTreeSet<String> = place.profile.allocations.iter().filter_map(|one| one.name.clone()).collect();
    assert!(!names.is_empty());
    assert!(texts(&requests, "allocation_name").is_subset(&names));
    assert!(texts(&requests, "run").is_subset(&texts(&table("runs"), "run")));
    assert_eq!(texts(&table("allocations"), "allocation_name"), names);
    assert_eq!(
        table("findings").iter().map(|(_, batch)| batch.num_rows()).sum::<usize>(),
        place.profile.findings.len()
    );
}

/// The values of a column, row by row, as texts; `None` where one is missing.
fn values(batches: &[(PathBuf, RecordBatch)], column: &str) -> Vec<Option<String>> {
    let mut all = Vec::new();
    for (_, batch) in batches {
        let column = batch.column_by_name(column).unwrap_or_else(|| panic!("{column} is missing"));
        let numbers = column.as_primitive_opt::<Int64Type>();
        let texts = column.as_dictionary_opt::<Int32Type>();
        for row in 0..batch.num_rows() {
            let value = match (numbers, texts) {
                (Some(numbers), _) => numbers.value(row).to_string(),
                (_, Some(texts)) => {
                    let key = texts.key(row).unwrap_or_default();
                    texts.values().as_string::<i32>().value(key).to_owned()
                }
                _ => panic!("neither a number nor a text"),
            };
            all.push((!column.is_null(row)).then_some(value));
        }
    }
    all
}

/// What merged profiles contain about ranks, and basic blocks, are rows: those of the document, no more and no less.
#[test]
fn ranks_and_blocks_are_rows() {
    let place = ExportFolder::new();
    let ranks = [(0, 1), (1, 1), (2, 4)].map(|(index, times)| place.rank(index, times));
    done(&["merge", &ranks[0], &ranks[1], &ranks[2], "-o", "whole.wlprof"], place.path());
    done(&["export", "ds", "whole.wlprof"], place.path());
    let whole = profile::read(&place.path().join("whole.wlprof")).unwrap();
    let table = batches(&place.path().join("ds/rank_statistics"));
    let column = |name: &str| values(&table, name);
    let (places, spaces, figures, lines) = (column("place"), column("space"), column("figure"), column("line"));
    let (most, most_rank, least, sums) = (column("most"), column("most_rank"), column("least"), column("sum"));
    let row = |row: usize| -> [Option<String>; 8] {
        [&places, &lines, &spaces, &figures, &most, &most_rank, &least, &sums].map(|column| column[row].clone())
    };
    let found: BTreeSet<_> = (0..places.len()).map(row).collect();
    let mut wanted = BTreeSet::new();
    let mut expected_value = |place: &str, line: Option<u32>, space: Option<&str>, over: &profile::model::OverRanks| {
        for (name, spread) in over {
            let split = name.split_once('.').filter(|(space, _)| ["global", "shared", "constant"].contains(space));
            let (space, figure) = split.map_or((space, name.as_str()), |(space, figure)| (Some(space), figure));
            wanted.insert([
                Some(place.to_owned()),
                line.map(|line| line.to_string()),
                space.map(str::to_owned),
                Some(figure.to_owned()),
                Some(spread.max.to_string()),
                Some(spread.max_rank.to_string()),
                Some(spread.min.to_string()),
                Some(spread.sum.0.to_string()),
            ]);
        }
    };
    for kernel in &whole.kernels {
        expected_value("kernel", None, None, &kernel.over_ranks);
        kernel.paths_over_ranks.iter().for_each(|row| expected_value("path", None, None, &row.over_ranks));
    }
    whole.lines.iter().for_each(|row| expected_value("line", Some(row.line), None, &row.over_ranks));
    whole.sites.iter().for_each(|row| expected_value("site", Some(row.line), Some(&row.space), &row.over_ranks));
    whole.allocation_names.iter().for_each(|row| expected_value("allocation", None, None, &row.over_ranks));
    assert_eq!(found, wanted);
    let blocks = batches(&place.path().join("ds/blocks"));
    // One of the models: both count the same.
    let count = |figure: fn(&profile::model::Block) -> u64| whole.blocks.iter().map(figure).sum::<u64>() as i64;
    assert_eq!(sum(&blocks, "executions"), 2 * count(|block| block.executions));
    assert_eq!(sum(&blocks, "lanes_lost"), 2 * count(|block| block.lanes_lost));
    assert!(sum(&blocks, "partial") > 0);
}

#[test]
fn files_have_the_declared_schema_with_units() {
    let place = ExportFolder::new();
    done(&["export", "ds", "demo.wlprof", "--requests", "demo.wltrace"], place.path());
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path().join("ds/dataset.json")).unwrap()).unwrap();
    let mut seen = 0;
    for (number, table) in tables().enumerate() {
        assert_eq!(manifest["tables"][number]["name"], table.name);
        for (_, batch) in batches(&place.path().join("ds").join(table.name)) {
            seen += 1;
            let schema = batch.schema();
            let columns: Vec<_> = table.columns().collect();
            assert_eq!(schema.fields().len(), columns.len(), "{}", table.name);
            for (field, column) in schema.fields().iter().zip(columns) {
                assert_eq!(field.name(), column.name, "{}", table.name);
                assert_eq!(field.is_nullable(), column.optional, "{}.{}", table.name, column.name);
                assert_eq!(field.metadata().get("unit").map_or("", String::as_str), column.unit);
                assert_eq!(field.metadata().get("description").unwrap(), column.description);
                let is_text = matches!(field.data_type(), arrow_schema::DataType::Dictionary(..));
                assert_eq!(is_text, column.kind == Kind::Text, "{}.{}", table.name, column.name);
            }
        }
    }
    assert!(seen > 12, "{seen}");
}

#[test]
fn a_profile_that_is_exported_again_is_there_once_and_others_are_added() {
    let place = ExportFolder::new();
    done(&["export", "ds", "demo.wlprof"], place.path());
    let once = files(&place.path().join("ds"));
    done(&["export", "ds", "demo.wlprof", "demo.wlprof"], place.path());
    assert!(files(&place.path().join("ds")) == once, "the same files with the same bytes");
    let [one, two] = [place.rank(1, 1), place.rank(2, 3)];
    done(&["export", "ds", &one, &two], place.path());
    let kernels = batches(&place.path().join("ds/kernels"));
    let ranks: BTreeSet<_> = kernels.iter().map(|(path, _)| path.iter().nth(2).unwrap().to_owned()).collect();
    assert_eq!(ranks, ["rank=0", "rank=1", "rank=2"].map(Into::into).into());
    assert_eq!(texts(&batches(&place.path().join("ds/runs")), "node"), ["node1", "node2"].map(str::to_owned).into());
}

#[test]
fn what_cannot_be_exported_is_refused_with_a_cure() {
    let place = ExportFolder::new();
    let printed = |arguments: &[&str], code: i32, words: &[&str]| {
        let output = warpline(arguments, place.path());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        words.iter().for_each(|word| assert!(text.contains(word), "{arguments:?}: {text}"));
    };
    std::fs::create_dir(place.path().join("other")).unwrap();
    std::fs::write(place.path().join("other/file"), "").unwrap();
    printed(&["export", "other", "demo.wlprof"], 2, &["not empty", "new folder"]);
    printed(&["export", "fresh", "demo.wltrace"], 3, &["demo.wltrace", "trace"]);
    assert!(!place.path().join("fresh").exists(), "nothing is begun for nothing");
    printed(&["export", "ds", "demo.wlprof", "--requests", "a", "--requests", "b"], 2, &["2 times for 1 profiles"]);
    done(&["export", "ds", "demo.wlprof"], place.path());
    let manifest = place.path().join("ds/dataset.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("\"version\": 1", "\"version\": 99")).unwrap();
    printed(&["export", "ds", "demo.wlprof"], 3, &["version 99", "new folder"]);
    std::fs::write(&manifest, "{").unwrap();
    printed(&["export", "ds", "demo.wlprof"], 3, &["dataset.json", "new folder"]);
}

#[test]
fn of_a_damaged_trace_what_is_intact_is_exported_and_of_another_program_nothing() {
    let place = ExportFolder::new();
    let trace = std::fs::read(place.path().join("demo.wltrace")).unwrap();
    std::fs::write(place.path().join("cut.wltrace"), &trace[..trace.len() - 40]).unwrap();
    let output = warpline(&["export", "ds", "demo.wlprof", "--requests", "cut.wltrace"], place.path());
    assert_eq!(output.status.code(), Some(7), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!batches(&place.path().join("ds/requests")).is_empty());
    // Every byte of the trace is checked: whatever is changed, no row is made of it, and nothing falls over.
    for at in (16..trace.len()).step_by(trace.len() / 10) {
        let mut damaged = trace.clone();
        damaged[at] ^= 0x10;
        std::fs::write(place.path().join("bad.wltrace"), damaged).unwrap();
        let output = warpline(&["export", "bad", "demo.wlprof", "--requests", "bad.wltrace"], place.path());
        assert!(matches!(output.status.code(), Some(3 | 7)), "{at}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let mut profile = place.profile.clone();
    profile.kernels[0].mangled = "other".to_owned();
    profile::write(&profile, &place.path().join("other.wlprof")).unwrap();
    let output = warpline(&["export", "ds2", "other.wlprof", "--requests", "demo.wltrace"], place.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the trace that the profile was made of"));
    assert!(batches(&place.path().join("ds2/requests")).is_empty());
}

/// Where `scripts/setup.sh` puts the wheels.
fn wheels() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache");
    let folder = cache.unwrap_or_else(home).join("warpline/dataset-wheels");
    assert!(folder.is_dir(), "{} is missing: run scripts/setup.sh --tests", folder.display());
    folder
}

/// Runs a module of tests in a folder with a dataset of three ranks and one commit, and files of the other formats.
fn python(module: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = ExportFolder::new();
    let ranks = [(0, 1), (1, 1), (2, 4)].map(|(index, times)| place.rank(index, times));
    let mut export = vec!["export", "ds", "--label", "commit=1a2b"];
    export.extend(ranks.iter().map(String::as_str));
    done(&export, place.path());
    done(&["export", "ds", "demo.wlprof", "--label", "commit=2b3c", "--requests", "demo.wltrace"], place.path());
    done(&["merge", &ranks[0], &ranks[1], &ranks[2], "-o", "whole.wlprof"], place.path());
    done(&["export", "merged", "whole.wlprof"], place.path());
    let search = std::env::join_paths([root.join("python"), wheels()]).expect("paths without colons");
    let output = Command::new("python3")
        .args(["-W", "ignore", "-m", "unittest", "-v", module])
        .current_dir(root.join("tests/dataset"))
        .env("PYTHONPATH", search)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("WARPLINE_BIN", Path::new(env!("CARGO_BIN_EXE_warpline")).parent().unwrap())
        .env("WARPLINE_TEST_FOLDER", place.path())
        .env("MPLCONFIGDIR", place.path())
        .output()
        .expect("python3 starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{module}:\n{printed}\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(printed.contains("\nOK"), "no tests ran: {printed}");
}

#[test]
fn data_frames_and_sql_engines_read_it() {
    python("test_readers");
}

#[test]
fn queries_answer_and_only_read() {
    python("test_query");
}

#[test]
fn other_tools_read_their_formats() {
    python("test_formats");
}
