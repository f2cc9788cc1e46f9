//! Profile files: a header of 32 bytes (48 in profiles of ranks), and the compressed JSON document.
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | magic `WLPROF\r\n` |
//! | 8–11 | version of the container: 1, or 2 with a section for merging |
//! | 12–15 | CRC-32 of everything else |
//! | 16–23 | bytes of the payload |
//! | 24–31 | bytes of the document once unpacked |
//! | 32–39 | version 2: bytes of the section |
//! | 40–47 | version 2: bytes of the section once unpacked |
//! | then | payload: the document, LZ4 block format |
//! | then | version 2: the section (`packed`), LZ4 block format |
//!
//! All numbers are little endian. The CRC detects every single flipped bit and every burst error of up to 32 bits.

use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use warpline_toolchain::interrupt;

use super::model::{SCHEMA, VERSION};
use super::{Profile, packed, plausible, shown};

const MAGIC: [u8; 8] = *b"WLPROF\r\n";
/// Container version of profiles without a section for merging.
const PLAIN_VERSION: u32 = 1;
/// Container version of profiles with a section for merging.
const CONTAINER_VERSION: u32 = 2;
const HEAD_BYTES: usize = 32;
/// Bytes of the lengths of the section.
const SECTION_HEAD_BYTES: usize = 16;
/// Maximum size of a document, so that a damaged length does not cause a huge allocation.
const MAX_DOCUMENT_BYTES: u64 = 16 << 30;
/// Maximum compression ratio of LZ4.
const MAX_RATIO: u64 = 256;

/// Reasons why a profile file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The file cannot be opened or read.
    #[error("{path}: cannot read: {error}")]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// The file cannot be written.
    #[error("{path}: cannot write: {error}")]
    Write {
        /// File.
        path: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// Not a profile.
    #[error("{path}: this is not a Warpline profile{hint}")]
    NotAProfile {
        /// File.
        path: PathBuf,
        /// Description of what it seems to be, or empty.
        hint: &'static str,
    },
    /// The file was written by a later release.
    #[error(
        "{path}: profile version {version} is newer than this warpline reads ({newest}); use the release that wrote it"
    )]
    Newer {
        /// File.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The newest supported version.
        newest: u32,
    },
    /// Bytes are missing or were changed.
    #[error("{path}: damaged profile: {what}; run the program again")]
    Damaged {
        /// File.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
}

impl ProfileError {
    /// Returns the file.
    pub fn path(&self) -> &Path {
        match self {
            ProfileError::Read { path, .. }
            | ProfileError::Write { path, .. }
            | ProfileError::NotAProfile { path, .. }
            | ProfileError::Newer { path, .. }
            | ProfileError::Damaged { path, .. } => path,
        }
    }
}

/// Returns the file's bytes.
pub fn to_bytes(profile: &Profile) -> Vec<u8> {
    let document = serde_json::to_vec(profile).expect("a profile has string keys and finite numbers");
    let payload = lz4_flex::block::compress(&document);
    let section = packed::section(profile);
    let mut bytes = Vec::with_capacity(HEAD_BYTES + SECTION_HEAD_BYTES + payload.len());
    bytes.extend(MAGIC);
    bytes.extend(if section.is_some() { CONTAINER_VERSION } else { PLAIN_VERSION }.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend((document.len() as u64).to_le_bytes());
    match section {
        Some(section) => {
            let stored = lz4_flex::block::compress(&section);
            bytes.extend((stored.len() as u64).to_le_bytes());
            bytes.extend((section.len() as u64).to_le_bytes());
            bytes.extend(payload);
            bytes.extend(stored);
        }
        None => bytes.extend(payload),
    }
    let checksum = checksum(&bytes);
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Compressed data and its uncompressed length.
#[derive(Clone, Copy)]
struct Stored<'a> {
    bytes: &'a [u8],
    unpacked: usize,
}

impl<'a> Stored<'a> {
    fn new(bytes: &'a [u8], unpacked: u64) -> Option<Stored<'a>> {
        let fits = unpacked <= MAX_DOCUMENT_BYTES && unpacked <= (bytes.len() as u64 + 1) * MAX_RATIO;
        fits.then_some(Stored { bytes, unpacked: unpacked as usize })
    }
}

/// The contents of a file with a correct checksum.
struct Container<'a> {
    document: Stored<'a>,
    section: Option<Stored<'a>>,
}

impl<'a> Container<'a> {
    fn open(bytes: &'a [u8], path: &Path) -> Result<Container<'a>, ProfileError> {
        let damaged = |what: &str| ProfileError::Damaged { path: path.to_owned(), what: what.to_owned() };
        if !bytes.starts_with(&MAGIC) {
            let hint = match bytes {
                [] => ": it is empty",
                [b'W', b'L', b'T', b'R', ..] => ", but a trace",
                [b'{', ..] => ", but JSON",
                _ => "",
            };
            return Err(ProfileError::NotAProfile { path: path.to_owned(), hint });
        }
        if bytes.len() < HEAD_BYTES {
            return Err(damaged("it is shorter than its head"));
        }
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let version = word(8);
        if version > CONTAINER_VERSION {
            return Err(ProfileError::Newer { path: path.to_owned(), version, newest: CONTAINER_VERSION });
        }
        let mut head = HEAD_BYTES;
        let mut lengths = None;
        if version > PLAIN_VERSION {
            head += SECTION_HEAD_BYTES;
            if bytes.len() < head {
                return Err(damaged("it is shorter than its head"));
            }
            lengths = Some((long(32), long(40)));
        }
        let rest = &bytes[head..];
        let (stored, unpacked) = (long(16), long(24));
        let wanted = stored.saturating_add(lengths.map_or(0, |(stored, _)| stored));
        if wanted != rest.len() as u64 {
            return Err(damaged(&format!("it holds {} bytes of {wanted}", rest.len())));
        }
        if checksum(bytes) != word(12) {
            return Err(damaged("its checksum does not match"));
        }
        let fit = |stored: Option<Stored<'a>>| stored.ok_or_else(|| damaged("its lengths do not fit together"));
        let (payload, section) = rest.split_at(stored as usize);
        let document = fit(Stored::new(payload, unpacked))?;
        let section = lengths.map(|(_, unpacked)| fit(Stored::new(section, unpacked))).transpose()?;
        Ok(Container { document, section })
    }

    fn document(&self, path: &Path) -> Result<Profile, ProfileError> {
        let damaged = |what: &str| ProfileError::Damaged { path: path.to_owned(), what: what.to_owned() };
        let Stored { bytes, unpacked } = self.document;
        let document = lz4_flex::block::decompress(bytes, unpacked).map_err(|error| damaged(&error.to_string()))?;
        let mut profile: Profile = shown::read(&document).map_err(|error| damaged(&error.to_string()))?;
        check_kind(&profile, path)?;
        // Every reader adds up the rows, so the sums must be valid.
        if !plausible::may_be_read(&profile, &document) {
            return Err(damaged("it has counts that no run can have"));
        }
        profile.put_in_order();
        Ok(profile)
    }
}

fn check_kind(profile: &Profile, path: &Path) -> Result<(), ProfileError> {
    if profile.schema != SCHEMA {
        let what = "its document is of another kind".to_owned();
        return Err(ProfileError::Damaged { path: path.to_owned(), what });
    }
    if profile.version > VERSION {
        return Err(ProfileError::Newer { path: path.to_owned(), version: profile.version, newest: VERSION });
    }
    Ok(())
}

/// Decodes the output of [`to_bytes`]; `path` is for messages.
///
/// # Errors
/// Returns a [`ProfileError`] other than `Read` or `Write`.
pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Profile, ProfileError> {
    Container::open(bytes, path)?.document(path)
}

/// Reads files one after the other for merging, and reuses the memory.
#[derive(Debug, Default)]
pub struct MergeReader {
    file: Vec<u8>,
    section: Vec<u8>,
    /// Memory of [`ToMerge::Section`].
    profile: Profile,
}

/// A profile that was read for merging.
#[derive(Debug)]
pub enum ToMerge<'a> {
    /// The whole document.
    Document(Box<Profile>),
    /// Only the part that merging needs.
    Section(&'a Profile),
}

impl MergeReader {
    /// Reads a file: its section if this release can read it, else its document.
    ///
    /// # Errors
    /// Returns a [`ProfileError`].
    pub fn read(&mut self, path: &Path) -> Result<ToMerge<'_>, ProfileError> {
        self.file.clear();
        read_into(path, &mut self.file)?;
        let container = Container::open(&self.file, path)?;
        let is_read = container.section.is_some_and(|Stored { bytes, unpacked }| {
            self.section.resize(unpacked, 0);
            lz4_flex::block::decompress_into(bytes, &mut self.section).is_ok_and(|length| length == unpacked)
                && packed::read(&self.section, &mut self.profile).is_ok()
        });
        if !is_read {
            return Ok(ToMerge::Document(Box::new(container.document(path)?)));
        }
        check_kind(&self.profile, path)?;
        Ok(ToMerge::Section(&self.profile))
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..12]);
    hasher.update(&bytes[16..]);
    hasher.finalize()
}

/// Returns the uncompressed size of a file's document according to its header; `None` if the file is not a profile.
///
/// # Errors
/// Returns [`ProfileError::Read`].
pub fn unpacked_bytes(path: &Path) -> Result<Option<u64>, ProfileError> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head))
        .map_err(|error| ProfileError::Read { path: path.to_owned(), error })?;
    let length = head.get(24..HEAD_BYTES).filter(|_| head.starts_with(&MAGIC));
    Ok(length.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes))
}

/// Reads a profile file.
///
/// # Errors
/// Returns a [`ProfileError`].
pub fn read(path: &Path) -> Result<Profile, ProfileError> {
    let mut bytes = Vec::new();
    read_into(path, &mut bytes)?;
    from_bytes(&bytes, path)
}

fn read_into(path: &Path, bytes: &mut Vec<u8>) -> Result<(), ProfileError> {
    File::open(path)
        .and_then(|mut file| {
            // Only the start of the file is read if it is not a profile, because it might be an endless device.
            Read::by_ref(&mut file).take(HEAD_BYTES as u64).read_to_end(bytes)?;
            if bytes.starts_with(&MAGIC) { file.read_to_end(bytes) } else { Ok(0) }
        })
        .map(drop)
        .map_err(|error| ProfileError::Read { path: path.to_owned(), error })
}

/// Writes a profile file: under a temporary name in its folder, then renamed, so that no process ever reads
/// half of one.
///
/// # Errors
/// Returns [`ProfileError::Write`] and leaves no file behind.
pub fn write(profile: &Profile, path: &Path) -> Result<(), ProfileError> {
    write_bytes(&to_bytes(profile), path).map_err(|error| ProfileError::Write { path: path.to_owned(), error })
}

/// Writes a file under a temporary name and renames it.
pub fn write_bytes(bytes: &[u8], path: &Path) -> std::io::Result<()> {
    // A device or pipe is written directly, because a rename would replace it.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = new_in(folder)?;
    let _removal = interrupt::removes(file.path());
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error).map(drop)
}

/// Creates a file in a folder, with ordinary permissions and a random name that no other process can have created
/// before. The file is removed unless it is renamed.
fn new_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let ordinary = Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".warpline.").suffix(".tmp").permissions(ordinary).tempfile_in(folder)
}

/// Writes a profile to a new file in the folder for temporary files, readable only by its owner.
pub fn write_spare(profile: &Profile, name: &str) -> std::io::Result<PathBuf> {
    let mut file = tempfile::Builder::new().prefix(&format!("{name}.")).suffix(".wlprof").tempfile()?;
    let _removal = interrupt::removes(file.path());
    file.write_all(&to_bytes(profile))?;
    file.keep().map(|(_, path)| path).map_err(|error| error.error)
}

/// Checks whether a file can be written at a path.
pub fn probe(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = new_in(folder)?;
    let _removal = interrupt::removes(file.path());
    file.close()
}
