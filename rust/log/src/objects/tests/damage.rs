//! Packs cut short, and packs with flipped bytes.

use super::*;
use crate::LogError;
use crate::format::frame;
use crate::format::pack::{Head, Kind};

/// Several packs: some bodies in one group, then one by one.
fn packs(publish: bool) -> (Fake, Vec<Vec<u8>>) {
    let medium = medium();
    let mut writer = writer(&medium);
    let bodies: Vec<Vec<u8>> = bodies(60).into_iter().filter(|body| body.len() < 100).take(16).collect();
    append(&mut writer, &bodies[..6]);
    writer.flush().unwrap();
    let mut writer = BodyWriter::with_limit(Arc::new(medium.clone()), OBJECTS.into(), INDEX.into(), 520).unwrap();
    for body in &bodies[6..] {
        append(&mut writer, std::slice::from_ref(body));
        writer.flush().unwrap();
    }
    if publish {
        assert!(writer.publish_index(1).unwrap());
    }
    assert!(pack_names(&medium).len() > 1);
    (medium, bodies)
}

fn frame_ends(bytes: &[u8]) -> Vec<usize> {
    let mut ends = vec![0];
    while *ends.last().unwrap() < bytes.len() {
        let at = *ends.last().unwrap();
        ends.push(at + frame::Header::decode(&bytes[at..]).unwrap().frame_len());
    }
    ends
}

#[test]
fn every_prefix_of_the_last_pack_opens_as_its_whole_frames() {
    let (medium, bodies) = packs(false);
    let names = pack_names(&medium);
    let (last, others) = names.split_last().unwrap();
    let full = pack_bytes(&medium, last);
    let before: usize = others.iter().map(|name| frame_ends(&pack_bytes(&medium, name)).len() - 1).sum();
    let ends = frame_ends(&full);
    assert!(ends.len() > 3);
    for len in 0..full.len() {
        let image = medium.crash_image();
        set_pack(&image, last, &full[..len]);
        let whole = ends.iter().filter(|end| **end <= len).count() - 1;
        let kept = before + whole;
        let check = |image: &Fake| {
            let reader = reader(image);
            for (n, body) in bodies.iter().enumerate() {
                assert_eq!(get(&reader, body), if n < kept { found(body) } else { Body::Absent }, "{len} {n}");
            }
            assert_eq!(all_good(image).len(), kept);
        };
        image.reset_counts();
        check(&image);
        assert_eq!((image.counts().writes, image.counts().syncs), (0, 0), "readers never write");
        let mut writer = writer(&image);
        assert_eq!(pack_bytes(&image, last).len(), ends[whole], "the torn frame is cut off");
        check(&image);
        append(&mut writer, &[b"goes on".to_vec()]);
        writer.flush().unwrap();
        assert_eq!(get(&reader(&image), b"goes on"), found(b"goes on"));
        assert_eq!(all_good(&image).len(), kept + 1);
    }
}

#[test]
fn every_flipped_byte_is_detected_or_harmless() {
    for publish in [false, true] {
        let (medium, bodies) = packs(publish);
        for name in pack_names(&medium) {
            let bytes = pack_bytes(&medium, &name);
            for at in 0..bytes.len() {
                let flip: u8 = if publish { 0xFF - (1 << (at % 7)) } else { 1 << (at % 8) };
                let image = medium.crash_image();
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                set_pack(&image, &name, &damaged);
                check_flip(&image, &bodies, &format!("{publish} {name} {at} {flip:#x}"));
            }
        }
    }
}

/// At most one body is not there, never another is returned, and if one is not there, reading everything finds it out.
fn check_flip(image: &Fake, bodies: &[Vec<u8>], context: &str) {
    let reader = reader(image);
    let gets: Vec<_> = bodies.iter().map(|body| reader.get(&sha(body))).collect();
    let mut lost = 0;
    for (body, got) in bodies.iter().zip(&gets) {
        match got {
            Ok(Body::Found(bytes)) => assert_eq!(bytes, body, "{context}"),
            Ok(Body::Absent) | Err(LogError::Corrupt { .. }) => lost += 1,
            other => panic!("{context}: {other:?}"),
        }
    }
    assert!(lost <= 1, "{context}: {lost} lost");
    let listed: Vec<_> = reader.iterate().unwrap().collect();
    let errors = listed.iter().filter(|item| item.is_err()).count();
    let whole = listed.iter().flatten().count();
    // At the end of a pack it shows twice: bytes that are no frame, and a number missing before the next pack.
    assert!(whole >= bodies.len() - 1 && errors <= 2, "{context}: {whole} whole, {errors} errors");
    // In the last group, damage cannot be told from a crash: then the body is absent.
    assert!(
        lost == 0
            || errors > 0
            || gets.last().unwrap().is_err()
            || *gets.last().unwrap().as_ref().unwrap() == Body::Absent,
        "{context}"
    );
    // A writer goes on and loses nothing that was there.
    let mut writer = writer(image);
    append(&mut writer, &[b"goes on".to_vec()]);
    writer.flush().unwrap();
    let reader = super::reader(image);
    assert_eq!(get(&reader, b"goes on"), found(b"goes on"), "{context}");
    for (body, before) in bodies.iter().zip(&gets) {
        if let Ok(Body::Found(_)) = before {
            assert_eq!(get(&reader, body), found(body), "{context}");
        }
    }
}

#[test]
fn a_damaged_frame_is_reported_with_file_and_offset() {
    let (medium, bodies) = packs(true);
    let mut bytes = pack_bytes(&medium, "001.pack");
    let start = frame_ends(&bytes)[1];
    bytes[start + 70] ^= 1;
    set_pack(&medium, "001.pack", &bytes);
    match reader(&medium).get(&sha(&bodies[1])) {
        Err(LogError::Corrupt { file, offset, seq, .. }) => {
            assert_eq!((file.as_str(), offset, seq), ("audit/objects/001.pack", start as u64, Some(2)));
        }
        other => panic!("{other:?}"),
    }
    let errors: Vec<_> = reader(&medium).iterate().unwrap().filter_map(Result::err).collect();
    assert!(matches!(&errors[..], [LogError::Corrupt { offset, .. }] if *offset == start as u64), "{errors:?}");
}

/// A pack whose frames are given.
fn pack(frames: &[(u64, Head, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (seq, head, data) in frames {
        frame::encode(&mut bytes, *seq, 1, &[&head.encode()[..], data].concat());
    }
    bytes
}

#[test]
fn a_frame_that_claims_more_than_it_holds_is_corrupt() {
    let body = vec![7; 100_000];
    let bomb = compress(&body, sha(&body)).unwrap().into_payload().split_off(37);
    let medium = medium();
    for length in [10, 99_999, 100_001, u32::MAX] {
        let head = Head { kind: Kind::Zstd, starts_group: true, sha: sha(&body), length };
        set_pack(&medium, "001.pack", &pack(&[(1, head, &bomb)]));
        assert!(matches!(reader(&medium).get(&sha(&body)), Err(LogError::Corrupt { .. })), "{length}");
    }
    // A digest that is not the body's.
    let head = Head { kind: Kind::Stored, starts_group: true, sha: sha(b"other"), length: 4 };
    set_pack(&medium, "001.pack", &pack(&[(1, head, b"body")]));
    assert!(matches!(reader(&medium).get(&sha(b"other")), Err(LogError::Corrupt { .. })));
}

#[test]
fn a_body_that_holds_frames_is_not_taken_for_them() {
    let medium = medium();
    let head = |body: &[u8]| {
        let length = u32::try_from(body.len()).unwrap();
        Head { kind: Kind::Stored, starts_group: true, sha: sha(body), length }
    };
    let inner = Head { starts_group: false, ..head(b"inner") };
    let frames = pack(&[(500, inner, b"inner"), (2, inner, b"inner"), (3, inner, b"inner")]);
    let outer = [&noise(1, 200)[..], &frames, &noise(2, 200)].concat();
    let bytes = pack(&[(1, head(b"first"), b"first"), (2, head(&outer), &outer), (3, head(b"last"), b"last")]);
    set_pack(&medium, "001.pack", &bytes);
    assert_eq!(all_good(&medium).len(), 3);
    assert_eq!(get(&reader(&medium), b"inner"), Body::Absent);
    assert_eq!(get(&reader(&medium), &outer), found(&outer));
    // Torn, its inside may come to light, but nothing that was there before is harmed.
    for len in 0..bytes.len() {
        let image = medium.copy();
        set_pack(&image, "001.pack", &bytes[..len]);
        let first = frame_ends(&bytes)[1];
        let mut writer = super::writer(&image);
        append(&mut writer, &[b"goes on".to_vec()]);
        writer.flush().unwrap();
        let reader = super::reader(&image);
        assert_eq!(get(&reader, b"goes on"), found(b"goes on"));
        if len >= first {
            assert_eq!(get(&reader, b"first"), found(b"first"));
        }
        all_good(&image);
    }
}

#[test]
fn a_lost_pack_loses_only_what_it_held() {
    let medium = medium();
    let mut writer = writer(&medium);
    let bodies: Vec<_> = (0..40).map(|n| noise(n, 300)).collect();
    for body in &bodies {
        append(&mut writer, std::slice::from_ref(body));
        writer.flush().unwrap();
    }
    assert!(pack_names(&medium).len() > 4);
    let lost = frame_ends(&pack_bytes(&medium, "002.pack")).len() - 1;
    for publish in [false, true] {
        if publish {
            assert!(writer.publish_index(1).unwrap());
        }
        let image = medium.crash_image();
        image.remove(&Path::new(OBJECTS).join("002.pack")).unwrap();
        let reader = reader(&image);
        let there = bodies.iter().filter(|body| matches!(reader.get(&sha(body)), Ok(Body::Found(_)))).count();
        assert_eq!(there, 40 - lost);
        assert_eq!(reader.iterate().unwrap().filter(Result::is_err).count(), 1);
        let mut writer = super::writer(&image);
        append(&mut writer, &[b"goes on".to_vec()]);
        writer.flush().unwrap();
        writer.publish_index(1).unwrap();
        let reader = super::reader(&image);
        assert_eq!(get(&reader, b"goes on"), found(b"goes on"));
        assert_eq!(get(&reader, &bodies[39]), found(&bodies[39]));
    }
}

#[test]
fn damage_that_no_crash_leaves_is_left_as_it_is() {
    let (medium, bodies) = packs(false);
    let mut whole_damage = 0;
    for name in pack_names(&medium) {
        let bytes = pack_bytes(&medium, &name);
        let ends = frame_ends(&bytes);
        // Not the last frame: with it, damage may be a crash's.
        for start in &ends[..ends.len() - 2] {
            for at in [start + 2, start + 40] {
                let image = medium.copy();
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x40;
                set_pack(&image, &name, &damaged);
                let mut writer = writer(&image);
                assert_eq!(pack_bytes(&image, &name), damaged);
                append(&mut writer, &bodies[..1]);
                writer.flush().unwrap();
                assert!(reader(&image).iterate().unwrap().any(|stored| stored.is_err()));
                whole_damage += 1;
            }
        }
    }
    assert!(whole_damage > 10);
}

#[test]
fn a_damaged_first_number_hides_no_other_body() {
    let medium = medium();
    let mut writer = writer(&medium);
    let bodies: Vec<_> = (0..40).map(|n| noise(n, 300)).collect();
    for body in &bodies {
        append(&mut writer, std::slice::from_ref(body));
        writer.flush().unwrap();
    }
    writer.publish_index(1).unwrap();
    assert!(pack_names(&medium).len() >= 6);
    for name in pack_names(&medium) {
        for at in 8..16 {
            let image = medium.copy();
            let mut bytes = pack_bytes(&medium, &name);
            bytes[at] ^= 0x11;
            set_pack(&image, &name, &bytes);
            let reader = reader(&image);
            let lost = bodies.iter().filter(|body| !matches!(reader.get(&sha(body)), Ok(Body::Found(_)))).count();
            assert!(lost <= 1, "{name} {at}: {lost}");
        }
    }
}
