//! The store of profiles: by content, written by many at once, damaged, and full of what others made up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::recordings::{StoreFolder, moving, stderr, stdout};
use warpline::store::{Digest, Store, StoreError};

/// Files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

fn objects(place: &StoreFolder) -> Vec<PathBuf> {
    files(&place.store().join("objects"))
}

#[test]
fn what_is_recorded_comes_back_as_it_was() {
    let place = StoreFolder::new();
    let store = Store::in_folder(&place.store(), true).unwrap();
    let mut profile = moving(128);
    profile.run.environment.pid = Some(7);
    profile.run.environment.labels.insert("machine".into(), "small".into());
    let recorded = store.add("app", &profile, |record| record.commit = Some("1a2b3c4d".into())).unwrap();
    let found = store.records(Some("app")).unwrap();
    assert_eq!((found.records.len(), found.problems.len()), (1, 0));
    assert_eq!(found.records[0], recorded);
    assert_eq!(store.profile(&recorded.record).unwrap(), profile);
    assert!(store.records(Some("ap")).unwrap().records.is_empty());
}

#[test]
fn runs_that_differ_in_nothing_but_their_surroundings_share_an_object() {
    let place = StoreFolder::new();
    let store = Store::in_folder(&place.store(), true).unwrap();
    let mut other = moving(128);
    other.run.environment.pid = Some(9);
    other.run.environment.date = Some("2030-01-01T00:00:00Z".into());
    let one = store.add("app", &moving(128), |_| {}).unwrap();
    let two = store.add("app", &other, |_| {}).unwrap();
    let three = store.add("app", &moving(129), |_| {}).unwrap();
    assert_eq!(one.record.object, two.record.object);
    assert_ne!(one.record.object, three.record.object);
    assert_eq!(objects(&place).len(), 2);
    // The same again is the same recording.
    store.add("app", &other, |_| {}).unwrap();
    assert_eq!(store.records(None).unwrap().records.len(), 3);
    assert_eq!(store.profile(&two.record).unwrap(), other);
}

#[test]
fn objects_are_called_by_their_sha_256() {
    let place = StoreFolder::new();
    place.record(&moving(128), "1a2b3c4d", "main");
    for file in objects(&place).into_iter().chain(files(&place.store().join("records"))) {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(Digest::compute(&std::fs::read(&file).unwrap()).to_string(), name);
    }
}

#[test]
fn names_lead_nowhere() {
    let place = StoreFolder::new();
    let store = Store::in_folder(&place.store(), true).unwrap();
    let names =
        ["../../escaped", "/etc/passwd", "a/b", "..", "a\0b", "\u{1b}[2J", "größe", "con:", "-rf", &"x".repeat(256)];
    for name in names {
        store.add(name, &moving(1), |_| {}).unwrap();
    }
    let within: BTreeSet<_> =
        std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(within, BTreeSet::from([".warpline".into()]));
    for file in files(&place.store().join("records")) {
        let parts: Vec<_> = file.strip_prefix(place.store()).unwrap().components().collect();
        assert_eq!(parts.len(), 3, "{}", file.display());
        let folder = parts[1].as_os_str().to_str().unwrap();
        assert!(folder.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{folder}");
    }
    assert_eq!(store.records(None).unwrap().records.len(), names.len());
    // What steers terminals is written out.
    let shown: BTreeSet<String> = store.records(None).unwrap().records.into_iter().map(|one| one.record.name).collect();
    assert!(shown.contains("\\x1b[2J") && shown.contains("größe"), "{shown:?}");
    for (name, commit) in
        [("", "1a"), (&*"x".repeat(257), "1a"), ("app", "../x"), ("app", ""), ("app", "-n"), ("app", &"a".repeat(65))]
    {
        let refused = store.add(name, &moving(1), |record| record.commit = Some(commit.to_owned()));
        assert!(matches!(refused, Err(StoreError::Unfit(_))), "{name} {commit}");
    }
}

#[test]
fn writers_at_once_lose_nothing() {
    let place = StoreFolder::new();
    let writers: Vec<_> = (0..12u64)
        .map(|number| {
            let file = place.profile(&format!("{number}.wlprof"), &moving(100 + number / 2));
            let commit = format!("c{number}");
            place
                .command(&["record", file.to_str().unwrap(), "--commit", &commit])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let store = Store::in_folder(&place.store(), false).unwrap();
    let (listing, unnamed) = store.verify().unwrap();
    assert_eq!((listing.records.len(), listing.problems, unnamed), (12, Vec::new(), 0));
    assert_eq!(objects(&place).len(), 6);
}

#[test]
fn killed_writers_leave_a_valid_store() {
    let place = StoreFolder::new();
    place.record(&moving(98), "first", "main");
    let mut finished = 1;
    for number in 0..30u64 {
        let file = place.profile("killed.wlprof", &moving(100 + number));
        let commit = format!("c{number}");
        let mut writer = place
            .command(&["record", file.to_str().unwrap(), "--commit", &commit])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_micros(700 * number));
        _ = writer.kill();
        finished += usize::from(writer.wait().unwrap().success());
    }
    // What a killed one leaves of a file in the making.
    let half = place.store().join("objects/ab/.warpline.x7.tmp");
    std::fs::create_dir_all(half.parent().unwrap()).unwrap();
    std::fs::write(half, b"WLPROF").unwrap();
    place.record(&moving(99), "last", "main");
    let store = Store::in_folder(&place.store(), false).unwrap();
    let (listing, _) = store.verify().unwrap();
    assert_eq!(listing.problems, Vec::new());
    assert!(listing.records.len() > finished, "{} of {finished}", listing.records.len());
    for recorded in &listing.records {
        store.profile(&recorded.record).unwrap();
    }
}

#[test]
fn damage_is_found_and_recording_again_heals_it() {
    let place = StoreFolder::new();
    place.record(&moving(128), "1a2b3c4d", "main");
    place.record(&moving(256), "5e6f7a8b", "main");
    assert_eq!(place.done(&["record", "--verify"]), "2 records, 0 problems, 0 profiles that no record names\n");
    let object = objects(&place)[0].clone();
    let whole = std::fs::read(&object).unwrap();
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        std::fs::write(&object, bytes).unwrap();
        let output = place.warpline(&["record", "--verify"]);
        assert_eq!(output.status.code(), Some(3));
        assert!(
            stdout(&output).contains(object.file_name().unwrap().to_str().unwrap())
                && stdout(&output).contains("damaged profile")
        );
        let output = place.warpline(&["history", ".", "global.sectors"]);
        assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
        assert!(stderr(&output).contains("does not fit its name"), "{}", stderr(&output));
    }
    for sectors in [128, 256] {
        place.record(&moving(sectors), "1a2b3c4d", "main");
    }
    assert_eq!(std::fs::read(&object).unwrap(), whole);
    std::fs::remove_file(&object).unwrap();
    let output = place.warpline(&["record", "--verify"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("is missing"), "{}", stdout(&output));
}

#[test]
fn records_of_others_are_not_trusted() {
    let place = StoreFolder::new();
    place.record(&moving(128), "1a2b3c4d", "main");
    let record = files(&place.store().join("records"))[0].clone();
    let text = std::fs::read_to_string(&record).unwrap();
    let folder = record.parent().unwrap();
    // Rightly named by their content, but not what the store writes.
    let put =
        |text: &str| std::fs::write(folder.join(format!("{}.json", Digest::compute(text.as_bytes()))), text).unwrap();
    put(&text.replace("1a2b3c4d", "../../1a2b"));
    put(&text.replace("\"app\"", "\"other\""));
    put(&text.replace("\"version\":1", "\"version\":2"));
    put(&text.replace("warpline.record", "something"));
    put("[]");
    std::fs::write(folder.join("notes.txt"), "x").unwrap();
    std::fs::write(folder.join(format!("{}.json", "0".repeat(64))), &text).unwrap();
    let store = Store::in_folder(&place.store(), false).unwrap();
    let listing = store.records(None).unwrap();
    assert_eq!((listing.records.len(), listing.problems.len()), (1, 7), "{:?}", listing.problems);
    // The good ones still serve, and the others are reported.
    let output = place.warpline(&["history", "walk", "global.sectors"]);
    assert!(output.status.success() && stderr(&output).matches("damaged record").count() == 7, "{}", stderr(&output));
}

#[test]
fn what_is_no_store_is_left_alone() {
    let place = StoreFolder::new();
    let file = place.profile("a.wlprof", &moving(1));
    let file = file.to_str().unwrap();
    let output = place.warpline(&["record", file, "--store", "."]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not a store of profiles"), "{}", stderr(&output));
    std::fs::create_dir(place.store()).unwrap();
    std::fs::write(place.store().join("warpline-store.json"), "{\"schema\":\"warpline.store\",\"version\":2}").unwrap();
    let output = place.warpline(&["record", file]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("has version 2"), "{}", stderr(&output));
    let output = place.warpline(&["history", ".", "global.sectors", "--store", "nowhere"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(!place.path().join("nowhere").exists());
}

#[test]
#[cfg(feature = "object-store")]
fn an_object_store_serves_as_a_folder_does() {
    use object_store::memory::InMemory;
    use object_store::{ObjectStoreExt as _, PutPayload};
    use std::sync::Arc;
    use warpline::store::Remote;

    let objects = Arc::new(InMemory::new());
    let open = |create| Store::open(Box::new(Remote::over(objects.clone(), "team/recordings").unwrap()), create);
    let store = open(true).unwrap();
    let one = store.add("app", &moving(128), |record| record.commit = Some("1a2b3c4d".into())).unwrap();
    let two = open(false).unwrap().add("../app", &moving(256), |_| {}).unwrap();
    let listing = store.records(None).unwrap();
    assert_eq!((listing.records.len(), listing.problems.len()), (2, 0));
    assert_eq!(store.records(Some("app")).unwrap().records, [one.clone()]);
    assert_eq!(store.profile(&two.record).unwrap(), moving(256));
    let (listing, unnamed) = store.verify().unwrap();
    assert_eq!((listing.problems, unnamed), (Vec::new(), 0));
    let key = format!("team/recordings/objects/{}/{}.wlprof", &one.record.object[..2], one.record.object);
    let waiting = tokio::runtime::Builder::new_current_thread().build().unwrap();
    waiting.block_on(objects.put(&key.into(), PutPayload::from_static(b"WLPROF"))).unwrap();
    assert!(matches!(store.profile(&one.record), Err(StoreError::Damaged { .. })));
    assert_eq!(store.verify().unwrap().0.problems.len(), 1);
    // Something else lives there.
    let other = Store::open(Box::new(Remote::over(objects, "team").unwrap()), true);
    assert!(matches!(other, Err(StoreError::NotAStore { .. })));
}
