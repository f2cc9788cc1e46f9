//! The kernel to predict, as a profile contains it: its addresses, one of its launches, and its measured figures.

use std::collections::BTreeMap;

use warpline_format::expression::{AddressExpression, Binary, ExpressionId, ExpressionKind};
use warpline_format::site_table::Op;

use super::changes::Origin;
use super::count::{Basis, SiteRequests};
use super::launch::Launch;
use super::site_access::Access;
use super::value::Lost;
use warpline_profile::Profile;
use warpline_profile::model::{self, Addresses, Allocation, Kernel, Site};

/// Reasons why a kernel cannot be predicted.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// The profile contains no expressions of the kernel.
    #[error(
        "{0} has no address expressions in this profile: build and run the program with this release, and give `predict` the profile of \
         one run, not a merged one"
    )]
    NoAddresses(String),
    /// No launch of the kernel was recorded separately.
    #[error("{0} has no launch with its arguments in this profile; `run --launches` chooses launches")]
    NoLaunch(String),
}

/// A kernel with a recorded launch as the starting point.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The address expressions of the kernel.
    pub addresses: &'a Addresses,
    /// The recorded launch.
    pub recorded: &'a model::Launch,
    /// The recorded launch in a form that can be evaluated.
    pub launch: Launch,
    /// Indexed by site of the addresses.
    pub accesses: Vec<Access>,
    /// Indexed by site of the addresses: its row in the profile.
    pub rows: Vec<Option<&'a Site>>,
    /// Indexed by site of the addresses: the number of its allocation.
    pub allocations: Vec<usize>,
    /// Indexed by site of the addresses: the number of the thread's point that the site belongs to; 0 if the code is
    /// not folded.
    pub copies: Vec<u32>,
    /// Indexed by number of an allocation.
    pub arrays: Vec<Array>,
    /// Rows of sites without an expression.
    pub others: Vec<&'a Site>,
    /// The launch's share of the kernel's figures, because rows are sums over all launches.
    pub share: f64,
}

/// An allocation that a kernel accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array {
    /// Names of the allocation and of the parameters that point to it.
    pub names: Vec<String>,
    /// Value of a parameter that points to it.
    pub base: Option<u64>,
    /// Bytes of the allocation.
    pub bytes: Option<u64>,
}

impl Array {
    /// Returns the first of its names.
    pub fn name(&self) -> String {
        self.names.first().cloned().unwrap_or_else(|| "an array without a name".to_owned())
    }
}

impl<'a> Subject<'a> {
    /// Selects the launch of a kernel with the most requests.
    ///
    /// # Errors
    /// [`SubjectError`].
    pub fn new(profile: &'a Profile, kernel: &'a Kernel) -> Result<Subject<'a>, SubjectError> {
        Subject::from_rows(kernel, &profile.sites, &profile.allocations)
    }

    /// Selects the launch of a kernel with the most requests; its rows and allocations are passed separately.
    ///
    /// # Errors
    /// [`SubjectError`].
    pub fn from_rows(
        kernel: &'a Kernel,
        sites: &'a [Site],
        rows_of_allocations: &'a [Allocation],
    ) -> Result<Subject<'a>, SubjectError> {
        let addresses = kernel.addresses.as_ref().ok_or_else(|| SubjectError::NoAddresses(kernel.name.clone()))?;
        let requests = |launch: &&model::Launch| launch.metrics.values().map(|metrics| metrics.requests).sum::<u64>();
        let known = |launch: &&model::Launch| !launch.arguments.is_empty() || addresses.parameters.is_empty();
        let recorded =
            kernel.launches.iter().filter(known).max_by_key(|launch| (requests(launch), u64::MAX - launch.id));
        let recorded = recorded.ok_or_else(|| SubjectError::NoLaunch(kernel.name.clone()))?;
        let arguments: BTreeMap<_, _> =
            recorded.arguments.iter().map(|one| ((one.parameter, one.offset), one.value)).collect();
        let launch = Launch::new(recorded.block, recorded.grid, arguments);
        let own = || sites.iter().filter(|site| site.kernel == kernel.id);
        let rows: Vec<Option<&Site>> =
            addresses.sites.iter().map(|site| own().find(|row| row.id == site.site)).collect();
        // A site that the run did not reach has no row, but other shapes and sizes may reach it.
        let access = |(site, row): (&AddressExpression, &Option<&Site>)| {
            let known = |op: &str, space: &str, bytes, past_l1| Access {
                bytes,
                shared: space == "shared",
                past_l1,
                op: operation(op),
            };
            if let Some(row) = row {
                return known(&row.op, &row.space, row.bytes, row.past_l1);
            }
            let unreached = addresses.unreached.iter().find(|one| one.site == site.site);
            unreached.map_or(Access { bytes: 4, shared: false, past_l1: false, op: None }, |one| {
                known(&one.op, &one.space, one.bytes, one.past_l1)
            })
        };
        let others = own().filter(|row| !addresses.sites.iter().any(|site| site.site == row.id)).collect();
        let all: u64 = kernel.metrics.values().map(|metrics| metrics.requests).sum();
        let mut roots: Vec<Root> = Vec::new();
        let allocations: Vec<usize> = addresses
            .sites
            .iter()
            .map(|site| {
                let root = root(addresses, recorded, site.address);
                roots.iter().position(|known| *known == root).unwrap_or_else(|| {
                    roots.push(root);
                    roots.len() - 1
                })
            })
            .collect();
        let arrays = roots.iter().map(|root| array(rows_of_allocations, addresses, recorded, *root)).collect();
        Ok(Subject {
            kernel,
            addresses,
            recorded,
            launch,
            accesses: addresses.sites.iter().zip(&rows).map(access).collect(),
            rows,
            copies: vec![0; addresses.sites.len()],
            allocations,
            arrays,
            others,
            share: if all == 0 { 0.0 } else { requests(&recorded) as f64 / all as f64 },
        })
    }

    /// Returns the source line of a site; 0 if unknown.
    pub fn line(&self, number: usize) -> u32 {
        if let Some(row) = self.rows[number] {
            return row.line;
        }
        let site = self.addresses.sites[number].site;
        self.addresses.unreached.iter().find(|one| one.site == site).map_or(0, |one| one.line)
    }

    /// Returns whether a launch makes (or may make) requests at a site about which too little is known: the run did not
    /// reach it, and its operation or address is unknown.
    pub fn is_unknown(&self, number: usize, counted: &SiteRequests) -> bool {
        match counted.basis {
            Basis::Lost(Lost::Code(..)) => self.rows[number].is_none(),
            Basis::Lost(_) => false,
            _ => self.accesses[number].op.is_none() && counted.requests.requests > 0.0,
        }
    }

    /// Returns the name of a parameter, or `parameter n`.
    pub fn parameter_name(&self, parameter: u32, offset: u32) -> String {
        let found = self.addresses.parameters.iter().find(|one| one.number == parameter && one.offset == offset);
        found.and_then(|one| one.name.clone()).unwrap_or_else(|| match offset {
            0 => format!("parameter {parameter}"),
            _ => format!("byte {offset} of parameter {parameter}"),
        })
    }

    /// Returns the subject with other expressions. `origins` maps their sites to the sites of this subject.
    pub fn with<'b>(&'b self, addresses: &'b Addresses, origins: &[Origin]) -> Subject<'b> {
        let access = |one: &Origin| {
            let before = self.accesses[one.site];
            Access { bytes: one.bytes.unwrap_or(before.bytes), ..before }
        };
        Subject {
            addresses,
            launch: self.launch.clone(),
            accesses: origins.iter().map(access).collect(),
            rows: origins.iter().map(|one| self.rows[one.site]).collect(),
            allocations: origins.iter().map(|one| self.allocations[one.site]).collect(),
            copies: origins.iter().map(|one| one.copy).collect(),
            arrays: self.arrays.clone(),
            others: self.others.clone(),
            ..*self
        }
    }

    /// Returns whether a parameter is not a pointer to an allocation.
    pub fn is_number(&self, parameter: &model::Parameter) -> bool {
        let same = |one: &&model::Argument| (one.parameter, one.offset) == (parameter.number, parameter.offset);
        self.recorded.arguments.iter().find(same).is_none_or(|one| one.allocation.is_none())
    }

    /// Returns the number of the array with a name, which may be the name of its allocation or of a parameter.
    pub fn array(&self, name: &str) -> Option<usize> {
        self.arrays.iter().position(|array| array.names.iter().any(|known| known == name))
    }

    /// Returns the kernel parameter with a name if there is only one.
    pub fn parameter(&self, name: &str) -> Option<&'a model::Parameter> {
        self.addresses.parameters.iter().find(|one| one.name.as_deref() == Some(name))
    }
}

/// Returns the operation with a name in a profile.
fn operation(name: &str) -> Option<Op> {
    match name {
        "load" => Some(Op::Load),
        "store" => Some(Op::Store),
        "atomic" => Some(Op::Atomic),
        _ => None,
    }
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Allocation(u64),
    Parameter(u32, u32),
    Unknown,
}

/// Collects the known properties of an allocation.
fn array(rows: &[Allocation], addresses: &Addresses, launch: &model::Launch, root: Root) -> Array {
    let leads = |one: &&model::Argument| match root {
        Root::Allocation(id) => one.allocation == Some(id),
        Root::Parameter(parameter, offset) => (one.parameter, one.offset) == (parameter, offset),
        Root::Unknown => false,
    };
    let row = match root {
        Root::Allocation(id) => rows.iter().find(|row| row.id == id),
        _ => None,
    };
    let name = |one: &model::Argument| {
        let same = |known: &&model::Parameter| (known.number, known.offset) == (one.parameter, one.offset);
        addresses.parameters.iter().find(same).and_then(|known| known.name.clone())
    };
    let variable = match root {
        Root::Allocation(id) => addresses.globals.iter().find(|one| one.allocation == id).map(|one| one.address),
        _ => None,
    };
    let arguments = || launch.arguments.iter().filter(leads);
    let mut names: Vec<String> =
        row.and_then(|row| row.name.clone()).into_iter().chain(arguments().filter_map(name)).collect();
    names.dedup();
    // A row may represent several allocations and contain the sum of their bytes.
    let bytes = row.map(|row| row.bytes / row.count.max(1));
    Array { names, base: arguments().map(|one| one.value).min().or(variable), bytes }
}

/// Returns the pointer that an address is based on.
fn root(addresses: &Addresses, launch: &model::Launch, id: ExpressionId) -> Root {
    let mut seen = vec![false; id as usize + 1];
    let mut work = vec![id];
    let mut found = Root::Unknown;
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id as usize], true) || addresses.expressions[id as usize].bits != 64 {
            continue;
        }
        match addresses.expressions[id as usize].kind {
            ExpressionKind::Parameter { parameter, offset } => {
                let argument = launch.arguments.iter().find(|one| (one.parameter, one.offset) == (parameter, offset));
                match argument.and_then(|one| one.allocation) {
                    Some(allocation) => return Root::Allocation(allocation),
                    None => found = Root::Parameter(parameter, offset),
                }
            }
            ExpressionKind::Global(number) => {
                if let Some(variable) = addresses.globals.iter().find(|one| one.number == number) {
                    return Root::Allocation(variable.allocation);
                }
            }
            ExpressionKind::Binary(Binary::Sum | Binary::Difference, left, right) => work.extend([right, left]),
            ExpressionKind::Choice(_, one, other) => work.extend([other, one]),
            ExpressionKind::Signed(of) => work.push(of),
            _ => {}
        }
    }
    found
}
