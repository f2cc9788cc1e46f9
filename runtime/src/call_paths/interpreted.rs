//! Call paths of interpreted programs. The interpreter's own stack does not show the program's frames. Therefore, the
//! caller (Warpline's Python package) passes the frames of the language before it launches or registers something.

use std::cell::RefCell;
use warpline_format::event::InterpretedFrame;

thread_local! {
    static CURRENT: RefCell<Vec<InterpretedFrame>> = const { RefCell::new(Vec::new()) };
}

/// The separator between the fields of a frame's line, which does not occur in any name of a function or file.
const FIELD: char = '\u{1f}';

/// Sets the thread's path. Each line is a frame, innermost first, with function, file and line number. Empty text
/// removes the path.
pub fn set(text: &str) {
    let frames = text.lines().filter_map(frame).collect();
    // Threads that are ending have no path.
    _ = CURRENT.try_with(|current| current.replace(frames));
}

/// Returns the thread's path, innermost first; it is empty if no path is set.
pub fn current() -> Vec<InterpretedFrame> {
    CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
}

fn frame(text: &str) -> Option<InterpretedFrame> {
    let mut fields = text.split(FIELD);
    let (function, file, line) = (fields.next()?, fields.next()?, fields.next()?);
    Some(InterpretedFrame { function: function.to_owned(), file: file.to_owned(), line: line.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_and_taken_away() {
        set("inner\u{1f}/a b.py\u{1f}3\n<module>\u{1f}/a b.py\u{1f}9\nbroken\u{1f}x\n");
        let found = current();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], InterpretedFrame { function: "<module>".into(), file: "/a b.py".into(), line: 9 });
        set("");
        assert!(current().is_empty());
    }
}
