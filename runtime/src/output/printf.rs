//! Device-side `printf`. Like CUDA, it formats as C does. It reads an argument buffer in which every value has its
//! natural alignment, `int` has 4 bytes, and every larger type has 8.

use std::ffi::{CStr, c_char, c_int};

/// The number of bytes of the device's buffer that a call needs in addition to its arguments: on a GPU, for the address
/// of the format and the length.
const CALL_BYTES: u64 = 16;

/// The maximum length of the text of one conversion.
const LONGEST: usize = 4096;

/// Returns a string in device memory as text, for messages.
///
/// # Safety
/// `text` is null or points to a zero-terminated string.
pub unsafe fn c_text(text: *const c_char) -> String {
    if text.is_null() {
        return "(null)".into();
    }
    // SAFETY: by the contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Reads the values of an argument buffer.
struct Arguments {
    at: *const u8,
    offset: usize,
    count: i32,
}

impl Arguments {
    /// # Safety
    /// The next value in the buffer has type `T`.
    unsafe fn next<T: Copy>(&mut self) -> T {
        self.offset = self.offset.next_multiple_of(size_of::<T>());
        // SAFETY: by the contract; the buffer itself may be less aligned.
        let value = unsafe { self.at.add(self.offset).cast::<T>().read_unaligned() };
        self.offset += size_of::<T>();
        self.count += 1;
        value
    }
}

/// One conversion of a format.
struct Conversion {
    /// Flags, width and precision in C's syntax, with `*` replaced.
    prefix: Vec<u8>,
    /// Whether the argument has 8 bytes.
    long: bool,
    letter: u8,
}

/// Appends the output of one lane. Returns the result of its `printf`, which is the number of arguments or -1 without a
/// format, and the number of bytes that the call needs in the device's buffer.
///
/// # Safety
/// `format` is null or a zero-terminated string; `arguments` contains the values of its conversions.
pub unsafe fn print(out: &mut Vec<u8>, format: *const c_char, arguments: *const u8) -> (i32, u64) {
    if format.is_null() {
        return (-1, 0);
    }
    // SAFETY: by the contract.
    let mut text = unsafe { CStr::from_ptr(format) }.to_bytes();
    let mut arguments = Arguments { at: arguments, offset: 0, count: 0 };
    while let Some(at) = text.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&text[..at]);
        let start = &text[at..];
        if start.get(1) == Some(&b'%') {
            out.push(b'%');
            text = &start[2..];
            continue;
        }
        // SAFETY: the caller fulfils the contract.
        match unsafe { parse(start, &mut arguments) } {
            Some((conversion, length)) => {
                // SAFETY: the caller fulfils the contract.
                unsafe { convert(out, &conversion, &mut arguments) };
                text = &start[length..];
            }
            None => {
                // This is not a conversion. In C, the result is undefined; CUDA prints the characters.
                out.push(b'%');
                text = &start[1..];
            }
        }
    }
    out.extend_from_slice(text);
    (arguments.count, CALL_BYTES + (arguments.offset as u64).next_multiple_of(8))
}

/// Reads the conversion with which `text` starts, and returns it with its length.
///
/// # Safety
/// The requirements of [`print`] apply.
unsafe fn parse(text: &[u8], arguments: &mut Arguments) -> Option<(Conversion, usize)> {
    let mut prefix = vec![b'%'];
    let mut at = 1;
    while let Some(flag) = text.get(at).filter(|byte| b"-+ #0".contains(byte)) {
        prefix.push(*flag);
        at += 1;
    }
    for part in 0..2 {
        if part == 1 {
            if text.get(at) != Some(&b'.') {
                break;
            }
            prefix.push(b'.');
            at += 1;
        }
        if text.get(at) == Some(&b'*') {
            // SAFETY: the argument of a star is an int.
            let value: c_int = unsafe { arguments.next() };
            prefix.extend_from_slice(value.clamp(-999, 999).to_string().as_bytes());
            at += 1;
        }
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 3 {
            return None;
        }
        prefix.extend_from_slice(&text[at..at + digits]);
        at += digits;
    }
    let mut long = false;
    while let Some(size) = text.get(at).filter(|byte| b"hlLqjzt".contains(byte)) {
        long |= *size != b'h';
        at += 1;
    }
    let letter = *text.get(at)?;
    b"diouxXcsfFeEgGaAp".contains(&letter).then_some((Conversion { prefix, long, letter }, at + 1))
}

/// # Safety
/// The requirements of [`print`] apply.
unsafe fn convert(out: &mut Vec<u8>, conversion: &Conversion, arguments: &mut Arguments) {
    let mut format = conversion.prefix.clone();
    let integer = b"diouxX".contains(&conversion.letter);
    if integer && conversion.long {
        format.extend_from_slice(b"ll");
    }
    format.extend_from_slice(&[conversion.letter, 0]);
    let format: *const c_char = format.as_ptr().cast();
    let mut text = [0u8; LONGEST];
    let into: *mut c_char = text.as_mut_ptr().cast();
    // SAFETY: the format contains one conversion, whose argument has the given type; the text is cut at its length.
    let length = unsafe {
        match conversion.letter {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' if conversion.long => {
                libc::snprintf(into, LONGEST, format, arguments.next::<i64>())
            }
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' => {
                libc::snprintf(into, LONGEST, format, arguments.next::<c_int>())
            }
            b's' => {
                let string = arguments.next::<u64>() as *const c_char;
                let string = if string.is_null() { c"(null)".as_ptr() } else { string };
                libc::snprintf(into, LONGEST, format, string)
            }
            b'p' => libc::snprintf(into, LONGEST, format, arguments.next::<u64>() as *const u8),
            _ => libc::snprintf(into, LONGEST, format, arguments.next::<f64>()),
        }
    };
    let length = usize::try_from(length).unwrap_or(0).min(LONGEST - 1);
    out.extend_from_slice(&text[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(format: &CStr, arguments: &[u64]) -> (String, i32) {
        let mut out = Vec::new();
        // SAFETY: the tests pass the arguments that their formats require.
        let (count, _) = unsafe { print(&mut out, format.as_ptr(), arguments.as_ptr().cast()) };
        (String::from_utf8(out).unwrap(), count)
    }

    #[test]
    fn formats_as_c_does() {
        let pair = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
        assert_eq!(printed(c"plain 100%%\n", &[]), ("plain 100%\n".into(), 0));
        assert_eq!(printed(c"%d|%5d|", &[pair(-7, 42)]), ("-7|   42|".into(), 2));
        assert_eq!(printed(c"%u %#x", &[pair(-1, 255)]), ("4294967295 0xff".into(), 2));
        assert_eq!(printed(c"%f %.2e", &[1.5f64.to_bits(), 1234.5f64.to_bits()]), ("1.500000 1.23e+03".into(), 2));
        assert_eq!(printed(c"%d %lld", &[pair(3, 0), 1 << 40]), ("3 1099511627776".into(), 2));
        assert_eq!(printed(c"%c%c %lu", &[pair(97, 98), u64::MAX]), ("ab 18446744073709551615".into(), 3));
        assert_eq!(printed(c"%*d|%-*d|", &[pair(4, 7), pair(3, 8)]), ("   7|8  |".into(), 4));
        assert_eq!(printed(c"%s %p", &[c"text".as_ptr() as u64, 0x1000]), ("text 0x1000".into(), 2));
        assert_eq!(printed(c"%s", &[0]), ("(null)".into(), 1));
        assert_eq!(printed(c"%g", &[0.25f64.to_bits()]), ("0.25".into(), 1));
    }

    #[test]
    fn odd_formats_are_printed() {
        assert_eq!(printed(c"50% yes %", &[0; 4]), ("50% yes %".into(), 0));
        assert_eq!(printed(c"%y", &[0; 4]), ("%y".into(), 0));
        assert_eq!(printed(c"%99999d", &[0; 4]), ("%99999d".into(), 0));
        // SAFETY: a null format is allowed.
        assert_eq!(unsafe { print(&mut Vec::new(), std::ptr::null(), std::ptr::null()) }, (-1, 0));
    }
}
