//! Rows of tables. Each table has a structure whose declaration is the table's schema.

use super::column::{Column, Table, Values};

/// A row of a table.
pub trait Row {
    /// The table.
    const TABLE: Table;
    /// Appends the row to the table's columns.
    fn push(self, columns: &mut [Values]);
}

/// Columns at the end of several tables.
pub trait Group {
    /// The columns.
    const COLUMNS: &'static [Column];
    /// Appends the values to a table's last columns.
    fn push(self, columns: &mut [Values]);
}

/// The rows of a table.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The table.
    pub table: Table,
    /// Values by column.
    pub columns: Vec<Values>,
    /// Number of rows.
    pub count: usize,
}

impl Rows {
    /// Creates a table without rows.
    pub fn new<R: Row>() -> Rows {
        Rows { table: R::TABLE, columns: R::TABLE.columns().map(Values::new).collect(), count: 0 }
    }

    /// Creates a table of these rows.
    pub fn from_rows<R: Row>(rows: impl IntoIterator<Item = R>) -> Rows {
        let mut table = Rows::new::<R>();
        rows.into_iter().for_each(|row| table.push(row));
        table
    }

    /// Adds a row of this table.
    pub fn push<R: Row>(&mut self, row: R) {
        row.push(&mut self.columns);
        self.count += 1;
    }
}

/// Declares columns: the only place with their names, types, units and descriptions.
macro_rules! columns {
    ($($field:ident: $type:ty, $unit:literal, $description:literal;)*) => {
        &[$($crate::column::Column {
            name: stringify!($field),
            kind: <$type as $crate::column::Cell>::KIND,
            optional: <$type as $crate::column::Cell>::OPTIONAL,
            unit: $unit,
            description: $description,
        },)*]
    };
}

/// Expands to the columns of a group, if there is one.
macro_rules! shared {
    () => {
        &[]
    };
    ($group:ty) => {
        <$group as $crate::row::Group>::COLUMNS
    };
}

/// Declares a table and the structure of its rows.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        struct $row:ident<$life:lifetime> = $name:literal {
            $($field:ident: $type:ty, $unit:literal, $description:literal;)*
        }
        $(.. $group:ident: $shared:ty)?
    ) => {
        $(#[doc = $about])+
        pub struct $row<$life> {
            $(#[doc = $description] pub $field: $type,)*
            $(/// See there.
            pub $group: $shared,)?
        }

        impl<$life> $crate::row::Row for $row<$life> {
            const TABLE: $crate::column::Table = $crate::column::Table {
                name: $name,
                description: &[$($about),+],
                own: $crate::row::columns!($($field: $type, $unit, $description;)*),
                shared: $crate::row::shared!($($shared)?),
            };

            fn push(self, columns: &mut [$crate::column::Values]) {
                let mut own = columns.iter_mut();
                $(if let Some(column) = own.next() {
                    $crate::column::Cell::put(self.$field, column);
                })*
                $($crate::row::Group::push(self.$group, own.into_slice());)?
            }
        }
    };
}

/// Declares a group of columns at the end of several tables.
macro_rules! group {
    ($(#[doc = $about:literal])+ struct $group:ident { $($field:ident: $type:ty, $unit:literal, $description:literal;)* }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub struct $group {
            $(#[doc = $description] pub $field: $type,)*
        }

        impl $crate::row::Group for $group {
            const COLUMNS: &'static [$crate::column::Column] =
                $crate::row::columns!($($field: $type, $unit, $description;)*);

            fn push(self, columns: &mut [$crate::column::Values]) {
                let mut own = columns.iter_mut();
                $(if let Some(column) = own.next() {
                    $crate::column::Cell::put(self.$field, column);
                })*
            }
        }
    };
}

pub(super) use {columns, group, shared, table};
