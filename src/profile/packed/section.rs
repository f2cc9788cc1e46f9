//! The section as a whole: the profiles that have one, and its layout.

use std::sync::OnceLock;

use super::pack::Pack;
use super::reader::{Broken, Reader};
use super::writer::Writer;
use crate::Profile;

/// Returns the hash of the layout that this release writes and reads.
fn layout() -> u32 {
    static LAYOUT: OnceLock<u32> = OnceLock::new();
    *LAYOUT.get_or_init(|| {
        let mut described = String::new();
        Profile::describe(&mut described);
        crc32fast::hash(described.as_bytes())
    })
}

/// Returns the section of a profile; `None` for profiles that are not of a single rank, or that contain a number which
/// is not finite.
pub fn section(profile: &Profile) -> Option<Vec<u8>> {
    if profile.run.merged.is_some() || profile.run.environment.rank.is_none() {
        return None;
    }
    let mut writer = Writer::default();
    profile.pack(&mut writer);
    writer.finish(layout())
}

/// Reads a section into a profile and reuses its memory. Fields that merging does not read are left empty.
///
/// # Errors
/// Returns [`Broken`]; the profile may then be partly overwritten.
pub fn read(section: &[u8], profile: &mut Profile) -> Result<(), Broken> {
    let mut reader = Reader::new(section, layout())?;
    profile.unpack(&mut reader)?;
    reader.finish()?;
    profile.put_in_order();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kernel, Spread};

    #[test]
    fn damaged_sections_are_refused() {
        let mut profile = Profile::default();
        profile.run.environment.rank = Some(Default::default());
        profile.run.notes = vec!["a note".to_owned()];
        let bytes = section(&profile).unwrap();
        let mut read_back = Profile::default();
        read(&bytes, &mut read_back).unwrap();
        assert_eq!(read_back, profile);
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length], &mut read_back).is_err(), "{length}");
        }
        for byte in 0..bytes.len() {
            for value in [0, 1, 0x1b, 0x7f, 0x80, 0xff] {
                let mut other = bytes.clone();
                other[byte] = value;
                // A modified section may be read or rejected, but must not cause a panic or hidden characters.
                if read(&other, &mut read_back).is_ok() {
                    assert!(!read_back.run.notes.iter().flat_map(|note| note.chars()).any(char::is_control));
                }
            }
        }
        // Data from earlier reads is not compared.
        profile.run.notes.clear();
        read(&section(&profile).unwrap(), &mut read_back).unwrap();
        assert_eq!(read_back, profile);
    }

    #[test]
    fn only_ranks_have_it() {
        assert!(section(&Profile::default()).is_none());
        let mut profile = Profile::default();
        profile.run.environment.rank = Some(Default::default());
        assert!(section(&profile).is_some());
        let spread = Spread { mean: f64::NAN, ..Spread::default() };
        let over_launches = [("global.bytes".to_owned(), spread)].into();
        profile.kernels.push(Kernel { over_launches, ..Kernel::default() });
        assert!(section(&profile).is_none());
    }
}
