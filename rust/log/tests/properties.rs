//! What holds of every whole log: all ways of reading it agree, however its rows are spread over segments.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use std::ops::ControlFlow;

use common::{
    Files, MONTH_NS, Random, Seen, audit, check, clean_rows, commit, draft, empty, files, install, open_reader,
    open_with, open_writer, reverse, scan,
};
use cyberos_log::format::frame::HEADER;
use cyberos_log::json::Value;
use cyberos_log::log::peaks::{Peaks, leaf};
use cyberos_log::log::verify::{Options, verify};
use cyberos_log::log::{Event, Position, SegmentPolicy};
use cyberos_log::row::RowDraft;
use cyberos_log::segment::{Batch, BatchReader, find_frame, find_last_frame};

/// A length whose order of magnitude is as likely as any other, up to 2^`bits`.
fn length(random: &mut Random, bits: u64) -> usize {
    let most = 1 << random.below(bits + 1);
    usize::try_from(random.below(most)).unwrap()
}

/// A row of any size, with any text in it.
fn any_row(random: &mut Random, n: u64, bits: u64) -> RowDraft {
    const ALPHABET: [char; 12] = ['a', 'z', ' ', '"', '\\', '{', '\u{1}', '\n', 'é', '\u{7f}', '\u{2028}', '😀'];
    let size = length(random, bits);
    let text: String = (0..size).map(|_| ALPHABET[usize::try_from(random.below(12)).unwrap()]).collect();
    let mut row = draft(n);
    row.extra.insert("text".into(), Value::Str(text));
    row.extra.insert("decoy".into(), Value::Str(r#"{"actor":"x","chain":""#.into()));
    row
}

/// A log of random rows in random groups, and its files with some of the sealed segments compacted, in several zstd frames.
fn any_log(seed: u64, groups: u64, bits: u64) -> (Files, Files) {
    let mut random = Random(seed);
    let fake = empty();
    let max_bytes = 1 << (9 + random.below(bits));
    let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes }).unwrap();
    let (mut n, mut month) = (0, 0);
    for _ in 0..groups {
        month += u64::from(random.below(10) == 0);
        for _ in 0..=random.below(6) {
            n += 1;
            let mut row = any_row(&mut random, n, bits);
            row.ts_ns += month * MONTH_NS;
            writer.stage(&row).unwrap();
        }
        writer.commit(&mut |_| {}).unwrap();
    }
    let plain = files(&fake);
    let mut mixed = Files::new();
    for (name, bytes) in &plain {
        if name.starts_with("20") && random.below(2) == 0 {
            let part = 1 + usize::try_from(random.below(bytes.len() as u64)).unwrap();
            let frames: Vec<_> = bytes.chunks(part).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect();
            mixed.insert(format!("{name}.zst"), frames);
        } else {
            mixed.insert(name.clone(), bytes.clone());
        }
    }
    (plain, mixed)
}

fn positions(rows: &[Seen]) -> Vec<(u64, u64, &[u8])> {
    rows.iter().map(|row| (row.seq, row.offset, row.payload.as_slice())).collect()
}

#[test]
fn all_ways_of_reading_agree() {
    for seed in 0..40 {
        let (plain, mixed) = any_log(seed, 30, 11);
        let rows = clean_rows(&install(&plain));
        let fake = install(&mixed);
        let again = clean_rows(&fake);
        assert_eq!(positions(&again), positions(&rows), "compaction changes nothing");
        let log = open_reader(&fake).unwrap();
        let mut buf = Vec::new();
        for row in &rows {
            let frame = log.frame_at(row.seq, row.offset, &mut buf).unwrap();
            assert_eq!((frame.header.seq, frame.payload), (row.seq, row.payload.as_slice()));
            assert!(row.offset == 0 || log.frame_at(row.seq + 1, row.offset, &mut buf).is_err());
            assert!(log.frame_at(row.seq, row.offset + 1, &mut buf).is_err());
        }
        let mut expected = Peaks::default();
        for row in &rows {
            expected.push(leaf(&row.payload));
        }
        for threads in 1..4 {
            let report = verify(&log, Options { threads, ..Options::default() }, &|_| true).unwrap();
            assert_eq!(report.peaks.as_ref(), Some(&expected));
            assert_eq!(report.bytes, rows.iter().map(|row| (HEADER + row.payload.len()) as u64).sum::<u64>());
        }
    }
}

#[test]
fn reading_from_and_down_to_any_row() {
    let (_, mixed) = any_log(77, 25, 9);
    let fake = install(&mixed);
    let log = open_reader(&fake).unwrap();
    let (rows, _) = scan(&log).unwrap();
    for (index, row) in rows.iter().enumerate() {
        let place = log.segments().place_of(row.seq).unwrap();
        let from = Position { place, offset: row.offset, seq: row.seq };
        let mut seen = Vec::new();
        log.scan(from, |event| {
            let Event::Frame(_, frame) = event else { panic!("{event:?}") };
            seen.push(frame.header.seq);
            Ok(if seen.len() == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
        assert!(rows[index..].iter().take(5).map(|row| row.seq).eq(seen));
        let mut down = log.reverse(from);
        let mut left = rows.len();
        while let Some(frame) = down.next().unwrap() {
            left -= 1;
            assert_eq!(frame.payload, rows[left].payload);
        }
        assert_eq!(left, index);
    }
    let end = log.end().unwrap();
    let behind = Position { place: end.place, offset: end.offset, seq: end.seq + 1 };
    assert!(log.reverse(behind).next().unwrap().is_none());
    let next_segment = Position { place: end.place + 1, offset: 0, seq: end.seq + 1 };
    assert!(log.reverse(next_segment).next().unwrap().is_none());
}

#[test]
fn rows_of_every_size() {
    let (plain, mixed) = any_log(5, 12, 20);
    let largest = plain.values().map(Vec::len).max().unwrap();
    assert!(largest > 2 << 20, "rows are larger than the chunks in which logs are read: {largest}");
    let rows = clean_rows(&install(&plain));
    assert_eq!(positions(&clean_rows(&install(&mixed))), positions(&rows));
}

#[test]
fn the_largest_row() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
    let mut row = draft(2);
    let rest = 16_777_215 - row.seal(&cyberos_log::Digest::ZERO).unwrap().0.len() - r#","text":"""#.len();
    row.extra.insert("text".into(), Value::Str("x".repeat(rest)));
    commit(&mut writer, &[draft(1), row.clone(), draft(3)]).unwrap();
    let rows = clean_rows(&fake);
    assert_eq!(rows[1].payload.len(), 16_777_215);
    row.extra.insert("text".into(), Value::Str("x".repeat(rest + 1)));
    assert!(writer.stage(&row).is_err());
    assert_eq!(writer.staged(), 0);
    drop(writer);
    assert_eq!(open_writer(&fake).unwrap().0.last_seq(), 3);
}

#[test]
fn frames_are_found_from_any_offset() {
    let (plain, _) = any_log(6, 10, 8);
    let log = open_reader(&install(&plain)).unwrap();
    for segment in log.segments().list() {
        let mut reader = BatchReader::new(segment, 0, segment.first_seq, None).unwrap();
        let mut batch = Batch::default();
        let mut starts = Vec::new();
        while reader.read(&mut batch).unwrap().is_none() && !batch.is_empty() {
            starts.extend(
                batch.frames().map(|frame| frame.map(|frame| (frame.offset, frame.end(), frame.header.seq)).unwrap()),
            );
        }
        for at in 0..=segment.len().unwrap() {
            let next = find_frame(segment, at, 1).unwrap().map(|found| found.offset);
            assert_eq!(next, starts.iter().map(|start| start.0).find(|&start| start >= at), "from {at}");
            let last = find_last_frame(segment, at).unwrap().map(|found| found.end());
            assert_eq!(last, starts.iter().map(|start| start.1).rfind(|&end| end <= at), "up to {at}");
        }
        let seq = segment.first_seq + 2;
        let expected = starts.iter().find(|start| start.2 >= seq).map(|start| start.0);
        assert_eq!(find_frame(segment, 0, seq).unwrap().map(|found| found.offset), expected);
    }
}

#[test]
fn a_reader_keeps_up_with_every_change() {
    for seed in 0..10 {
        let mut random = Random(seed);
        let fake = empty();
        let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes: 2_000 }).unwrap();
        let mut reader = open_reader(&fake).unwrap();
        let mut n = 0;
        for _ in 0..40 {
            let group: Vec<_> = (0..=random.below(3))
                .map(|_| {
                    n += 1;
                    any_row(&mut random, n, 8)
                })
                .collect();
            commit(&mut writer, &group).unwrap();
            if random.below(4) == 0 {
                compact_one(&fake);
            }
            if random.below(2) == 0 {
                assert!(reader.refresh().unwrap());
                assert!(!reader.refresh().unwrap());
                assert_eq!(reader.last_seq(), n);
                let (newest_first, broken) = reverse(&reader);
                assert!(!broken && newest_first.len() as u64 == n);
                assert_eq!(check(&reader).findings, []);
            } else {
                assert_eq!(reader.segments().list().is_empty(), reader.last_seq() == 0);
                assert!(scan(&reader).unwrap().1.is_empty(), "segments stay readable while they are replaced");
            }
        }
    }
}

/// Replaces a sealed segment by its compacted form, as another program would.
fn compact_one(fake: &cyberos_log::medium::fake::Fake) {
    use cyberos_log::medium::Medium;
    let sealed = files(fake).into_iter().find(|(name, _)| name.starts_with("20") && name.ends_with(".binlog"));
    if let Some((name, bytes)) = sealed {
        common::put_file(fake, &format!("{name}.zst"), &zstd::encode_all(bytes.as_slice(), 1).unwrap());
        fake.remove(&audit().join(name)).unwrap();
    }
}
