//! The store: profiles and their records.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::record::Record;
use super::{Blobs, Digest, Folder, StoreError};
use crate::model::Environment;
use crate::{self as profile, Profile, file};

/// File that identifies a store and its version.
const HEAD: &str = "warpline-store.json";
const SCHEMA: &str = "warpline.store";
const VERSION: u64 = 1;
/// Maximum bytes of a record, which contains command lines and labels.
const MAX_RECORD: u64 = 1 << 20;
/// Maximum bytes of a profile file.
const MAX_OBJECT: u64 = 16 << 30;
/// Maximum number of letters of a name that are part of its folder's name.
const SHOWN: usize = 40;

/// Profiles by content, and records of them.
pub struct Store {
    blobs: Box<dyn Blobs>,
}

/// A record with its digest.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its digest.
    pub id: Digest,
    /// Its contents.
    pub record: Record,
}

/// The contents of a store.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Records in arbitrary order.
    pub records: Vec<Recorded>,
    /// Files that cannot be read.
    pub problems: Vec<Problem>,
}

/// A problem in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File.
    pub place: String,
    /// Description of the problem, and what to do.
    pub what: String,
}

impl Store {
    /// Returns the store in a folder. If `create` is true, a store is created in an empty or missing folder.
    ///
    /// # Errors
    /// Returns an error if it is not a store, or if a later release created it.
    pub fn in_folder(folder: &Path, create: bool) -> Result<Store, StoreError> {
        Store::open(Box::new(Folder::new(folder)), create)
    }

    /// Returns the store in a storage. If `create` is true, a store is created in an empty storage.
    ///
    /// # Errors
    /// Returns an error if it is not a store, or if a later release created it.
    pub fn open(blobs: Box<dyn Blobs>, create: bool) -> Result<Store, StoreError> {
        match blobs.read(HEAD, MAX_RECORD)? {
            Some(bytes) => {
                let place = || blobs.place(HEAD);
                let head: Value = serde_json::from_slice(&bytes).unwrap_or_default();
                let version = head.get("version").and_then(Value::as_u64);
                let Some(version) = version.filter(|_| head.get("schema") == Some(&json!(SCHEMA))) else {
                    return Err(StoreError::NotAStore { place: place() });
                };
                if version > VERSION {
                    return Err(StoreError::Newer { place: place(), version, newest: VERSION });
                }
            }
            // Another writer may have created it since the last check.
            None if !blobs.is_empty()? && blobs.read(HEAD, MAX_RECORD)?.is_none() => {
                return Err(StoreError::NotAStore { place: blobs.place("") });
            }
            None if create => {
                let head = json!({ "schema": SCHEMA, "version": VERSION });
                blobs.write(HEAD, format!("{head}\n").as_bytes())?;
            }
            None => {}
        }
        Ok(Store { blobs })
    }

    /// Stores a profile, and a record of it that `complete` completes.
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or if the record is invalid.
    pub fn add(
        &self,
        name: &str,
        profile: &Profile,
        complete: impl FnOnce(&mut Record),
    ) -> Result<Recorded, StoreError> {
        let bytes = object_bytes(profile);
        let digest = Digest::compute(&bytes);
        let mut record = Record::new(name, profile, digest);
        complete(&mut record);
        record.make_visible();
        record.check()?;
        let document = record.to_bytes();
        if document.len() as u64 > MAX_RECORD {
            return Err(StoreError::Unfit(format!("the record of {name} is larger than {} KiB", MAX_RECORD >> 10)));
        }
        let key = object_key(&digest);
        // An existing object is not written again, unless it was damaged.
        if self.blobs.read(&key, MAX_OBJECT)?.is_none_or(|there| Digest::compute(&there) != digest) {
            self.blobs.write(&key, &bytes)?;
        }
        let id = Digest::compute(&document);
        self.blobs.write(&record_key(&record.name, &id), &document)?;
        Ok(Recorded { id, record })
    }

    /// Returns all records, or those with one name.
    ///
    /// # Errors
    /// Returns an error if the store cannot be listed or read.
    pub fn records(&self, name: Option<&str>) -> Result<Listing, StoreError> {
        let prefix = name.map_or("records".to_owned(), record_folder);
        let mut listing = Listing::default();
        for key in self.blobs.list(&prefix)? {
            let mut wrong = |what: &str| {
                let what = format!("damaged record: {what}; remove it and record the profile again");
                listing.problems.push(Problem { place: self.blobs.place(&key), what });
            };
            let Some(id) = digest_of(&key, ".json") else {
                wrong("its name is not the store's");
                continue;
            };
            let Some(bytes) = self.blobs.read(&key, MAX_RECORD)? else { continue };
            if Digest::compute(&bytes) != id {
                wrong("its content does not fit its name");
                continue;
            }
            match Record::from_bytes(&bytes) {
                Ok(record) if record_key(&record.name, &id) == key => listing.records.push(Recorded { id, record }),
                Ok(_) => wrong("it is in the folder of another name"),
                Err(what) => wrong(&what),
            }
        }
        Ok(listing)
    }

    /// Returns the profile of a record, as it was recorded.
    ///
    /// # Errors
    /// Returns an error if it is missing or damaged.
    pub fn profile(&self, record: &Record) -> Result<Profile, StoreError> {
        let digest =
            Digest::parse(&record.object).ok_or_else(|| StoreError::Unfit("a record without profile".into()))?;
        let (key, mut profile) = self.object(&digest)?;
        profile.run.environment = record.environment.clone();
        if profile.run.models != record.models {
            return Err(StoreError::Damaged {
                place: self.blobs.place(&key),
                what: "the record that names it is of other GPU models".to_owned(),
            });
        }
        Ok(profile)
    }

    fn object(&self, digest: &Digest) -> Result<(String, Profile), StoreError> {
        let key = object_key(digest);
        let place = || self.blobs.place(&key);
        let bytes = self.blobs.read(&key, MAX_OBJECT)?.ok_or_else(|| StoreError::Missing { place: place() })?;
        let damaged = |what: String| StoreError::Damaged { place: place(), what };
        if Digest::compute(&bytes) != *digest {
            return Err(damaged("its content does not fit its name".to_owned()));
        }
        let profile = file::from_bytes(&bytes, Path::new(&place())).map_err(|error| damaged(error.to_string()))?;
        Ok((key, profile))
    }

    /// Verifies every record and every profile. Also returns the number of profiles without a record, which killed
    /// writers leave behind.
    ///
    /// # Errors
    /// Returns an error if the store cannot be listed or read.
    pub fn verify(&self) -> Result<(Listing, u64), StoreError> {
        let mut listing = self.records(None)?;
        let mut named: BTreeMap<String, bool> = BTreeMap::new();
        for recorded in &listing.records {
            named.insert(recorded.record.object.clone(), false);
        }
        let mut unnamed = 0;
        for key in self.blobs.list("objects")? {
            let place = self.blobs.place(&key);
            let Some(digest) = digest_of(&key, ".wlprof").filter(|digest| object_key(digest) == key) else {
                listing.problems.push(Problem { place, what: "its name is not the store's; remove it".to_owned() });
                continue;
            };
            match named.get_mut(&digest.to_string()) {
                Some(found) => *found = true,
                None => unnamed += 1,
            }
            match self.object(&digest) {
                Ok(_) => {}
                Err(StoreError::Damaged { place, what }) => {
                    let what = format!("damaged profile: {what}; remove it and record the profile again");
                    listing.problems.push(Problem { place, what });
                }
                Err(error) => return Err(error),
            }
        }
        for (object, _) in named.iter().filter(|(_, found)| !**found) {
            let place = Digest::parse(object).map_or(String::new(), |digest| self.blobs.place(&object_key(&digest)));
            let what = "is missing, and a record names it; record the profile again".to_owned();
            listing.problems.push(Problem { place, what });
        }
        Ok((listing, unnamed))
    }
}

/// Returns the bytes of a profile without data that differs between identical runs, so that commits without effect
/// share one object.
fn object_bytes(profile: &Profile) -> Vec<u8> {
    let mut profile = profile.clone();
    profile.run.environment = Environment::default();
    profile::file::to_bytes(&profile)
}

fn object_key(digest: &Digest) -> String {
    let digest = digest.to_string();
    format!("objects/{}/{digest}.wlprof", &digest[..2])
}

/// Returns the folder of a name: its printable part, and a part of its digest that distinguishes names.
fn record_folder(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let shown: String = name.chars().take(SHOWN).map(plain).collect();
    let digest = Digest::compute(name.as_bytes()).to_string();
    format!("records/{shown}-{}", &digest[..16])
}

fn record_key(name: &str, id: &Digest) -> String {
    format!("{}/{id}.json", record_folder(name))
}

fn digest_of(key: &str, suffix: &str) -> Option<Digest> {
    Digest::parse(key.rsplit('/').next()?.strip_suffix(suffix)?)
}
