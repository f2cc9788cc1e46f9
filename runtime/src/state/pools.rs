//! Memory pools of stream-ordered allocation. Memory is allocated and freed immediately, so a pool has no reserve. Its
//! state consists only of its attributes and the amount of memory in use.

use crate::cuda::error::{self, Error};
use crate::memory::registry::Registry;
use std::collections::{BTreeMap, HashMap};
use warpline_format::event::AllocationKind;

/// `cudaMemPoolAttr`, each group given by its first and last value: three switches, the release threshold, and the
/// counters.
const SWITCHES: std::ops::RangeInclusive<i32> = 1..=3;
const THRESHOLD: i32 = 4;
const NOW: [i32; 2] = [5, 7];
const HIGHEST: [i32; 2] = [6, 8];

/// The value of an attribute, with the same width as in CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `int`.
    Switch(i32),
    /// `cuuint64_t`.
    Bytes(u64),
}

#[derive(Clone, Debug)]
struct Pool {
    switches: [i32; 3],
    threshold: u64,
    highest: u64,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { switches: [1; 3], threshold: 0, highest: 0 }
    }
}

/// All pools. The device's default pool exists from the start.
#[derive(Debug)]
pub struct Pools {
    pools: BTreeMap<usize, Pool>,
    current: usize,
    /// The pool of each allocation, by the allocation's address. Allocations from the default pool are not listed.
    members: HashMap<u64, usize>,
    created: usize,
}

impl Default for Pools {
    fn default() -> Pools {
        Pools {
            pools: BTreeMap::from([(Pools::OWN, Pool::default())]),
            current: Pools::OWN,
            members: HashMap::new(),
            created: 0,
        }
    }
}

impl Pools {
    /// The handle of the default pool. Handles have the form of pointers.
    pub const OWN: usize = 0x5771_0000_0000;

    /// Creates a pool.
    pub fn create(&mut self) -> usize {
        self.created += 1;
        let handle = Pools::OWN + self.created * 64;
        self.pools.insert(handle, Pool::default());
        handle
    }

    /// Destroys a pool that the program created. If it was the device's current pool, the default pool becomes the
    /// current one.
    pub fn destroy(&mut self, handle: usize) -> Result<(), Error> {
        if handle == Pools::OWN || self.pools.remove(&handle).is_none() {
            return Err(error::INVALID_VALUE);
        }
        if self.current == handle {
            self.current = Pools::OWN;
        }
        Ok(())
    }

    /// Returns an error if a handle is not a pool.
    pub fn check(&self, handle: usize) -> Result<(), Error> {
        if self.pools.contains_key(&handle) { Ok(()) } else { Err(error::INVALID_VALUE) }
    }

    /// Returns the pool from which `cudaMallocAsync` allocates.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Sets the pool from which `cudaMallocAsync` allocates.
    pub fn set_current(&mut self, handle: usize) -> Result<(), Error> {
        self.check(handle)?;
        self.current = handle;
        Ok(())
    }

    /// Records an allocation from a pool.
    pub fn gave(&mut self, handle: usize, address: u64, registry: &Registry) {
        match handle {
            Pools::OWN => self.members.remove(&address),
            _ => self.members.insert(address, handle),
        };
        let used = self.used(handle, registry);
        if let Some(pool) = self.pools.get_mut(&handle) {
            pool.highest = pool.highest.max(used);
        }
    }

    /// Returns the number of bytes in use in a pool.
    fn used(&self, handle: usize, registry: &Registry) -> u64 {
        let own = |address: u64| self.members.get(&address).copied().unwrap_or(Pools::OWN) == handle;
        let live = registry.iter().filter(|live| live.kind == AllocationKind::Async && own(live.start()));
        live.map(|live| live.bytes).sum()
    }

    /// Returns an attribute.
    pub fn attribute(&self, handle: usize, which: i32, registry: &Registry) -> Result<Value, Error> {
        let pool = self.pools.get(&handle).ok_or(error::INVALID_VALUE)?;
        Ok(match which {
            _ if SWITCHES.contains(&which) => Value::Switch(pool.switches[which as usize - 1]),
            THRESHOLD => Value::Bytes(pool.threshold),
            _ if NOW.contains(&which) => Value::Bytes(self.used(handle, registry)),
            _ if HIGHEST.contains(&which) => Value::Bytes(pool.highest),
            _ => return Err(error::INVALID_VALUE),
        })
    }

    /// Returns the form of an attribute that may be set, with an arbitrary value.
    pub fn form(which: i32) -> Result<Value, Error> {
        match which {
            _ if SWITCHES.contains(&which) => Ok(Value::Switch(0)),
            _ if which == THRESHOLD || HIGHEST.contains(&which) => Ok(Value::Bytes(0)),
            _ => Err(error::INVALID_VALUE),
        }
    }

    /// Sets an attribute. The highest use can only be reset to zero; it then rises to the current use.
    pub fn set_attribute(&mut self, handle: usize, which: i32, value: Value, registry: &Registry) -> Result<(), Error> {
        let used = self.used(handle, registry);
        let pool = self.pools.get_mut(&handle).ok_or(error::INVALID_VALUE)?;
        match value {
            Value::Switch(value) if SWITCHES.contains(&which) => pool.switches[which as usize - 1] = value,
            Value::Bytes(value) if which == THRESHOLD => pool.threshold = value,
            Value::Bytes(0) if HIGHEST.contains(&which) => pool.highest = used,
            _ => return Err(error::INVALID_VALUE),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_known_until_destroyed() {
        let mut pools = Pools::default();
        let pool = pools.create();
        assert_ne!(pool, Pools::OWN);
        pools.set_current(pool).unwrap();
        assert_eq!(pools.destroy(pool), Ok(()));
        assert_eq!(pools.current(), Pools::OWN);
        assert_eq!(pools.destroy(pool), Err(error::INVALID_VALUE));
        assert_eq!(pools.destroy(Pools::OWN), Err(error::INVALID_VALUE));
        assert_eq!(pools.set_current(pool), Err(error::INVALID_VALUE));
    }

    #[test]
    fn attributes_keep_their_width() {
        let (mut pools, registry) = (Pools::default(), Registry::default());
        let own = Pools::OWN;
        assert_eq!(pools.attribute(own, 1, &registry), Ok(Value::Switch(1)));
        pools.set_attribute(own, 2, Value::Switch(0), &registry).unwrap();
        assert_eq!(pools.attribute(own, 2, &registry), Ok(Value::Switch(0)));
        pools.set_attribute(own, 4, Value::Bytes(u64::MAX), &registry).unwrap();
        assert_eq!(pools.attribute(own, 4, &registry), Ok(Value::Bytes(u64::MAX)));
        assert!(pools.set_attribute(own, 7, Value::Bytes(0), &registry).is_err());
        assert!(pools.set_attribute(own, 8, Value::Bytes(5), &registry).is_err());
        assert!(pools.attribute(own, 9, &registry).is_err() && pools.attribute(own, 0, &registry).is_err());
        assert_eq!(Pools::form(4), Ok(Value::Bytes(0)));
        assert!(Pools::form(5).is_err());
    }
}
