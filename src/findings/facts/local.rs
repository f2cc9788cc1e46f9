//! Variables of a thread in local memory: the functions that access them, and the indices in their source lines.

use super::super::prelude::*;
use super::super::thresholds::atomics::MOST_SHARED_BYTES;
use super::super::thresholds::local_memory::*;
use super::source::{follows, has_name, is_declared, line_of, lines_of, subscripted_names, subscripts};
use std::collections::{BTreeMap, BTreeSet};

/// A variable of a kernel's threads in local memory.
pub struct LocalVariable<'f, 'a> {
    facts: &'f Facts<'a>,
    pub kernel: &'a Kernel,
    pub name: &'f str,
    pub accesses: Vec<&'f Access<'a>>,
    /// Function that is not inlined and accesses the variable.
    function: Option<Function>,
    /// The only function that accesses such variables of the kernel, if it is unique. It may use a different name for
    /// this variable.
    only_function: Option<String>,
    /// Whether no function that is not inlined accesses any variable of the kernel.
    pub all_inlined: bool,
}

/// A function that is not inlined and accesses a variable of its caller.
struct Function {
    /// Name of the function without its parameters.
    name: String,
    /// Whether no other function accesses the variable under this name: the name is `this` or a parameter.
    only_there: bool,
}

/// Returns the local-memory variables of all kernels, except those that belong to libraries and kernel launches.
pub fn local_variables<'f, 'a>(facts: &'f Facts<'a>) -> Vec<LocalVariable<'f, 'a>> {
    let mut groups: BTreeMap<(u32, &str), Vec<&Access<'_>>> = BTreeMap::new();
    let is_launch = |access: &Access<'_>| line_of(facts, access).is_some_and(|text| text.contains("<<<"));
    let is_own = |access: &&Access<'_>| access.space == "local" && !access.in_library && !is_launch(access);
    for access in facts.accesses.iter().filter(is_own) {
        if let Some(name) = access.variable() {
            groups.entry((access.kernel.id, name)).or_default().push(access);
        }
    }
    let mut functions: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    let mut all = Vec::new();
    for ((id, name), accesses) in groups {
        let Some(kernel) = accesses.first().map(|access| access.kernel) else { continue };
        let mut variable =
            LocalVariable { facts, kernel, name, accesses, function: None, only_function: None, all_inlined: false };
        variable.function = variable.own_function();
        functions.entry(id).or_default().extend(variable.function.as_ref().map(|function| function.name.clone()));
        all.push(variable);
    }
    for variable in &mut all {
        let names = &functions[&variable.kernel.id];
        variable.all_inlined = names.is_empty();
        variable.only_function = names.first().filter(|_| names.len() == 1).cloned();
    }
    all
}

impl<'f> LocalVariable<'f, '_> {
    /// Returns the function that is not inlined and accesses the variable from outside of the kernel's code.
    fn own_function(&self) -> Option<Function> {
        let first = self.accesses.first()?;
        let outer = |site: &Site| {
            let function = site.inlined_at.last().map_or(&site.leaf.function, |frame| &frame.function);
            (*function != self.kernel.name).then(|| function.clone())
        };
        let all: Vec<Option<String>> = self.sites().map(outer).collect();
        let function = all.iter().flatten().next()?.clone();
        let only_there = all.iter().all(Option::is_some);
        // An array of the function itself does not belong to the caller.
        let takes_pointers = function.split_once('(').is_some_and(|(_, types)| types.contains(['*', '&']));
        let declares = |text: &String| is_declared(text, self.name) && text.trim_end().ends_with(';');
        let is_own = lines_of(self.facts, first.file).is_some_and(|lines| lines.values().any(declares));
        let plain = function.split(['(', '<']).next().unwrap_or(&function);
        let name = plain.rsplit([':', ' ']).next().unwrap_or(plain).to_owned();
        let is_passed = !only_there || self.name == "this" || takes_pointers && !is_own;
        is_passed.then_some(Function { name, only_there })
    }

    /// Returns the function that requires the variable in memory, if unrolling has made all its indices constants.
    pub fn function(&self) -> Option<&str> {
        let name = self.function.as_ref().map(|function| &function.name).or(self.only_function.as_ref())?;
        (!self.is_computed() && self.are_unrolled()).then_some(name)
    }

    /// Returns whether the name is a function's parameter for a variable of its caller.
    pub fn is_parameter(&self) -> bool {
        self.function.as_ref().is_some_and(|function| function.only_there)
    }

    fn sites(&self) -> impl Iterator<Item = &Site> {
        let is_variable =
            |site: &Site| site.operand.as_ref().is_some_and(|operand| operand.variable.as_deref() == Some(self.name));
        let sites = self.facts.profile.sites.iter();
        sites.filter(move |site| site.kernel == self.kernel.id && site.space == "local" && is_variable(site))
    }

    /// Returns whether data or the thread index selects an element.
    fn is_computed(&self) -> bool {
        self.accesses.iter().any(|access| is_computed(access))
    }

    /// Returns whether the access's line indexes the variable with a named value, and does not declare the variable.
    fn is_indexed_by_name(&self, access: &Access<'_>) -> bool {
        line_of(self.facts, access)
            .is_some_and(|text| !is_declared(text, self.name) && subscripts(text, self.name).any(has_name))
    }

    /// Returns whether most of the lines with such an index have a site for each element, or access several elements at
    /// once.
    fn are_unrolled(&self) -> bool {
        let named: Vec<&&Access<'_>> = self.accesses.iter().filter(|access| self.is_indexed_by_name(access)).collect();
        let is_unrolled = |access: &&&&Access<'_>| {
            let there =
                |site: &&Site| (site.line, &site.op[..], &site.file[..]) == (access.line, access.op, access.file);
            let sites: Vec<&Site> = self.sites().filter(there).collect();
            sites.len() > 1 || sites.iter().any(|site| site.bytes >= WIDEST_ACCESS)
        };
        named.is_empty() || 2 * named.iter().filter(is_unrolled).count() > named.len()
    }

    /// Returns the access to change. Accesses with a computed index are preferred, because the initialisation of an
    /// array is executed often as well.
    pub fn worst(&self) -> Option<&'f Access<'_>> {
        let key = |access: &&&Access<'_>| {
            let place = std::cmp::Reverse((access.line, access.column));
            (is_computed(access), self.is_indexed_by_name(access), access.sums.requests, place)
        };
        self.accesses.iter().max_by_key(key).copied()
    }

    /// Returns whether the variable is a structure or a single value, and not an array.
    pub fn is_object(&self) -> bool {
        let is_structure = |access: &&Access<'_>| access.operand.is_some_and(|operand| operand.structure.is_some());
        !self.is_computed() && (self.accesses.iter().all(is_structure) || !self.is_array())
    }

    /// Returns whether a source line indexes or declares the variable with brackets.
    fn is_array(&self) -> bool {
        let has = |sign: &str| {
            let mut own = self.accesses.iter().filter_map(|access| line_of(self.facts, access));
            own.any(|text| follows(text, self.name, sign))
        };
        // If the source is unavailable, the variable may be an array.
        let mut lines = self.lines_of_files().peekable();
        has("[")
            || !has("->") && !has(".") && (lines.peek().is_none() || lines.any(|text| follows(text, self.name, "[")))
    }

    /// Returns the known lines of the files that access the variable.
    fn lines_of_files(&self) -> impl Iterator<Item = &String> {
        let files: BTreeSet<&str> = self.accesses.iter().map(|access| access.file).collect();
        files.into_iter().filter_map(|file| lines_of(self.facts, file)).flat_map(BTreeMap::values)
    }

    /// Returns the arrays within the object that its lines index with a named value.
    pub fn indexed_members(&self) -> BTreeSet<String> {
        let mut members = BTreeSet::new();
        for access in &self.accesses {
            let Some(text) = line_of(self.facts, access) else { continue };
            let member = access.operand.and_then(|operand| operand.member.as_deref());
            let names: Vec<&str> = match member {
                Some(member) => {
                    member.strip_suffix("[]").and_then(|name| name.rsplit(['.', ']']).next()).into_iter().collect()
                }
                None => subscripted_names(text).filter(|name| self.is_member(name, access)).collect(),
            };
            let is_indexed = |name: &&str| !name.is_empty() && subscripts(text, name).any(has_name);
            members.extend(names.into_iter().filter(is_indexed).map(str::to_owned));
        }
        members
    }

    /// Returns whether a name belongs to a member of the object, if the compiler has kept no member names. Either the
    /// source selects the name from the object, or a member function accesses nothing else on this line.
    fn is_member(&self, name: &str, access: &Access<'_>) -> bool {
        let selected = [format!("{}.{name}", self.name), format!("{}->{name}", self.name)];
        let is_selected = |text: &String| selected.iter().any(|member| follows(text, member, "["));
        let function = access.innermost.split('(').next().unwrap_or_default();
        let is_method = function.contains("::") && access.innermost != self.kernel.name;
        let is_other = |other: &Access<'_>| {
            other.space != "local"
                && (other.kernel.id, other.file, other.line) == (access.kernel.id, access.file, access.line)
        };
        self.lines_of_files().any(is_selected) || is_method && !self.facts.accesses.iter().any(is_other)
    }

    /// Returns the bytes of shared memory that are available per thread of a block, and the threads per block.
    pub fn column(&self) -> (u64, u64) {
        let threads = block_of(self.kernel).map_or(1, product).max(1);
        (MOST_SHARED_BYTES / threads, threads)
    }
}

fn is_computed(access: &Access<'_>) -> bool {
    access.operand.is_some_and(|operand| {
        operand.loaded_index || operand.thread_steps.iter().any(|step| *step != ThreadStep::None)
    })
}
