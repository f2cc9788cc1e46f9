//! Declarations of columns, and the values of a column.

use rustc_hash::FxHashMap;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed 64-bit integers, which every reader supports; larger counts are clamped.
    Integer,
    /// 64-bit floating-point numbers.
    Float,
    /// True or false.
    Flag,
    /// Texts; each distinct text is stored once and referred to by number.
    Text,
}

impl Kind {
    /// Returns the name in documentation and in `dataset.json`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Flag => "boolean",
            Kind::Text => "text",
        }
    }
}

/// The declaration of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Type of the values.
    pub kind: Kind,
    /// Whether values may be missing.
    pub optional: bool,
    /// Unit of a figure; empty if there is none.
    pub unit: &'static str,
    /// Meaning of the values.
    pub description: &'static str,
}

/// The declaration of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the table and of its folder.
    pub name: &'static str,
    /// Description of a row, one line of text per element.
    pub description: &'static [&'static str],
    /// Columns that only this table has.
    pub own: &'static [Column],
    /// Columns that it shares with other tables.
    pub shared: &'static [Column],
}

impl Table {
    /// Returns all columns in order.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.own.iter().chain(self.shared)
    }

    /// Returns the description of a row in one line.
    pub fn about(&self) -> String {
        self.description.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// The values of a column.
#[derive(Clone, Debug)]
pub struct Values {
    /// The values; arbitrary where a value is missing.
    pub data: Data,
    /// Whether each row has a value; empty if all rows do.
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

/// Texts, each distinct text once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Index into `distinct`, by row.
    pub codes: Vec<i32>,
    /// Distinct texts in the order of first uses.
    pub distinct: Vec<String>,
    known: FxHashMap<String, i32>,
}

impl Texts {
    /// Adds a row.
    pub fn push(&mut self, text: &str) {
        // Adjacent rows often have equal values.
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

/// A type that can be stored in a column.
pub trait Cell {
    /// Type of its column.
    const KIND: Kind;
    /// Whether values may be missing.
    const OPTIONAL: bool = false;
    /// Appends the value to a column of this type.
    fn put(self, values: &mut Values);
}

/// A type that can be optional.
trait Plain: Cell {
    /// Placeholder for a missing value.
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
