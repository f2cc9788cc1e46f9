//! Parses sizes, and provides their defaults.

use super::Failure;
use crate::exit_code;

/// Minimum size of a trace piece; smaller pieces have no benefit.
const LEAST_PIECE: u64 = 64 << 10;

/// Parses `65536`, `64K`, `2M` or `1.5 GiB` to bytes.
pub(in crate::cli) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_suffix(['B', 'b']).unwrap_or(text);
    let text = text.strip_suffix(['i', 'I']).unwrap_or(text);
    let unit = match text.bytes().last()?.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => 0,
    };
    let number = if unit == 0 { text } else { &text[..text.len() - 1] }.trim();
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << unit);
    }
    let bytes = number.parse::<f64>().ok().filter(|_| unit > 0)? * (1u64 << unit) as f64;
    (0.0..9e18).contains(&bytes).then_some(bytes as u64)
}

/// Parses `zstd` or `zstd:LEVEL`.
pub(in crate::cli) fn compression(text: &str) -> Option<i32> {
    let level = match text.split_once(':') {
        None => warpline_analyzer::trace::DEFAULT_LEVEL.to_string(),
        Some((_, level)) => level.to_owned(),
    };
    let level = level.parse().ok().filter(|level| (1..=19).contains(level))?;
    (text == "zstd" || text.starts_with("zstd:")).then_some(level)
}

/// Parses the size of a trace's pieces.
pub(in crate::cli) fn piece_size(text: &str) -> Result<u64, Failure> {
    size(text).filter(|&bytes| bytes >= LEAST_PIECE).ok_or_else(|| {
        let message = format!("pieces of a trace take a size from 64K on, as 512M or 4G, not `{text}`");
        Failure::new(exit_code::USAGE, message)
    })
}

/// Returns the default number of threads, which leaves one core for the program.
pub(in crate::cli) fn default_threads() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    (cores / 2).clamp(1, 8) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_levels() {
        assert_eq!(
            (size("65536"), size("64K"), size("64 KiB"), size("2m")),
            (Some(65536), Some(65536), Some(65536), Some(2 << 20))
        );
        assert_eq!((size("1.5G"), size("1T"), size("10 b")), (Some(3 << 29), Some(1 << 40), Some(10)));
        for wrong in ["", "K", "x", "-1", "-1K", "1.5", "nanM", "99999999999999999999", "99999999T", "é"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
        assert_eq!((compression("zstd"), compression("zstd:19"), compression("zstd:1")), (Some(3), Some(19), Some(1)));
        for wrong in ["", "gzip", "zstd:", "zstd:0", "zstd:20", "zstdx", "zstd:x"] {
            assert_eq!(compression(wrong), None, "{wrong}");
        }
    }
}
