use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Returns bytes that are moderately compressible.
fn stream(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| ((at * at) >> 7) as u8 & 0x3f).collect()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn written(path: &Path, bytes: &[u8], rotate: Option<u64>) {
    let mut writer = PackedWriter::with_frames(path, Packing { level: 1, rotate }, 4096).unwrap();
    for part in bytes.chunks(1000) {
        writer.write(part).unwrap();
    }
    writer.finish().unwrap();
}

/// Returns the readable bytes and how the stream ended.
fn read(path: &Path) -> (Vec<u8>, Result<(), String>) {
    let mut got = Vec::new();
    let end = match open(path) {
        Ok(mut opened) => opened.stream.read_to_end(&mut got).map(|_| ()),
        Err(error) => Err(error),
    };
    (got, end.map_err(|error| error.to_string()))
}

fn pieces(folder: &Path) -> Vec<PathBuf> {
    files(&folder.join("t.wltrace"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_read_is_what_was_written(length in 0usize..60_000, rotate in prop::option::of(200u64..8000)) {
        let folder = folder();
        let bytes = stream(length);
        let path = folder.path().join("t.wltrace.zst");
        written(&path, &bytes, rotate);
        prop_assert_eq!(read(&path), (bytes, Ok(())));
        if let Some(most) = rotate {
            for piece in pieces(folder.path()) {
                // A frame of 4096 bytes may exceed the maximum size of a piece.
                prop_assert!(fs::metadata(&piece).unwrap().len() <= most.max(4200));
            }
        }
    }

    #[test]
    fn a_flipped_bit_gives_a_prefix_and_an_error(bit in 0usize..1 << 30) {
        let folder = folder();
        let path = folder.path().join("t.zst");
        let whole = stream(20_000);
        written(&path, &whole, None);
        let mut bytes = fs::read(&path).unwrap();
        let bit = bit % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        let (got, end) = read(&path);
        // The first bytes of a frame identify a compressed file. If they are damaged, the file is read as an
        // uncompressed trace with an invalid header.
        if bit >= 32 {
            prop_assert!(whole.starts_with(&got) || end.is_err(), "bit {bit}: {} bytes, {end:?}", got.len());
            prop_assert!(end.is_err() || got == whole, "bit {bit}: {} bytes", got.len());
        }
    }
}

#[test]
fn every_cut_gives_a_prefix() {
    let folder = folder();
    let path = folder.path().join("t.zst");
    let whole = stream(20_000);
    written(&path, &whole, None);
    let bytes = fs::read(&path).unwrap();
    let mut most = 0;
    for length in (0..bytes.len()).step_by(37) {
        fs::write(&path, &bytes[..length]).unwrap();
        let (got, _) = read(&path);
        if length >= 4 {
            assert!(whole.starts_with(&got) && got.len() < whole.len(), "{length}");
            most = most.max(got.len());
        }
    }
    assert!(most >= 16_000, "whole frames before the cut are kept: {most}");
}

#[test]
fn pieces_are_read_in_order_and_no_other_run_s_are() {
    let folder = folder();
    let base = folder.path().join("t.wltrace");
    let whole = stream(100_000);
    written(&base, &whole, Some(6000));
    let all = pieces(folder.path());
    assert!(all.len() > 4, "{all:?}");
    // A trace can be opened by its name or the name of its first piece, but not of a later piece.
    assert_eq!(read(&base), (whole.clone(), Ok(())));
    assert_eq!(read(&all[0]), (whole.clone(), Ok(())));
    let (_, end) = read(&all[2]);
    assert!(end.unwrap_err().contains("this is piece 3 of a trace; name the first"));
    // If the last piece is missing, the rest is a prefix, and the missing piece is not detectable.
    let bytes = |piece: &PathBuf| fs::read(piece).unwrap();
    let last = bytes(&all[all.len() - 1]);
    fs::remove_file(&all[all.len() - 1]).unwrap();
    let (got, end) = read(&base);
    assert!(whole.starts_with(&got) && got.len() < whole.len() && end.is_ok());
    fs::write(&all[all.len() - 1], last).unwrap();
    // A middle piece is missing, damaged, or belongs to another trace.
    let second = bytes(&all[1]);
    fs::remove_file(&all[1]).unwrap();
    let reports = |what: &str| {
        let (got, end) = read(&base);
        assert!(whole.starts_with(&got) && !got.is_empty() && got.len() < whole.len());
        let end = end.unwrap_err();
        assert!(end.contains(what) && end.contains(".0002.zst"), "{end}");
    };
    reports("missing");
    fs::write(&all[1], bytes(&all[2])).unwrap();
    reports("piece 3 from byte");
    fs::write(&all[1], &second[..20]).unwrap();
    reports("ends inside its head");
    fs::write(&all[1], [&second[..36], &[9], &second[37..]].concat()).unwrap();
    reports("from byte");
    fs::write(&all[1], &second[40..]).unwrap();
    reports("not a piece of a trace");
    let other = folder.path().join("other.wltrace");
    written(&other, &whole, Some(6000));
    fs::write(&all[1], bytes(&files(&other)[1])).unwrap();
    reports("of another run");
    fs::write(&all[1], second).unwrap();
    assert_eq!(read(&base), (whole, Ok(())));
}

#[test]
fn a_file_that_expands_without_end_is_refused_in_bounded_memory() {
    let folder = folder();
    let path = folder.path().join("bomb.zst");
    let mut encoder = zstd::stream::write::Encoder::new(fs::File::create(&path).unwrap(), 19).unwrap();
    encoder.window_log(24).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..1024 {
        std::io::Write::write_all(&mut encoder, &zeros).unwrap();
    }
    encoder.finish().unwrap();
    let mut opened = open(&path).unwrap();
    let (mut buffer, mut given) = (vec![0; 1 << 20], 0u64);
    let end = loop {
        match opened.stream.read(&mut buffer) {
            Ok(0) => break None,
            Ok(count) => given += count as u64,
            Err(error) => break Some(error.to_string()),
        }
    };
    let most = (256 << 20) + (fs::metadata(&path).unwrap().len() << 14);
    assert!(given <= most + (1 << 20), "{given}");
    assert!(end.is_none_or(|end| end.contains("beyond reason")));
    // The window needs more memory than a decoder may use.
    let mut encoder = zstd::stream::write::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap();
    encoder.window_log(28).unwrap();
    std::io::Write::write_all(&mut encoder, &stream(1 << 16)).unwrap();
    encoder.finish().unwrap();
    assert!(read(&path).1.is_err());
}

#[test]
fn a_link_is_not_followed_by_later_pieces() {
    let folder = folder();
    let base = folder.path().join("t.wltrace");
    let precious = folder.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, folder.path().join("t.wltrace.0002.zst")).unwrap();
    let mut writer = PackedWriter::with_frames(&base, Packing { level: 1, rotate: Some(200) }, 4096).unwrap();
    let failed = stream(100_000).chunks(1000).find_map(|part| writer.write(part).err());
    let failed = failed.or_else(|| writer.finish().err()).unwrap().to_string();
    assert!(failed.contains("t.wltrace.0002.zst"), "{failed}");
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
}
