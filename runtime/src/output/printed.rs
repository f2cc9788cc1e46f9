//! Collects the output of kernels until the program waits for the device, up to the size of the device's buffer.

use std::collections::VecDeque;

/// The collected output. As on a GPU, the output of one launch is limited: when its calls have filled the buffer, the
/// oldest calls of the same launch are dropped.
#[derive(Debug, Default)]
pub struct Printed {
    text: VecDeque<u8>,
    /// The length of the text of earlier launches, which a GPU would have fetched before the next launch.
    settled: usize,
    /// For each call of the running launch: the length of the text, and the bytes in the buffer.
    calls: VecDeque<(usize, u64)>,
    /// The number of bytes of the buffer in use.
    used: u64,
    /// The number of calls of the running launch whose text was dropped.
    lost: u64,
}

impl Printed {
    /// Adds the output of one call, which uses `bytes` bytes of a buffer with `limit` bytes.
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

    /// Ends a launch and returns how many of its calls were dropped.
    pub fn end_launch(&mut self) -> u64 {
        self.settled = self.text.len();
        self.calls.clear();
        self.used = 0;
        std::mem::take(&mut self.lost)
    }

    /// Returns the number of collected bytes of text.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns whether there is no collected text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Writes the collected text through C's standard output, so that it has the correct order with the program's own
    /// output.
    pub fn flush(&mut self) {
        unsafe extern "C" {
            static stdout: *mut libc::FILE;
        }
        for part in <[&[u8]; 2]>::from(self.text.as_slices()) {
            if !part.is_empty() {
                // SAFETY: the stream is that of C, and the queue owns the bytes.
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
        // If a call does not fit into the empty buffer, only this call is dropped.
        printed.add(b"long", 101, 100);
        assert_eq!((text(&printed).as_str(), printed.end_launch(), printed.used), ("first c d ", 1, 0));
    }
}
