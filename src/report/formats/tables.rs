//! Writes the tables of the Python package: columns of numbers, and each distinct text once. The JSON of a profile with
//! ten thousand memory instructions has about 80 MB, which takes long to parse; these tables have a few MB.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use warpline_profile::Profile;
use warpline_profile::model::{Frame, Kernel, Launch, Metrics, Spaces};

/// Version, increased when a column changes its meaning or is removed.
const VERSION: u32 = 2;

/// Name of a figure, and its value in a row, if present.
type Figure = (&'static str, fn(&Metrics) -> Option<u64>);

/// Figures of memory requests. They name the columns of sites, lines and allocations; for kernels and launches, the
/// memory space is the prefix.
const FIGURES: [Figure; 15] = [
    ("requests", |metrics| Some(metrics.requests)),
    ("lanes", |metrics| Some(metrics.lanes)),
    ("bytes", |metrics| Some(metrics.bytes)),
    ("sectors", |metrics| Some(metrics.sectors)),
    ("ideal_sectors", |metrics| Some(metrics.ideal_sectors)),
    ("wavefronts", |metrics| metrics.shared.as_ref().map(|shared| shared.wavefronts)),
    ("ideal_wavefronts", |metrics| metrics.shared.as_ref().map(|shared| shared.ideal_wavefronts)),
    ("l1_lookups", |metrics| metrics.l1.map(|level| level.lookups)),
    ("l1_hits", |metrics| metrics.l1.map(|level| level.hits)),
    ("l1_load_lookups", |metrics| metrics.l1.map(|level| level.load_lookups)),
    ("l1_load_hits", |metrics| metrics.l1.map(|level| level.load_hits)),
    ("l2_lookups", |metrics| metrics.l2.map(|level| level.lookups)),
    ("l2_hits", |metrics| metrics.l2.map(|level| level.hits)),
    ("dram_read_sectors", |metrics| metrics.dram.map(|dram| dram.read_sectors)),
    ("dram_write_sectors", |metrics| metrics.dram.map(|dram| dram.write_sectors)),
];

/// Name of a ratio, and its computation.
type Ratio = (&'static str, fn(&Metrics) -> Option<f64>);

/// Ratios: coalescing efficiencies and hit rates.
const RATIOS: [Ratio; 5] = [
    ("coalescing", |metrics| share(metrics.ideal_sectors, metrics.sectors)),
    ("bank_efficiency", |metrics| {
        let passes = metrics.shared.as_ref()?;
        share(passes.ideal_wavefronts, passes.wavefronts)
    }),
    ("l1_hit_rate", |metrics| metrics.l1_hit_rate().share()),
    ("l1_store_hit_rate", |metrics| metrics.l1_store_hit_rate().share()),
    ("l2_hit_rate", |metrics| metrics.l2_hit_rate().share()),
];

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

const SPACES: [&str; 4] = ["global", "shared", "local", "constant"];

/// The cells of a column; a missing value is null.
#[derive(Serialize)]
#[serde(untagged)]
enum Column {
    /// Indices into the list of texts.
    Text(Vec<Option<usize>>),
    Count(Vec<Option<u64>>),
    Distance(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
    Truth(Vec<bool>),
    Size(Vec<[u32; 3]>),
}

type Columns = BTreeMap<String, Column>;

/// The document of `report --format tables`.
#[derive(Serialize)]
struct Tables<'a> {
    schema: &'static str,
    version: u32,
    model: Option<&'a str>,
    complete: bool,
    tables: BTreeMap<&'static str, Columns>,
    texts: Vec<String>,
}

/// Returns the tables as JSON: `tables` has columns by table and name, and `texts` contains the texts that columns
/// refer to.
pub fn tables(profile: &Profile) -> String {
    let mut writer = Writer::new(profile);
    let tables = BTreeMap::from([
        ("kernels", writer.kernels()),
        ("lines", writer.lines()),
        ("sites", writer.sites()),
        ("allocations", writer.allocations()),
        ("launches", writer.launches()),
        ("findings", writer.findings()),
    ]);
    let model = profile.run.models.first().map(String::as_str);
    let complete = profile.run.complete;
    let document =
        Tables { schema: "warpline.tables", version: VERSION, model, complete, tables, texts: writer.texts.list };
    let mut text = serde_json::to_string(&document).expect("tables have string keys and finite numbers");
    text.push('\n');
    text
}

/// Distinct texts by number.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }

    fn column<'t>(&mut self, cells: impl Iterator<Item = Option<&'t str>>) -> Column {
        Column::Text(cells.map(|cell| cell.map(|text| self.number(text))).collect())
    }
}

struct Writer<'p> {
    profile: &'p Profile,
    kernels: HashMap<u32, &'p str>,
    allocations: HashMap<u64, &'p str>,
    texts: Texts,
}

impl<'p> Writer<'p> {
    fn new(profile: &'p Profile) -> Writer<'p> {
        let kernels = profile.kernels.iter().map(|kernel| (kernel.id, kernel.name.as_str())).collect();
        let named = profile.allocations.iter().filter_map(|one| Some((one.id, one.name.as_deref()?)));
        Writer { profile, kernels, allocations: named.collect(), texts: Texts::default() }
    }

    /// Adds a column of texts.
    fn text<'t>(&mut self, columns: &mut Columns, name: &str, cells: impl Iterator<Item = Option<&'t str>>) {
        columns.insert(name.to_owned(), self.texts.column(cells));
    }

    fn kernels(&mut self) -> Columns {
        let rows = &self.profile.kernels;
        let estimate = |kernel: &'p Kernel| kernel.estimates.first();
        let mut columns = by_space(rows.iter().map(|kernel| &kernel.metrics));
        self.text(&mut columns, "name", rows.iter().map(|kernel| Some(kernel.name.as_str())));
        self.text(&mut columns, "file", rows.iter().map(|kernel| Some(kernel.file.as_str())));
        self.text(&mut columns, "limiter", rows.iter().map(|kernel| Some(estimate(kernel)?.limiter.as_str())));
        counts(&mut columns, "line", rows.iter().map(|kernel| Some(u64::from(kernel.line))));
        counts(&mut columns, "launches", rows.iter().map(|kernel| Some(kernel.launch_count())));
        numbers(&mut columns, "seconds", rows.iter().map(|kernel| Some(estimate(kernel)?.seconds)));
        columns
    }

    fn lines(&mut self) -> Columns {
        let spaces = |line: &'p warpline_profile::model::Line| {
            SPACES.into_iter().filter_map(move |space| Some((line, space, line.metrics.get(space)?)))
        };
        let rows: Vec<_> = self.profile.lines.iter().flat_map(spaces).collect();
        let kernels: Vec<_> = rows.iter().map(|(line, ..)| self.kernels.get(&line.kernel).copied()).collect();
        let mut columns = figures("", rows.iter().map(|(.., metrics)| Some(*metrics)));
        self.text(&mut columns, "file", rows.iter().map(|(line, ..)| Some(line.file.as_str())));
        self.text(&mut columns, "kernel", kernels.into_iter());
        self.text(&mut columns, "space", rows.iter().map(|(_, space, _)| Some(*space)));
        counts(&mut columns, "line", rows.iter().map(|(line, ..)| Some(u64::from(line.line))));
        columns
    }

    fn sites(&mut self) -> Columns {
        let rows = &self.profile.sites;
        let kernels: Vec<_> = rows.iter().map(|site| self.kernels.get(&site.kernel).copied()).collect();
        let objects: Vec<String> = (rows.iter())
            .map(|site| {
                let named = |id: Option<u64>| self.allocations.get(&id?).copied();
                let names: Vec<&str> = site.by_allocation.iter().filter_map(|row| named(row.allocation)).collect();
                names.join(", ")
            })
            .collect();
        let mut columns = figures("", rows.iter().map(|site| Some(&site.metrics)));
        self.text(&mut columns, "kernel", kernels.into_iter());
        self.text(&mut columns, "file", rows.iter().map(|site| Some(site.file.as_str())));
        self.text(&mut columns, "op", rows.iter().map(|site| Some(site.op.as_str())));
        self.text(&mut columns, "space", rows.iter().map(|site| Some(site.space.as_str())));
        self.text(&mut columns, "objects", objects.iter().map(|names| Some(names.as_str())));
        counts(&mut columns, "line", rows.iter().map(|site| Some(u64::from(site.line))));
        counts(&mut columns, "column", rows.iter().map(|site| Some(u64::from(site.column))));
        counts(&mut columns, "width", rows.iter().map(|site| Some(u64::from(site.bytes))));
        let strides = rows.iter().map(|site| site.pattern.as_ref()?.stride_bytes);
        columns.insert("stride_bytes".to_owned(), Column::Distance(strides.collect()));
        columns
    }

    fn allocations(&mut self) -> Columns {
        let rows = &self.profile.allocations;
        let paths: Vec<_> = rows.iter().map(|one| path(&one.path)).collect();
        let mut columns = figures("", rows.iter().map(|one| Some(&one.metrics)));
        self.text(&mut columns, "name", rows.iter().map(|one| one.name.as_deref()));
        self.text(&mut columns, "kind", rows.iter().map(|one| Some(one.kind.as_str())));
        self.text(&mut columns, "path", paths.iter().map(|path| Some(path.as_str())));
        counts(&mut columns, "size", rows.iter().map(|one| Some(one.bytes)));
        // Allocations without accesses, such as those that are only copied, have no figures.
        counts(
            &mut columns,
            "touched_bytes",
            rows.iter().map(|one| Some(one.touched_bytes).filter(|bytes| *bytes > 0)),
        );
        columns.insert("freed".to_owned(), Column::Truth(rows.iter().map(|one| one.freed).collect()));
        columns
    }

    fn launches(&mut self) -> Columns {
        let of = |kernel: &'p Kernel| kernel.launches.iter().map(move |launch| (kernel, launch));
        let mut rows: Vec<(&Kernel, &Launch)> = self.profile.kernels.iter().flat_map(of).collect();
        rows.sort_by_key(|(_, launch)| launch.id);
        let paths: Vec<_> = rows.iter().map(|(_, launch)| path(&launch.path)).collect();
        let mut columns = by_space(rows.iter().map(|(_, launch)| &launch.metrics));
        self.text(&mut columns, "kernel", rows.iter().map(|(kernel, _)| Some(kernel.name.as_str())));
        self.text(&mut columns, "path", paths.iter().map(|path| Some(path.as_str())));
        counts(&mut columns, "launch", rows.iter().map(|(_, launch)| Some(launch.id)));
        counts(&mut columns, "registers", rows.iter().map(|(_, launch)| Some(u64::from(launch.registers))));
        counts(&mut columns, "resident_blocks", rows.iter().map(|(_, launch)| Some(u64::from(launch.resident_blocks))));
        let shared = |launch: &Launch| u64::from(launch.static_shared_bytes) + u64::from(launch.dynamic_shared_bytes);
        counts(&mut columns, "shared_memory", rows.iter().map(|(_, launch)| Some(shared(launch))));
        columns.insert("grid".to_owned(), Column::Size(rows.iter().map(|(_, launch)| launch.grid).collect()));
        columns.insert("block".to_owned(), Column::Size(rows.iter().map(|(_, launch)| launch.block).collect()));
        columns
    }

    fn findings(&mut self) -> Columns {
        let rows = &self.profile.findings;
        let kernels: Vec<_> = rows.iter().map(|one| self.kernels.get(&one.kernel?).copied()).collect();
        let named = |id: Option<u64>| self.allocations.get(&id?).copied();
        let object = |text: &'p Option<String>| text.as_deref().filter(|text| !text.is_empty());
        let objects: Vec<_> = rows.iter().map(|one| object(&one.object).or_else(|| named(one.allocation))).collect();
        let mut columns = Columns::new();
        self.text(&mut columns, "id", rows.iter().map(|one| Some(one.id.as_str())));
        self.text(&mut columns, "severity", rows.iter().map(|one| Some(one.severity.name())));
        self.text(&mut columns, "title", rows.iter().map(|one| Some(one.title.as_str())));
        self.text(&mut columns, "cause", rows.iter().map(|one| Some(one.cause.as_str())));
        self.text(&mut columns, "remedy", rows.iter().map(|one| Some(one.remedy.as_str())));
        self.text(&mut columns, "kernel", kernels.into_iter());
        self.text(&mut columns, "file", rows.iter().map(|one| Some(one.file.as_str())));
        self.text(&mut columns, "object", objects.into_iter());
        self.text(&mut columns, "reason", rows.iter().map(|one| Some(one.reason.as_str())));
        self.text(&mut columns, "cure", rows.iter().map(|one| Some(one.cure.as_str())));
        counts(&mut columns, "rank", rows.iter().map(|one| Some(u64::from(one.rank))));
        counts(&mut columns, "line", rows.iter().map(|one| Some(u64::from(one.line))));
        numbers(&mut columns, "factor", rows.iter().map(|one| Some(one.gain.as_ref()?.factor)));
        numbers(&mut columns, "seconds", rows.iter().map(|one| Some(one.gain.as_ref()?.seconds)));
        columns
    }
}

fn counts(columns: &mut Columns, name: &str, cells: impl Iterator<Item = Option<u64>>) {
    columns.insert(name.to_owned(), Column::Count(cells.collect()));
}

fn numbers(columns: &mut Columns, name: &str, cells: impl Iterator<Item = Option<f64>>) {
    columns.insert(name.to_owned(), Column::Number(cells.collect()));
}

/// Returns the figures of rows and the ratios derived from them.
fn figures<'m>(prefix: &str, rows: impl Iterator<Item = Option<&'m Metrics>>) -> Columns {
    let rows: Vec<_> = rows.collect();
    let mut columns = Columns::new();
    for (name, of) in FIGURES {
        counts(&mut columns, &format!("{prefix}{name}"), rows.iter().map(|row| row.and_then(of)));
    }
    for (name, of) in RATIOS {
        numbers(&mut columns, &format!("{prefix}{name}"), rows.iter().map(|row| row.and_then(of)));
    }
    columns
}

/// Returns the figures of global and shared memory, and the requests of local memory.
fn by_space<'m>(rows: impl Iterator<Item = &'m Spaces>) -> Columns {
    let rows: Vec<_> = rows.collect();
    let mut columns = figures("global_", rows.iter().map(|row| row.get("global")));
    columns.extend(figures("shared_", rows.iter().map(|row| row.get("shared"))));
    counts(&mut columns, "local_requests", rows.iter().map(|row| row.get("local").map(|local| local.requests)));
    columns
}

/// Returns a path as text, outermost frame first.
fn path(frames: &[Frame]) -> String {
    let frame = |frame: &Frame| {
        let file = std::path::Path::new(&frame.file)
            .file_name()
            .map_or_else(|| frame.file.as_str().into(), |name| name.to_string_lossy());
        format!("{} {file}:{}", frame.function, frame.line)
    };
    frames.iter().map(frame).collect::<Vec<_>>().join(" > ")
}
