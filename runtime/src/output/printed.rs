//! What kernels print until the program waits for the device: as much as the device's buffer holds.

use std::collections::VecDeque;

/// Output that waits. Of one launch it is bounded as on a GPU: when its calls have filled the buffer, the oldest ones
/// of the same launch make room.
#[derive(Debug, Default)]
pub struct Printed {
    text: VecDeque<u8>,
    /// Length of the text of earlier launches, which the GPU would have fetched before the next one.
    settled: usize,
    /// Calls of the running launch: length of the text, bytes of the buffer.
    calls: VecDeque<(usize, u64)>,
    /// Bytes of the buffer in use.
    used: u64,
    /// Calls of the running launch whose text is lost.
    lost: u64,
}

impl Printed {
    /// Adds what one call printed, which takes this many bytes of a buffer with `limit` bytes.
    pub fn add(&mut self, text: &[u8], bytes: u64, limit: u64) {
        self.text.extend(text);
        self.calls.push_back((text.len(), bytes));
        self.used += bytes;
        while self.used > limit
            && let Some((length, bytes)) = self.calls.pop_front()
        {
            self.text.drain(self.settled..self.settled + length);
            self.used -= bytes;
            self.lost += 1;
        }
    }

    /// The launch has ended: returns how many of its calls were lost.
    pub fn end_launch(&mut self) -> u64 {
        self.settled = self.text.len();
        self.calls.clear();
        self.used = 0;
        std::mem::take(&mut self.lost)
    }

    /// Bytes of text that wait.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Writes what has been collected through C's standard output, so that it keeps its place among what the program
    /// prints itself.
    pub fn flush(&mut self) {
        unsafe extern "C" {
            static stdout: *mut libc::FILE;
        }
        for part in <[&[u8]; 2]>::from(self.text.as_slices()) {
            if !part.is_empty() {
                // SAFETY: the stream is C's own, and the bytes are the queue's.
                unsafe { libc::fwrite(part.as_ptr().cast(), 1, part.len(), stdout) };
            }
        }
        self.text.clear();
        self.settled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(printed: &Printed) -> String {
        String::from_utf8(printed.text.iter().copied().collect()).unwrap()
    }

    #[test]
    fn the_oldest_calls_of_a_launch_make_room_and_earlier_launches_are_kept() {
        let mut printed = Printed::default();
        printed.add(b"first ", 40, 100);
        assert_eq!(printed.end_launch(), 0);
        for call in [b"a ", b"b ", b"c ", b"d "] {
            printed.add(call, 40, 100);
        }
        assert_eq!(text(&printed), "first c d ");
        assert_eq!(printed.end_launch(), 2);
        // A call that never fits is lost alone.
        printed.add(b"long", 101, 100);
        assert_eq!((text(&printed).as_str(), printed.end_launch(), printed.used), ("first c d ", 1, 0));
    }
}
