//! Columns: how they are declared, and the values of one.

use rustc_hash::FxHashMap;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed 64-bit integers, which every reader supports; larger counts are clamped.
    Integer,
    /// 64 bits.
    Float,
    /// True or false.
    Flag,
    /// Text, each once and by number.
    Text,
}

impl Kind {
    /// Its name in documentation and in `dataset.json`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Flag => "boolean",
            Kind::Text => "text",
        }
    }
}

/// A column as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// May be missing.
    pub optional: bool,
    /// Unit of a figure; empty where it has none.
    pub unit: &'static str,
    /// Its meaning.
    pub description: &'static str,
}

/// A table as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name, and that of its folder.
    pub name: &'static str,
    /// What a row is, a line of text each.
    pub description: &'static [&'static str],
    /// Its own columns.
    pub own: &'static [Column],
    /// Those that it shares with other tables.
    pub shared: &'static [Column],
}

impl Table {
    /// All columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.own.iter().chain(self.shared)
    }

    /// What a row is, in one line.
    pub fn about(&self) -> String {
        self.description.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// The values of a column.
#[derive(Clone, Debug)]
pub struct Values {
    /// The values; anything where one is missing.
    pub data: Data,
    /// Indexed by row, whether there is a value; empty where there always is.
    pub present: Vec<bool>,
}

/// Values by kind.
#[derive(Clone, Debug)]
pub enum Data {
    /// See [`Kind::Integer`].
    Integers(Vec<i64>),
    /// See [`Kind::Float`].
    Floats(Vec<f64>),
    /// See [`Kind::Flag`].
    Flags(Vec<bool>),
    /// See [`Kind::Text`].
    Texts(Texts),
}

/// Texts, each once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Indexed by row, index into `distinct`.
    pub codes: Vec<i32>,
    /// In order of first use.
    pub distinct: Vec<String>,
    known: FxHashMap<String, i32>,
}

impl Texts {
    /// Adds a row.
    pub fn push(&mut self, text: &str) {
        // Neighbouring rows often have the same.
        let last = self.codes.last().copied();
        if let Some(code) = last
            && self.distinct[code as usize] == text
        {
            return self.codes.push(code);
        }
        let code = match self.known.get(text) {
            Some(&code) => code,
            None => {
                let code = self.distinct.len() as i32;
                self.distinct.push(text.to_owned());
                self.known.insert(text.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
    }
}

impl Values {
    /// Creates a `Values` for a column, without rows.
    pub fn new(column: &Column) -> Values {
        let data = match column.kind {
            Kind::Integer => Data::Integers(Vec::new()),
            Kind::Float => Data::Floats(Vec::new()),
            Kind::Flag => Data::Flags(Vec::new()),
            Kind::Text => Data::Texts(Texts::default()),
        };
        Values { data, present: Vec::new() }
    }
}

/// What can be in a column.
pub trait Cell {
    /// Kind of its column.
    const KIND: Kind;
    /// Whether it may be missing.
    const OPTIONAL: bool = false;
    /// Adds it to its column, which is of its kind.
    fn put(self, values: &mut Values);
}

/// What can be missing.
trait Plain: Cell {
    /// Stands where one is missing.
    const NOTHING: Self;
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

macro_rules! cells {
    ($($type:ty: $kind:ident, $variant:ident, $nothing:expr, $convert:expr;)*) => { $(
        impl Cell for $type {
            const KIND: Kind = Kind::$kind;
            fn put(self, values: &mut Values) {
                let Data::$variant(data) = &mut values.data else { unreachable!("columns are made of the declaration") };
                data.push($convert(self));
            }
        }
        impl Plain for $type {
            const NOTHING: Self = $nothing;
        }
    )* };
}

cells! {
    u64: Integer, Integers, 0, signed;
    u32: Integer, Integers, 0, i64::from;
    i64: Integer, Integers, 0, std::convert::identity;
    f64: Float, Floats, 0.0, std::convert::identity;
    bool: Flag, Flags, false, std::convert::identity;
    &str: Text, Texts, "", std::convert::identity;
}

impl<T: Plain> Cell for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn put(self, values: &mut Values) {
        values.present.push(self.is_some());
        self.unwrap_or(T::NOTHING).put(values);
    }
}
