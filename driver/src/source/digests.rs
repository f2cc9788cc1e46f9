//! Checksums of the source files in a site table, by which `warpline sim` recognises the files.

use std::fs::File;
use std::io::Read as _;
use warpline_format::site_table::{Digest, SiteTable};

/// Larger files are not sources.
const MAX_BYTES: u64 = 64 << 20;

/// Adds the current checksums of the table's files, while they are compiled.
pub fn add(table: &mut SiteTable) {
    table.digests = table.files.iter().map(|file| digest(&file.path)).collect();
}

fn digest(path: &str) -> Option<Digest> {
    // A source from a pipe cannot be read twice, nor shown later.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_BYTES).then(|| md5::compute(&bytes).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::site_table;

    #[test]
    fn files_that_can_be_read_have_one() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.cu");
        std::fs::write(&source, "abc").unwrap();
        let file = |path: &str| site_table::File { path: path.into(), system: false };
        let files = [source.to_str().unwrap(), "/no/such/file", "/dev/zero", ""].map(file).to_vec();
        let mut table = SiteTable { files, ..SiteTable::default() };
        add(&mut table);
        // RFC 1321, appendix A.5.
        let abc = 0x9001_5098_3cd2_4fb0_d696_3f7d_28e1_7f72_u128.to_be_bytes();
        assert_eq!(table.digests, [Some(abc), None, None, None]);
    }
}
