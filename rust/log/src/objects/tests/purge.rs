//! Purging: the stored bytes are found before, and nowhere after.

use super::*;
use crate::medium::fake::{Fault, Op};

/// Every file's bytes.
fn files(medium: &Fake) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut dirs = vec![PathBuf::from("/store")];
    while let Some(dir) = dirs.pop() {
        for name in medium.list(&dir).unwrap() {
            let path = dir.join(name);
            if medium.stat(&path).unwrap().unwrap().is_dir {
                dirs.push(path);
            } else {
                let bytes = medium.read(&path).unwrap().unwrap();
                files.push((path, bytes));
            }
        }
    }
    files
}

fn holds(medium: &Fake, needle: &[u8]) -> bool {
    files(medium).iter().any(|(_, bytes)| memchr::memmem::find(bytes, needle).is_some())
}

/// The data as stored: compressed, or the body itself.
fn stored(body: &[u8]) -> Vec<u8> {
    compress(body, sha(body)).unwrap().into_payload().split_off(37)
}

/// Bodies to purge, of both kinds, each stored in two packs, among others that stay.
fn with_copies() -> (Fake, Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let medium = medium();
    let mut writer = writer(&medium);
    let doomed = vec![
        b"# Secret\n\nThe password of the printer is 1234. The password of the printer is 1234.\n".repeat(9),
        noise(77, 900),
        noise(78, 600),
        b"short".to_vec(),
    ];
    let kept = bodies(20);
    for round in 0..3 {
        append(&mut writer, &kept[round * 6..round * 6 + 6]);
        append(&mut writer, &doomed);
        writer.flush().unwrap();
        if round == 0 {
            writer.publish_index(1).unwrap();
        }
        writer.refresh().unwrap();
    }
    assert!(pack_names(&medium).len() > 1);
    (medium, doomed, kept[..18].to_vec())
}

fn purge_all(medium: &Fake, doomed: &[Vec<u8>]) -> crate::Result<PurgeReport> {
    try_writer(medium)?.purge(&doomed.iter().map(|body| sha(body)).collect::<Vec<_>>())
}

fn is_erased(medium: &Fake, doomed: &[Vec<u8>], kept: &[Vec<u8>]) {
    let reader = reader(medium);
    for body in doomed {
        assert_eq!(get(&reader, body), Body::Purged);
        // Any part of the stored bytes, as far as a part says something.
        for piece in stored(body).chunks(16).filter(|piece| piece.len() > 4) {
            assert!(!holds(medium, piece));
        }
        assert!(!holds(medium, body));
    }
    for body in kept {
        assert_eq!(get(&reader, body), found(body));
    }
    let left = all_good(medium);
    assert!(doomed.iter().all(|body| !left.contains(&sha(body))));
}

#[test]
fn stored_bytes_are_found_before_and_nowhere_after() {
    let (medium, doomed, kept) = with_copies();
    let lengths: Vec<_> = pack_names(&medium).iter().map(|name| pack_bytes(&medium, name).len()).collect();
    for body in &doomed {
        assert!(holds(&medium, &stored(body)));
    }
    let report = purge_all(&medium, &doomed).unwrap();
    let bytes: usize = doomed.iter().map(|body| stored(body).len()).sum();
    assert_eq!(report, PurgeReport { bodies: 12, bytes: 3 * bytes as u64 });
    is_erased(&medium, &doomed, &kept);
    is_erased(&medium.crash_image(), &doomed, &kept);
    let after: Vec<_> = pack_names(&medium).iter().map(|name| pack_bytes(&medium, name).len()).collect();
    assert_eq!(lengths, after, "the frames behind stay where they are");
    assert_eq!(purge_all(&medium, &doomed).unwrap(), PurgeReport::default());
    // The index is still this store's: opening reads no more than before.
    medium.reset_counts();
    let _ = reader(&medium).get(&sha(&kept[0])).unwrap();
    assert!(medium.counts_of(".pack").bytes_read < 20_000);
}

#[test]
fn a_purge_that_crashed_at_any_sync_is_finished_by_the_next() {
    let (medium, doomed, kept) = with_copies();
    let plain = medium.copy();
    purge_all(&plain, &doomed).unwrap();
    let syncs = plain.synced().len() as u64;
    assert!(syncs >= 4);
    for n in 1..=syncs {
        let crashed = medium.copy();
        crashed.freeze_at(n);
        assert!(purge_all(&crashed, &doomed).is_err());
        let images = (0..40).map(|seed| crashed.crash_image_with(seed));
        for image in std::iter::once(crashed.crash_image()).chain(images) {
            let reader = reader(&image);
            for body in &kept {
                assert_eq!(get(&reader, body), found(body));
            }
            for body in &doomed {
                // Whole, gone, or half erased; never something else.
                assert!(reader.get(&sha(body)).map_or(true, |got| got == found(body) || got == Body::Purged));
            }
            purge_all(&image, &doomed).unwrap();
            is_erased(&image, &doomed, &kept);
        }
    }
}

#[test]
fn a_purge_that_failed_anywhere_is_finished_by_the_next() {
    let (medium, doomed, kept) = with_copies();
    let plain = medium.copy();
    purge_all(&plain, &doomed).unwrap();
    for n in 1..=plain.changes() {
        let failed = medium.copy();
        failed.fail(Fault::nth_change(n).partial());
        // Not every error matters: an index that cannot be opened is done without.
        let _ = purge_all(&failed, &doomed);
        purge_all(&failed, &doomed).unwrap();
        is_erased(&failed, &doomed, &kept);
        is_erased(&failed.crash_image(), &doomed, &kept);
    }
}

#[test]
fn a_purge_finds_copies_without_an_index_and_in_the_buffer() {
    let (medium, doomed, kept) = with_copies();
    for name in medium.list(Path::new(INDEX)).unwrap() {
        medium.remove(&Path::new(INDEX).join(name)).unwrap();
    }
    let mut writer = writer(&medium);
    append(&mut writer, &[doomed[0].clone()]);
    let report = writer.purge(&doomed.iter().map(|body| sha(body)).collect::<Vec<_>>()).unwrap();
    assert_eq!(report.bodies, 13);
    is_erased(&medium, &doomed, &kept);
}

#[test]
fn a_copy_that_damage_hides_is_an_error() {
    let (medium, doomed, _) = with_copies();
    let mut bytes = pack_bytes(&medium, "001.pack");
    let at = memchr::memmem::find(&bytes, &stored(&doomed[1])).unwrap();
    // The length of its frame.
    bytes[at - 60] ^= 0x10;
    set_pack(&medium, "001.pack", &bytes);
    assert!(matches!(purge_all(&medium, &doomed), Err(crate::LogError::Corrupt { .. })));
    assert_eq!(get(&reader(&medium), &doomed[0]), Body::Purged, "what can be is erased");
}

#[test]
fn a_reader_that_is_open_sees_the_purge() {
    let (medium, doomed, kept) = with_copies();
    let reader = reader(&medium);
    assert_eq!(get(&reader, &doomed[0]), found(&doomed[0]));
    purge_all(&medium, &doomed).unwrap();
    assert_eq!(get(&reader, &doomed[0]), Body::Purged);
    assert_eq!(get(&reader, &kept[0]), found(&kept[0]));
    medium.fail(Fault::nth(Op::Read, 1));
    assert!(reader.get(&sha(&kept[0])).is_err(), "an error is not an absence");
}

#[test]
fn a_body_that_another_process_purged_is_stored_again() {
    let medium = medium();
    let mut one = writer(&medium);
    append(&mut one, &[b"body".to_vec()]);
    one.flush().unwrap();
    purge_all(&medium, &[b"body".to_vec()]).unwrap();
    one.refresh().unwrap();
    append(&mut one, &[b"body".to_vec()]);
    one.flush().unwrap();
    assert_eq!(get(&reader(&medium), b"body"), found(b"body"));
}
