//! The name of a thread's next allocation. Hooked host code sets it before it allocates.

use std::cell::{Cell, RefCell};
use warpline_format::hooks::{NAME_OF_STORAGE, WEAK_NAME};

/// An object whose code currently runs.
struct Holder {
    /// `None` if the object has no name.
    name: Option<String>,
    /// Whether allocations belong to elements of the object.
    has_elements: bool,
}

thread_local! {
    static NAME: Cell<Option<String>> = const { Cell::new(None) };
    static HOLDERS: RefCell<Vec<Holder>> = const { RefCell::new(Vec::new()) };
}

/// Sets the name of the thread's next allocation. Destructors of static objects may allocate after the thread's local
/// variables have been destroyed; their allocations have no name.
pub fn set_name(name: Option<String>) {
    _ = NAME.try_with(|place| place.set(name));
}

/// Returns the name and clears it.
pub fn take_name() -> Option<String> {
    NAME.try_with(Cell::take).unwrap_or_default()
}

/// Enters an object that allocates from now on; a name such as `.field` is a part of the previous object. Returns the
/// argument for [`leave`], which is the previous number of objects.
pub fn enter(name: Option<&str>, has_elements: bool) -> usize {
    let enter = |holders: &RefCell<Vec<Holder>>| {
        // If a signal handler allocates while this thread does, its memory has no name.
        let Ok(mut holders) = holders.try_borrow_mut() else { return 0 };
        let name = name.map(|name| match holders.last() {
            Some(outer) if name.starts_with('.') => part(outer, name, false).unwrap_or_else(|| name[1..].to_owned()),
            _ => name.strip_prefix('.').unwrap_or(name).to_owned(),
        });
        holders.push(Holder { name, has_elements });
        holders.len() - 1
    };
    HOLDERS.try_with(enter).unwrap_or_default()
}

/// Leaves objects until `depth` objects remain. This also removes objects that an exception left without a call of this
/// function.
pub fn leave(depth: usize) {
    let leave = |holders: &RefCell<Vec<Holder>>| {
        if let Ok(mut holders) = holders.try_borrow_mut() {
            holders.truncate(depth);
        }
    };
    _ = HOLDERS.try_with(leave);
}

/// Sets the name of the thread's next allocation: the name of the object that allocates, followed by `suffix`, or
/// `alone` if the object has no name. `flags` are [`NAME_OF_STORAGE`] and [`WEAK_NAME`].
pub fn set_member(suffix: Option<&str>, alone: &str, flags: u32) {
    if flags & WEAK_NAME != 0
        && let Some(name) = take_name()
    {
        return set_name(Some(name));
    }
    let name = |holders: &RefCell<Vec<Holder>>| {
        let holders = holders.try_borrow().ok()?;
        part(holders.last()?, suffix?, flags & NAME_OF_STORAGE != 0)
    };
    let name = HOLDERS.try_with(name).ok().flatten();
    set_name(name.or_else(|| (!alone.is_empty()).then(|| alone.to_owned())));
}

fn part(holder: &Holder, suffix: &str, is_storage: bool) -> Option<String> {
    let elements = if holder.has_elements && !is_storage { "[]" } else { "" };
    holder.name.as_ref().map(|name| format!("{name}{elements}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(suffix: &str, alone: &str, is_storage: bool) -> Option<String> {
        set_member(Some(suffix), alone, if is_storage { NAME_OF_STORAGE } else { 0 });
        take_name()
    }

    #[test]
    fn members_belong_to_the_innermost_object() {
        assert_eq!(member(".weights", "weights", false).as_deref(), Some("weights"));
        let outer = enter(Some("net.layers"), true);
        assert_eq!(member(".weights", "weights", false).as_deref(), Some("net.layers[].weights"));
        assert_eq!(member("", "p", true).as_deref(), Some("net.layers"));
        let inner = enter(Some(".scratch"), false);
        assert_eq!(member("", "ptr_", false).as_deref(), Some("net.layers[].scratch"));
        let unknown = enter(None, false);
        assert_eq!(member("", "ptr_", false).as_deref(), Some("ptr_"));
        assert_eq!(member("", "", false), None);
        // An exception skipped the innermost `leave`.
        leave(inner);
        assert!(unknown > inner);
        assert_eq!(member("", "ptr_", false).as_deref(), Some("net.layers[]"));
        leave(outer);
        assert_eq!(member("", "ptr_", false).as_deref(), Some("ptr_"));
    }

    #[test]
    fn callers_know_better() {
        set_member(None, "fresh", WEAK_NAME);
        assert_eq!(take_name().as_deref(), Some("fresh"));
        set_name(Some("d_a".into()));
        set_member(None, "fresh", WEAK_NAME);
        assert_eq!(take_name().as_deref(), Some("d_a"));
        set_name(Some("d_a".into()));
        set_member(None, "fresh", 0);
        assert_eq!(take_name().as_deref(), Some("fresh"));
    }

    #[test]
    fn names_are_taken_once() {
        set_name(Some("a".into()));
        assert_eq!((take_name().as_deref(), take_name()), (Some("a"), None));
    }
}
