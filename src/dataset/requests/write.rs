//! Writes the requests of a trace in bounded memory, batch by batch and row group by row group.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::follow::{Follow, Refusal};
use super::places::Places;
use crate::row::{Row as _, Rows};
use crate::tables::RequestRow;
use crate::{ExportError, Exported, Folder, Run, encode};
use warpline_analyzer::trace::{Damage, Ending, Message, TraceReader};

/// Number of rows that are passed to the encoder at a time.
const BATCH_ROWS: usize = 1 << 16;

/// Reasons why the requests of a trace cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RequestsError {
    /// The folder cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The trace cannot be read.
    #[error("{path}: {what}")]
    Trace {
        /// File.
        path: PathBuf,
        /// The cause.
        what: String,
    },
    /// The trace and the profile do not belong together.
    #[error("{path}: {what}; give the trace that the profile was made of, traces in the order of the profiles")]
    OtherProfile {
        /// Trace.
        path: PathBuf,
        /// The cause.
        what: String,
    },
}

/// The result of writing the requests of a trace.
#[derive(Debug, Default)]
pub struct Requests {
    /// Number of files and rows.
    pub done: Exported,
    /// Reason why the trace was not read to its end, if so. Everything before was written.
    pub cut: Option<String>,
}

/// Computes a checksum of the data that is read through it. The state is shared, because the trace reader owns the
/// value.
struct Digested<R> {
    source: R,
    sum: Rc<RefCell<md5::Context>>,
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let got = self.source.read(buffer)?;
        self.sum.borrow_mut().consume(&buffer[..got]);
        Ok(got)
    }
}

impl Requests {
    /// Writes all requests of the trace from which a run's profile was built.
    ///
    /// # Errors
    /// Returns a [`RequestsError`]; nothing is then written.
    pub fn write(folder: &Folder, run: &Run<'_>, trace: &Path) -> Result<Requests, RequestsError> {
        let unreadable =
            |what: &dyn std::fmt::Display| RequestsError::Trace { path: trace.to_owned(), what: what.to_string() };
        let source = File::open(trace).map_err(|error| unreadable(&error))?;
        let sum = Rc::new(RefCell::new(md5::Context::new()));
        let source = Digested { source: BufReader::with_capacity(1 << 20, source), sum: Rc::clone(&sum) };
        let mut reader = TraceReader::new(source).map_err(|damage| unreadable(&damage))?;
        let mut file = folder.begin(RequestRow::TABLE.name, &run.partition())?;
        let schema = encode::schema(&RequestRow::TABLE);
        let folder_path = file.folder.clone();
        let failed = |error| ExportError::Encode { path: folder_path.clone(), error };
        let mut writer = encode::writer(&RequestRow::TABLE, &mut file.out).map_err(failed)?;
        let mut follow = Follow::new(Places::new(run));
        let mut rows = Rows::new::<RequestRow<'_>>();
        let mut count = 0;
        let cut = loop {
            let result = match reader.next() {
                Ok(Message::Event(event)) => follow.event(*event),
                Ok(Message::Batch { launch, items }) => follow.batch(launch, items, |row| rows.push(row)),
                Err(Ending::Complete) => break None,
                Err(Ending::Unfinished | Ending::Damaged(Damage::Cut(_))) => {
                    break Some("it ends before its end".to_owned());
                }
                Err(Ending::Damaged(damage)) => break Some(damage.to_string()),
            };
            match result {
                Ok(()) => {}
                Err(refusal @ Refusal::OtherProfile { .. }) => {
                    return Err(RequestsError::OtherProfile { path: trace.to_owned(), what: refusal.to_string() });
                }
                Err(refusal) => break Some(format!("chunk {}: {refusal}", reader.chunk())),
            }
            if rows.count >= BATCH_ROWS {
                count += rows.count as u64;
                let full = std::mem::replace(&mut rows, Rows::new::<RequestRow<'_>>());
                let batch = encode::batch(schema.clone(), full.columns).map_err(|error| failed(error.into()))?;
                writer.write(&batch).map_err(failed)?;
            }
        };
        count += rows.count as u64;
        let batch = encode::batch(schema, rows.columns).map_err(|error| failed(error.into()))?;
        writer.write(&batch).map_err(failed)?;
        writer.close().map_err(failed)?;
        if count == 0 {
            return Ok(Requests { done: Exported::default(), cut });
        }
        let trace = format!("{:x}", sum.borrow().clone().finalize());
        file.finish(&crate::run::digest(format!("{} {trace}", run.name).as_bytes()))?;
        Ok(Requests { done: Exported { files: 1, rows: count }, cut })
    }
}
