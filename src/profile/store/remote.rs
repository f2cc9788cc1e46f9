//! A store in an object store: S3 and compatible services.

use std::io::Error;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};
use tokio::runtime::{Builder, Runtime};

use super::{Blobs, StoreError};

/// Storage of objects below a prefix. An object is visible only when it is complete.
pub struct Remote {
    objects: Arc<dyn ObjectStore>,
    /// Address in messages.
    address: String,
    prefix: Path,
    runtime: Runtime,
}

impl Remote {
    /// Returns the storage at an address such as `s3://bucket/prefix`. Keys and region are read from the same
    /// environment variables as in the service's tools (`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT`, …).
    ///
    /// # Errors
    /// Returns an error if the address does not belong to a supported service.
    pub fn at(address: &str) -> Result<Remote, StoreError> {
        let unfit = |error: &dyn std::fmt::Display| StoreError::Unfit(format!("{address}: is no store: {error}"));
        let url = url::Url::parse(address).map_err(|error| unfit(&error))?;
        let variables = std::env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (objects, prefix) = object_store::parse_url_opts(&url, variables).map_err(|error| unfit(&error))?;
        Remote::new(Arc::from(objects), prefix, address)
    }

    /// Returns the storage below a prefix of an object store.
    ///
    /// # Errors
    /// Returns an error if the prefix is invalid, or if the system cannot provide the resources for
    /// asynchronous requests.
    pub fn over(objects: Arc<dyn ObjectStore>, prefix: &str) -> Result<Remote, StoreError> {
        let path = Path::parse(prefix).map_err(|error| StoreError::Unfit(format!("{prefix}: {error}")))?;
        Remote::new(objects, path, prefix)
    }

    fn new(objects: Arc<dyn ObjectStore>, prefix: Path, address: &str) -> Result<Remote, StoreError> {
        let address = address.trim_end_matches('/').to_owned();
        let failed = |error| StoreError::Io { place: address.clone(), what: "read", error };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        Ok(Remote { objects, address, prefix, runtime })
    }

    fn path(&self, key: &str) -> Path {
        key.split('/').filter(|part| !part.is_empty()).fold(self.prefix.clone(), |path, part| path.join(part))
    }

    fn failed(&self, what: &'static str, key: &str, error: object_store::Error) -> StoreError {
        StoreError::Io { place: self.place(key), what, error: Error::other(error) }
    }
}

impl Blobs for Remote {
    fn read(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(key);
        let read = async {
            let found = match self.objects.get(&path).await {
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                found => found.map_err(|error| self.failed("read", key, error))?,
            };
            if found.meta.size > most {
                let error = Error::other(format!("larger than {} MiB", most >> 20));
                return Err(StoreError::Io { place: self.place(key), what: "read", error });
            }
            let bytes = found.bytes().await.map_err(|error| self.failed("read", key, error))?;
            Ok(Some(bytes.to_vec()))
        };
        self.runtime.block_on(read)
    }

    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(key);
        let written = self.runtime.block_on(self.objects.put(&path, PutPayload::from(bytes.to_vec())));
        written.map(drop).map_err(|error| self.failed("write", key, error))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let path = self.path(prefix);
        let found: Result<Vec<_>, _> = self.runtime.block_on(self.objects.list(Some(&path)).try_collect());
        let found = found.map_err(|error| self.failed("list", prefix, error))?;
        let key = |location: &Path| {
            let parts = location.prefix_match(&self.prefix)?;
            Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
        };
        let mut keys: Vec<String> = found.iter().filter_map(|object| key(&object.location)).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    fn is_empty(&self) -> Result<bool, StoreError> {
        let first = self.runtime.block_on(self.objects.list(Some(&self.prefix)).try_next());
        first.map(|object| object.is_none()).map_err(|error| self.failed("list", "", error))
    }

    fn place(&self, key: &str) -> String {
        format!("{}/{key}", self.address)
    }
}
