//! Encodes tables as Apache Parquet files.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

use super::column::{Column, Data, Kind, Table, Values};
use super::manifest;
use super::row::Rows;

/// Number of rows per row group. Readers read, and writers buffer, one row group at a time.
const GROUP_ROWS: usize = 1 << 19;

/// Returns a table's schema, with units and descriptions as metadata of the fields.
pub(super) fn schema(table: &Table) -> SchemaRef {
    let fields: Vec<Field> = table.columns().map(field).collect();
    let about = HashMap::from([
        ("warpline.table".to_owned(), table.name.to_owned()),
        ("warpline.description".to_owned(), table.about()),
        ("warpline.dataset.version".to_owned(), manifest::VERSION.to_string()),
    ]);
    Arc::new(Schema::new_with_metadata(fields, about))
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Integer => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::Flag => DataType::Boolean,
        Kind::Text => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
    };
    let mut metadata = HashMap::from([("description".to_owned(), column.description.to_owned())]);
    if !column.unit.is_empty() {
        metadata.insert("unit".to_owned(), column.unit.to_owned());
    }
    Field::new(column.name, kind, column.optional).with_metadata(metadata)
}

/// Starts a file of a table.
pub(super) fn writer<W: Write + Send>(table: &Table, to: W) -> Result<ArrowWriter<W>, ParquetError> {
    let key = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let properties = WriterProperties::builder()
        .set_created_by(format!("warpline {}", env!("CARGO_PKG_VERSION")))
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_key_value_metadata(Some(vec![
            key("warpline.table", table.name.to_owned()),
            key("warpline.description", table.about()),
            key("warpline.dataset.version", manifest::VERSION.to_string()),
        ]))
        .build();
    ArrowWriter::try_new(to, schema(table), Some(properties))
}

/// Writes a whole table.
pub(super) fn write<W: Write + Send>(rows: Rows, to: W) -> Result<(), ParquetError> {
    let mut writer = writer(&rows.table, to)?;
    let batch = batch(schema(&rows.table), rows.columns)?;
    writer.write(&batch)?;
    writer.close().map(drop)
}

/// Converts rows to Arrow's form.
pub(super) fn batch(schema: SchemaRef, columns: Vec<Values>) -> Result<RecordBatch, ArrowError> {
    let arrays = columns.into_iter().map(array).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema, arrays)
}

fn array(values: Values) -> Result<ArrayRef, ArrowError> {
    let present = (!values.present.is_empty()).then(|| values.present.into());
    Ok(match values.data {
        Data::Integers(data) => Arc::new(Int64Array::try_new(data.into(), present)?),
        Data::Floats(data) => Arc::new(Float64Array::try_new(data.into(), present)?),
        Data::Flags(data) => Arc::new(BooleanArray::new(data.into(), present)),
        Data::Texts(texts) => {
            let codes = Int32Array::try_new(texts.codes.into(), present)?;
            Arc::new(DictionaryArray::<Int32Type>::try_new(codes, Arc::new(StringArray::from(texts.distinct)))?)
        }
    })
}
