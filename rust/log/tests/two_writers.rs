//! Writers that take turns on one log: two of ours, and a program that appends frames and knows no tip.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;

use std::io;
use std::path::Path;
use std::sync::Arc;

use common::{
    MONTH_NS, Random, append_as_peer, audit, clean_rows, commit, draft, empty, files, open_reader, open_with,
    open_writer, put_file, raw_frames, sealed,
};
use cyberos_log::log::{LogReader, LogWriter, Recovery, SegmentPolicy};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, MediumFile, Open, Stat};
use cyberos_log::row::{Row, RowDraft};
use cyberos_log::{Digest, LogError};

const POLICY: SegmentPolicy = SegmentPolicy { max_bytes: 1_500 };

/// Refreshes, and returns the numbers of the rows that others appended.
fn catch_up(writer: &mut LogWriter) -> Vec<u64> {
    let mut seen = Vec::new();
    let recovery = writer
        .refresh(&mut |frame| {
            seen.push(frame.header.seq);
            Ok(())
        })
        .unwrap();
    assert_eq!(recovery, Recovery { accepted: seen.len() as u64, ..Recovery::default() });
    seen
}

fn last_chain(fake: &Fake) -> (u64, Digest) {
    let rows = clean_rows(fake);
    rows.last().map_or((0, Digest::ZERO), |row| (row.seq, Row::parse(&row.payload).unwrap().chain()))
}

/// Appends as the other program does, in a new segment where it likes.
fn append_foreign(fake: &Fake, drafts: &[RowDraft], seal: bool) {
    let (seq, chain) = last_chain(fake);
    if seal && files(fake).contains_key("current.binlog") {
        fake.rename(&audit().join("current.binlog"), &audit().join(format!("2026-06_9{seq:03}.binlog"))).unwrap();
        fake.sync_dir(&audit()).unwrap();
    }
    append_as_peer(fake, &raw_frames(seq + 1, &sealed(drafts, chain)), seq + drafts.len() as u64);
}

#[test]
fn two_writers_and_another_program_take_turns() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let fake = empty();
        let mut writers = [open_with(&fake, POLICY).unwrap().0, open_with(&fake, POLICY).unwrap().0];
        let (mut expected, mut month) = (Vec::new(), 0);
        let mut unseen = [Vec::new(), Vec::new()];
        for _ in 0..40 {
            month += u64::from(random.below(12) == 0);
            let first = expected.len() as u64 + 1;
            let drafts: Vec<_> = (first..first + 1 + random.below(3))
                .map(|n| RowDraft { ts_ns: draft(n).ts_ns + month * MONTH_NS, ..draft(n) })
                .collect();
            let turn = usize::try_from(random.below(3)).unwrap();
            let numbers: Vec<u64> = (first..).take(drafts.len()).collect();
            if let Some(writer) = writers.get_mut(turn) {
                assert_eq!(catch_up(writer), unseen[turn]);
                unseen[turn].clear();
                commit(writer, &drafts).unwrap();
                assert_eq!(writer.last_seq(), *numbers.last().unwrap());
                unseen[1 - turn].extend(&numbers);
            } else {
                append_foreign(&fake, &drafts, random.below(4) == 0);
                for unseen in &mut unseen {
                    unseen.extend(&numbers);
                }
            }
            expected.extend(drafts.iter().map(|draft| draft.path.clone()));
        }
        let rows = clean_rows(&fake);
        let paths: Vec<_> = rows.iter().map(|row| Row::parse(&row.payload).unwrap().path().into_owned()).collect();
        assert_eq!(paths, expected);
        assert_eq!(clean_rows(&fake.crash_image()).len(), rows.len());
    }
}

#[test]
fn refreshing_without_news_reads_the_tip_and_nothing_else() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, POLICY).unwrap();
    commit(&mut writer, &[draft(1)]).unwrap();
    fake.reset_counts();
    assert_eq!(catch_up(&mut writer), []);
    let counts = fake.counts();
    assert_eq!((counts.opens, counts.bytes_read, counts.writes, counts.syncs), (0, 1024, 0, 0));
}

#[test]
fn a_refresh_forgets_what_was_staged() {
    let fake = empty();
    let (mut first, _) = open_with(&fake, POLICY).unwrap();
    let (mut second, _) = open_writer(&fake).unwrap();
    first.stage(&draft(1)).unwrap();
    commit(&mut second, &[draft(2)]).unwrap();
    assert_eq!(catch_up(&mut first), [1]);
    assert_eq!(first.staged(), 0);
    assert_eq!(first.stage(&draft(1)).unwrap().seq, 2);
}

#[test]
fn a_writer_that_did_not_look_overwrites_nothing() {
    let fake = empty();
    let (mut first, _) = open_with(&fake, POLICY).unwrap();
    let (mut second, _) = open_writer(&fake).unwrap();
    commit(&mut second, &[draft(1)]).unwrap();
    assert!(matches!(commit(&mut first, &[draft(2)]), Err(LogError::Corrupt { .. })));
    assert_eq!(clean_rows(&fake).len(), 1);
    assert_eq!(catch_up(&mut first), [1]);
    commit(&mut first, &[draft(2)]).unwrap();
    append_foreign(&fake, &[draft(3)], true);
    assert!(matches!(commit(&mut first, &[draft(4)]), Err(LogError::Corrupt { .. })));
    assert_eq!(catch_up(&mut first), [3]);
    commit(&mut first, &[draft(4)]).unwrap();
    assert_eq!(clean_rows(&fake).len(), 4);
}

#[test]
fn rows_of_another_program_become_durable_before_ours_rest_on_them() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, POLICY).unwrap();
    commit(&mut writer, &[draft(1)]).unwrap();
    let (seq, chain) = last_chain(&fake);
    let file = fake.open(&audit().join("current.binlog"), cyberos_log::medium::Open::Write).unwrap();
    let frames = raw_frames(seq + 1, &sealed(&[draft(2), draft(3)], chain));
    file.write_all_at(&frames, file.len().unwrap()).unwrap();
    assert_eq!(clean_rows(&fake.crash_image()).len(), 1, "it died before its sync");
    assert_eq!(catch_up(&mut writer), [2, 3]);
    let later = RowDraft { ts_ns: draft(4).ts_ns + MONTH_NS, ..draft(4) };
    commit(&mut writer, &[later]).unwrap();
    assert_eq!(clean_rows(&fake.crash_image()).len(), 4);
}

#[test]
fn a_refresh_that_meets_damage_is_refused() {
    type Spoil = fn(&Fake);
    fn edit(fake: &Fake, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = files(fake)[name].clone();
        change(&mut bytes);
        put_file(fake, name, &bytes);
    }
    let spoils: &[(&str, Spoil)] = &[
        ("rows cut off", |fake| edit(fake, "current.binlog", |log| log.truncate(log.len() - 1))),
        ("the log emptied", |fake| edit(fake, "current.binlog", Vec::clear)),
        ("the log removed", |fake| fake.remove(&audit().join("current.binlog")).unwrap()),
        ("the tip emptied", |fake| edit(fake, "tip", Vec::clear)),
        ("a row that does not follow", |fake| {
            let frames = raw_frames(4, &sealed(&[draft(4)], Digest::ZERO));
            edit(fake, "current.binlog", |log| log.extend(frames));
        }),
        ("a row with a number left out", |fake| {
            let (seq, chain) = last_chain(fake);
            let frames = raw_frames(seq + 2, &sealed(&[draft(4)], chain));
            edit(fake, "current.binlog", |log| log.extend(frames));
        }),
        ("a broken row before a whole one", |fake| {
            let (seq, chain) = last_chain(fake);
            let mut frames = raw_frames(seq + 1, &sealed(&[draft(4), draft(5)], chain));
            frames[60] ^= 1;
            edit(fake, "current.binlog", |log| log.extend(frames));
        }),
        ("another history of the same length", |fake| {
            let others: Vec<_> = (11..14).map(draft).collect();
            edit(fake, "current.binlog", |log| {
                *log = raw_frames(1, &sealed(&others, Digest::ZERO));
                log.extend(b"x");
            });
        }),
    ];
    for (what, spoil) in spoils {
        let fake = empty();
        let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
        commit(&mut writer, &[draft(1), draft(2), draft(3)]).unwrap();
        spoil(&fake);
        let before = files(&fake);
        let refreshed = writer.refresh(&mut |_| Ok(()));
        assert!(matches!(refreshed, Err(LogError::Corrupt { .. })), "{what}: {refreshed:?}");
        if *what != "the tip emptied" {
            assert!(commit(&mut writer, &[draft(9)]).is_err(), "{what}");
        }
        assert_eq!(files(&fake).get("current.binlog"), before.get("current.binlog"), "{what}");
    }
}

#[test]
fn a_torn_tail_of_another_program_is_moved_aside_by_a_refresh() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, POLICY).unwrap();
    commit(&mut writer, &[draft(1)]).unwrap();
    append_as_peer(&fake, b"\0\0\x01\x10torn", 1);
    let tail = writer.refresh(&mut |_| Ok(())).unwrap().tail.unwrap();
    assert_eq!(files(&fake)[&tail.kept_as], b"\0\0\x01\x10torn");
    commit(&mut writer, &[draft(2)]).unwrap();
    assert_eq!(clean_rows(&fake).len(), 2);
}

/// A medium on which something happens right after the first look into a folder.
#[derive(Debug)]
struct Raced {
    fake: Fake,
    then: std::sync::Mutex<Option<LogWriter>>,
}

impl Medium for Raced {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn MediumFile>> {
        self.fake.open(path, how)
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.fake.stat(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let names = self.fake.list(dir);
        if let Some(mut writer) = self.then.lock().unwrap().take() {
            let later = RowDraft { ts_ns: draft(9).ts_ns + MONTH_NS, ..draft(9) };
            commit(&mut writer, &[later]).unwrap();
        }
        names
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.fake.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.fake.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<bool> {
        self.fake.remove_dir(path)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.fake.create_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.fake.sync_dir(dir)
    }
}

#[test]
fn a_segment_sealed_while_a_reader_opens_is_not_missed() {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, POLICY).unwrap();
    commit(&mut writer, &[draft(1), draft(2)]).unwrap();
    let raced = Raced { fake, then: std::sync::Mutex::new(Some(writer)) };
    let reader = LogReader::open(Arc::new(raced), audit()).unwrap();
    let (rows, damages) = common::scan(&reader).unwrap();
    assert_eq!(damages, []);
    assert!(rows.iter().map(|row| row.seq).eq(1..=3));
}

#[test]
fn a_reader_sees_what_a_writer_appends_and_seals() {
    let fake = empty();
    let mut reader = open_reader(&fake).unwrap();
    let (mut writer, _) = open_with(&fake, POLICY).unwrap();
    for n in 1..40 {
        assert!(!reader.refresh().unwrap());
        commit(&mut writer, &[draft(n)]).unwrap();
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.last_seq(), n);
        let (newest_first, broken) = common::reverse(&reader);
        assert!(!broken && newest_first.iter().map(|row| row.seq).eq((1..=n).rev()));
    }
    assert!(reader.segments().list().len() > 4);
}
