//! The section of an object that contains device code, and its format.

/// The section of an object that contains device code. clang creates it for `-fembed-offload-object`, and linkers
/// remove it.
pub const SECTION: &str = ".llvm.offloading";
const MAGIC: &[u8; 8] = b"WLDEVICE";
const HEADER: usize = 24;

/// Returns device bitcode in the format of the section: magic, length, architecture, bitcode.
pub fn frame(bitcode: &[u8], architecture: u32) -> Vec<u8> {
    let mut framed = MAGIC.to_vec();
    framed.extend((bitcode.len() as u64).to_le_bytes());
    framed.extend(u64::from(architecture).to_le_bytes());
    framed.extend(bitcode);
    framed
}

/// The device code of an object is shorter than its stated length.
#[derive(Debug, thiserror::Error)]
#[error("its device code is cut short: compile it again")]
pub struct CutShort;

/// Returns the modules in a section. `ld -r` concatenates the sections of several objects, with padding.
pub fn unframe(section: &[u8]) -> Result<Vec<(u32, &[u8])>, CutShort> {
    let mut modules = Vec::new();
    let mut rest = section;
    while let Some(start) = rest.windows(MAGIC.len()).position(|window| window == MAGIC) {
        let framed = &rest[start..];
        let word = |at: usize| -> Option<u64> { Some(u64::from_le_bytes(framed.get(at..at + 8)?.try_into().ok()?)) };
        let (length, architecture) = (word(8).ok_or(CutShort)?, word(16).ok_or(CutShort)?);
        let end = usize::try_from(length).ok().and_then(|length| HEADER.checked_add(length)).ok_or(CutShort)?;
        let bitcode = framed.get(HEADER..end).ok_or(CutShort)?;
        modules.push((u32::try_from(architecture).map_err(|_| CutShort)?, bitcode));
        rest = &framed[end..];
    }
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_behind_each_other_come_apart() {
        let mut section = frame(b"first", 75);
        section.extend([0; 3]);
        section.extend(frame(b"", 80));
        assert_eq!(unframe(&section).unwrap(), [(75, b"first".as_slice()), (80, b"")]);
        assert_eq!(unframe(b"nothing").unwrap(), []);
    }

    #[test]
    fn cut_device_code_is_refused() {
        let framed = frame(b"some bitcode", 75);
        for length in MAGIC.len()..framed.len() {
            assert!(unframe(&framed[..length]).is_err(), "{length}");
        }
        let mut huge = framed;
        huge[8..16].fill(0xff);
        assert!(unframe(&huge).is_err());
    }
}
