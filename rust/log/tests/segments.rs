//! What is remembered of sealed segments makes opening faster and changes no answer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{audit, commit, draft, empty, files, open_with, put_file, shared};
use cyberos_log::log::SegmentPolicy;
use cyberos_log::medium::fake::{Fake, Fault, Op};
use cyberos_log::medium::{Medium, Open};
use cyberos_log::segment::Segments;

const TABLE: &str = "/store/index/segments";

/// A log of single rows, each in a segment of its own, and what its sealed segments begin with remembered.
fn remembered(rows: u64) -> Fake {
    let fake = empty();
    append(&fake, 1..=rows);
    looked_at(&fake).remember().unwrap();
    fake
}

fn append(fake: &Fake, rows: std::ops::RangeInclusive<u64>) {
    let (mut writer, _) = open_with(fake, SegmentPolicy { max_bytes: 1 }).unwrap();
    for n in rows {
        commit(&mut writer, &[draft(n)]).unwrap();
    }
}

fn looked_at(fake: &Fake) -> Segments {
    Segments::open(shared(fake), audit()).unwrap()
}

fn found(segments: &Segments) -> Vec<(String, u64)> {
    segments.list().iter().map(|segment| (segment.name.clone(), segment.first_seq)).collect()
}

fn opens(fake: &Fake) -> u64 {
    fake.reset_counts();
    Segments::open_remembered(shared(fake), audit()).unwrap();
    fake.counts_of(".binlog").opens
}

fn agrees(fake: &Fake, context: &str) {
    let quick = Segments::open_remembered(shared(fake), audit()).unwrap();
    assert_eq!(found(&quick), found(&looked_at(fake)), "{context}");
}

#[test]
fn opening_opens_only_the_active_segment_however_many_are_sealed() {
    for rows in [2, 40] {
        let fake = remembered(rows);
        assert_eq!(opens(&fake), 1, "of {rows}");
        agrees(&fake, "as remembered");
    }
    let fake = remembered(40);
    fake.remove(Path::new(TABLE)).unwrap();
    assert_eq!(opens(&fake), 40);
}

#[test]
fn what_was_remembered_of_another_state_of_the_folder_is_not_used() {
    let sealed = |fake: &Fake| {
        let names = files(fake).into_keys();
        names.filter(|name| name.starts_with("20")).map(|name| audit().join(name)).collect::<Vec<_>>()
    };
    let fake = remembered(6);
    append(&fake, 7..=9);
    agrees(&fake, "more were sealed");

    let fake = remembered(6);
    let names = sealed(&fake);
    let aside = audit().join("aside");
    fake.rename(&names[1], &aside).unwrap();
    agrees(&fake, "one is away");
    fake.rename(&names[3], &names[1]).unwrap();
    fake.rename(&aside, &names[3]).unwrap();
    agrees(&fake, "two changed places");

    let fake = remembered(6);
    let content = fake.read(&sealed(&fake)[2]).unwrap().unwrap();
    fake.remove(&sealed(&fake)[2]).unwrap();
    put_file(&fake, "2020-01_01.binlog", &content);
    agrees(&fake, "one has another name");
}

#[test]
fn a_table_that_is_damaged_cut_or_of_another_version_is_none() {
    let fake = remembered(5);
    let table = fake.read(Path::new(TABLE)).unwrap().unwrap();
    for at in 0..table.len() {
        let mut bytes = table.clone();
        bytes[at] ^= 0x10;
        let file = fake.open(Path::new(TABLE), Open::Write).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        assert_eq!(opens(&fake), 5, "byte {at}");
        agrees(&fake, "damaged");
    }
    looked_at(&fake).remember().unwrap();
    assert_eq!(opens(&fake), 1);
}

#[test]
fn a_segment_that_was_overwritten_in_place_says_so_until_the_next_writer_has_looked() {
    let fake = remembered(6);
    let segments = files(&fake);
    let (name, other) = (segments.keys().nth(1).unwrap(), segments.values().nth(4).unwrap());
    let path = audit().join(name);
    // Two rows of another place, by a program that keeps the file's name.
    let rest = segments.values().nth(5).unwrap();
    let file = fake.open(&path, Open::Write).unwrap();
    file.set_len(0).unwrap();
    file.write_all_at(&[&other[..], &rest[..]].concat(), 0).unwrap();
    let quick = Segments::open_remembered(shared(&fake), audit()).unwrap();
    let error = quick.list().iter().find(|segment| segment.name == *name).unwrap().len().unwrap_err().to_string();
    assert!(error.contains("begins with row") && error.contains("index/segments says 2"), "{error}");
    looked_at(&fake).remember().unwrap();
    agrees(&fake, "remembered anew");
}

#[test]
fn a_segment_compacted_after_the_opening_is_read_all_the_same() {
    let fake = remembered(4);
    let quick = Segments::open_remembered(shared(&fake), audit()).unwrap();
    let first = &quick.list()[0];
    let plain = audit().join(&first.name);
    let bytes = fake.read(&plain).unwrap().unwrap();
    put_file(&fake, &format!("{}.zst", first.name), &zstd::encode_all(&bytes[..], 3).unwrap());
    fake.remove(&plain).unwrap();
    let mut read = vec![0; bytes.len() + 1];
    let len = first.read(&mut read, 0).unwrap();
    assert!(read[..len] == bytes[..]);
}

#[test]
fn a_table_that_cannot_be_written_is_an_error_and_nothing_else() {
    for n in 1..4 {
        let fake = empty();
        append(&fake, 1..=3);
        let segments = looked_at(&fake);
        fake.fail(Fault::nth_change(n));
        let result = segments.remember();
        fake.clear_faults();
        assert!(result.is_err() || fake.stat(Path::new(TABLE)).unwrap().is_some(), "change {n}");
        agrees(&fake, "half-written");
        fake.fail(Fault::nth(Op::Open, 1).on("index/segments"));
        agrees(&fake, "it cannot be opened");
    }
}
