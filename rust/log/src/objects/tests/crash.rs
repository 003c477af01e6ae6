//! Crashes at every sync, and errors at every operation.

use std::io::ErrorKind;

use super::*;
use crate::LogError;
use crate::medium::fake::{Fault, Op};

/// What a workload had been promised when it ended.
#[derive(Debug, Default)]
struct Promised {
    flushed: Vec<Vec<u8>>,
    /// A purge of these was begun, and a row in the log says so.
    to_purge: Vec<Vec<u8>>,
    purged: Vec<Vec<u8>>,
}

/// Groups of one and of many bodies over several packs, with the index published and merged in between, and a purge.
fn workload(medium: &Fake, promised: &mut Promised) -> crate::Result<()> {
    let bodies = bodies(60);
    let mut writer = try_writer(medium)?;
    let mut rest = &bodies[..];
    for (turn, size) in [1, 9, 1, 20, 1, 1, 12, 3, 12].into_iter().enumerate() {
        let (group, behind) = rest.split_at(size);
        rest = behind;
        for body in group {
            writer.append(body, sha(body))?;
        }
        writer.flush()?;
        promised.flushed.extend_from_slice(group);
        if turn % 2 == 1 {
            writer.publish_index(3)?;
            writer.merge_index()?;
        }
        if turn == 5 {
            let doomed = bodies[2..8].to_vec();
            promised.flushed.retain(|body| !doomed.contains(body));
            promised.to_purge.clone_from(&doomed);
            writer.purge(&doomed.iter().map(|body| sha(body)).collect::<Vec<_>>())?;
            promised.purged = doomed;
        }
        writer.refresh()?;
    }
    Ok(())
}

fn keeps(medium: &Fake, promised: &Promised, context: &str) {
    let reader = reader(medium);
    for body in &promised.flushed {
        assert_eq!(get(&reader, body), found(body), "{context}");
    }
    for body in &promised.purged {
        assert_eq!(get(&reader, body), Body::Purged, "{context}");
    }
}

#[test]
fn every_flushed_body_survives_a_crash_at_every_sync() {
    let plain = medium();
    plain.reset_counts();
    workload(&plain, &mut Promised::default()).unwrap();
    let syncs = plain.synced().len() as u64;
    assert!(syncs > 12 && pack_names(&plain).len() > 2, "{syncs}");
    for n in 1..=syncs + 1 {
        let medium = medium();
        medium.freeze_at(n);
        let mut promised = Promised::default();
        let _ = workload(&medium, &mut promised);
        assert_eq!(medium.is_frozen(), n <= syncs);
        let images = (0..8).map(|seed| (Some(seed), medium.crash_image_with(seed)));
        for (seed, image) in std::iter::once((None, medium.crash_image())).chain(images) {
            let context = format!("sync {n}, seed {seed:?}");
            // Readers see it, and no damage, before a writer comes.
            keeps(&image, &promised, &context);
            // Half-erased data are no zeros yet, until the purge is asked for again.
            let errors: Vec<_> = reader(&image).iterate().unwrap().filter_map(Result::err).collect();
            let is_purging = !promised.to_purge.is_empty() && promised.purged.is_empty();
            assert!(errors.is_empty() || is_purging, "{context}: {errors:?}");
            let mut writer = try_writer(&image).unwrap();
            keeps(&image, &promised, &context);
            let to_purge: Vec<_> = promised.to_purge.iter().map(|body| sha(body)).collect();
            append(&mut writer, &[b"goes on".to_vec()]);
            writer.purge(&to_purge).unwrap();
            keeps(&image, &promised, &context);
            assert_eq!(get(&reader(&image), b"goes on"), found(b"goes on"), "{context}");
            let left = all_good(&image);
            assert!(to_purge.iter().all(|sha| !left.contains(sha)), "{context}");
            // A second crash right after is nothing new.
            let again = image.crash_image();
            keeps(&again, &promised, &context);
            all_good(&again);
        }
    }
}

#[test]
fn opening_after_a_crash_is_done_once() {
    for n in 1..16 {
        let medium = medium();
        medium.freeze_at(n);
        drop(workload(&medium, &mut Promised::default()));
        for seed in 0..8 {
            let image = medium.crash_image_with(seed);
            drop(writer(&image));
            let once: Vec<_> = pack_names(&image).iter().map(|name| pack_bytes(&image, name)).collect();
            image.reset_counts();
            drop(writer(&image));
            let twice: Vec<_> = pack_names(&image).iter().map(|name| pack_bytes(&image, name)).collect();
            assert!(once == twice && image.counts().writes == 0, "sync {n}, seed {seed}");
        }
    }
}

#[test]
fn an_error_at_every_operation_loses_nothing_flushed() {
    let plain = medium();
    plain.reset_counts();
    workload(&plain, &mut Promised::default()).unwrap();
    for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
        for n in 1..=plain.changes() {
            let medium = medium();
            medium.fail(Fault::nth_change(n).kind(kind).partial());
            let mut promised = Promised::default();
            // Not every error matters: an index that cannot be opened is done without.
            let _ = workload(&medium, &mut promised);
            let context = format!("operation {n}");
            keeps(&medium, &promised, &context);
            keeps(&medium.crash_image(), &promised, &context);
            let mut writer = writer(&medium);
            append(&mut writer, &[b"goes on".to_vec()]);
            writer.flush().unwrap();
            for image in [medium.clone(), medium.crash_image()] {
                keeps(&image, &promised, &context);
                assert_eq!(get(&reader(&image), b"goes on"), found(b"goes on"), "{context}");
            }
        }
    }
}

#[test]
fn a_flush_that_failed_in_a_write_can_be_tried_again_or_discarded() {
    for discard in [false, true] {
        let medium = medium();
        let mut writer = writer(&medium);
        append(&mut writer, &[b"first".to_vec()]);
        writer.flush().unwrap();
        let before = pack_bytes(&medium, "001.pack");
        let group = bodies(5);
        append(&mut writer, &group);
        medium.fail(Fault::nth(Op::Write, 1).kind(ErrorKind::StorageFull).partial());
        assert!(matches!(writer.flush(), Err(LogError::Io { .. })));
        assert_eq!(pack_bytes(&medium, "001.pack"), before, "nothing of the group is left");
        if discard {
            writer.discard();
            append(&mut writer, &group[..1]);
        }
        writer.flush().unwrap();
        assert_eq!(all_good(&medium).len(), if discard { 2 } else { 6 });
    }
}

#[test]
fn after_a_failed_sync_everything_fails() {
    for nth in [1, 2] {
        let medium = medium();
        let mut writer = writer(&medium);
        append(&mut writer, &[b"first".to_vec()]);
        // The file's sync, then the folder's.
        medium.fail(Fault::nth(Op::Sync, nth));
        assert!(matches!(writer.flush(), Err(LogError::Io { action: "sync", .. })));
        let body = b"x".to_vec();
        let poisoned = [
            writer.flush(),
            writer.append(&body, sha(&body)),
            writer.append_compressed(compress(&body, sha(&body)).unwrap()),
            writer.purge(&[sha(&body)]).map(drop),
            writer.publish_index(0).map(drop),
            writer.refresh(),
        ];
        for result in poisoned {
            assert!(matches!(result, Err(LogError::Poisoned(_))), "{result:?}");
        }
        let mut writer = super::writer(&medium);
        append(&mut writer, &[b"first".to_vec()]);
        writer.flush().unwrap();
        assert_eq!(get(&reader(&medium.crash_image()), b"first"), found(b"first"));
    }
}

#[test]
fn short_writes_are_continued() {
    let medium = medium();
    medium.write_short(3);
    let mut promised = Promised::default();
    workload(&medium, &mut promised).unwrap();
    keeps(&medium.crash_image(), &promised, "short writes");
    all_good(&medium);
}
