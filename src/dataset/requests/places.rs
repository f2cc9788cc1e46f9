//! Maps the numbers in a trace to the names in a profile.

use rustc_hash::FxHashMap;

use crate::Run;

/// Names of kernels, instructions and allocations.
pub(super) struct Places<'a> {
    pub(super) run: &'a str,
    /// Name and mangled name, by number of the kernel.
    kernels: FxHashMap<u32, (&'a str, &'a str)>,
    /// File and line, by kernel and site.
    sites: FxHashMap<(u32, u32), (&'a str, u32)>,
    allocations: FxHashMap<u64, &'a str>,
}

impl<'a> Places<'a> {
    pub(super) fn new(run: &'a Run<'a>) -> Places<'a> {
        let profile = run.profile;
        let allocations = profile.allocations.iter().filter_map(|one| Some((one.id, one.name.as_deref()?)));
        Places {
            run: &run.name,
            kernels: profile
                .kernels
                .iter()
                .map(|kernel| (kernel.id, (&kernel.name[..], &kernel.mangled[..])))
                .collect(),
            sites: profile.sites.iter().map(|site| ((site.kernel, site.id), (&site.file[..], site.line))).collect(),
            allocations: allocations.collect(),
        }
    }

    /// Returns the name of a kernel if the profile contains it under this number.
    pub(super) fn kernel(&self, number: u32, mangled: &str) -> Option<&'a str> {
        self.kernels.get(&number).filter(|(_, known)| *known == mangled).map(|(name, _)| *name)
    }

    /// Returns the file and the line of a memory instruction; empty if the profile does not contain it.
    pub(super) fn site(&self, kernel: u32, site: u32) -> (&'a str, u32) {
        self.sites.get(&(kernel, site)).copied().unwrap_or_default()
    }

    pub(super) fn allocation(&self, id: u64) -> Option<&'a str> {
        self.allocations.get(&id).copied()
    }
}
