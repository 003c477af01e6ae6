//! Logs on the fake medium, made and looked at; shared by the tests of the log.
#![allow(dead_code, reason = "every test file uses another part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyberos_log::format::frame;
use cyberos_log::json::Value;
use cyberos_log::log::verify::{Options, Report, verify};
use cyberos_log::log::{Damage, Event, LogReader, LogWriter, Recovery, SegmentPolicy};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, Open};
use cyberos_log::row::RowDraft;
use cyberos_log::{Digest, Result};

/// Time of the first row: 2026-06-15T00:00:00Z.
pub const START_NS: u64 = 1_781_481_600_000_000_000;
/// More than any month.
pub const MONTH_NS: u64 = 32 * 86_400_000_000_000;

/// The files in `audit/`, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

pub fn audit() -> PathBuf {
    PathBuf::from("/store/audit")
}

/// A medium that holds nothing but an empty `audit/`.
pub fn empty() -> Fake {
    Fake::with_dir(audit())
}

/// A medium whose `audit/` holds these files, durably.
pub fn install(files: &Files) -> Fake {
    let fake = empty();
    for (name, bytes) in files {
        put_file(&fake, name, bytes);
    }
    fake.reset_counts();
    fake
}

/// Puts one file into `audit/`, durably, in place of the one that was there.
pub fn put_file(fake: &Fake, name: &str, bytes: &[u8]) {
    let file = fake.open(&audit().join(name), Open::Create).unwrap();
    file.set_len(0).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.sync().unwrap();
    fake.sync_dir(&audit()).unwrap();
}

/// Makes the store one of ours, durably: a log in it that has no tip has lost it.
pub fn sign(fake: &Fake) {
    let root = audit().parent().unwrap().to_path_buf();
    let file = fake.open(&root.join("manifest.json"), Open::Create).unwrap();
    file.write_all_at(br#"{"format_version": 1}"#, 0).unwrap();
    file.sync().unwrap();
    fake.sync_dir(&root).unwrap();
}

/// What `audit/` holds now.
pub fn files(fake: &Fake) -> Files {
    let names = fake.list(&audit()).unwrap();
    let read = |name: String| fake.read(&audit().join(&name)).ok().flatten().map(|bytes| (name, bytes));
    names.into_iter().filter_map(read).collect()
}

/// The `n`th row of a test, small, and different from every other one.
pub fn draft(n: u64) -> RowDraft {
    RowDraft {
        op: "put".into(),
        path: format!("memories/{n}.md"),
        actor: "a".into(),
        content_sha256: String::new(),
        extra: BTreeMap::from([("n".to_owned(), Value::Int(n.into()))]),
        ts_ns: START_NS + n,
    }
}

pub fn shared(fake: &Fake) -> Arc<Fake> {
    Arc::new(fake.clone())
}

pub fn open_reader(fake: &Fake) -> Result<LogReader> {
    LogReader::open(shared(fake), audit())
}

pub fn open_with(fake: &Fake, policy: SegmentPolicy) -> Result<(LogWriter, Recovery)> {
    LogWriter::open(shared(fake), audit(), policy, &mut |_| Ok(()))
}

pub fn open_writer(fake: &Fake) -> Result<(LogWriter, Recovery)> {
    open_with(fake, SegmentPolicy::default())
}

/// Appends one group.
pub fn commit(writer: &mut LogWriter, drafts: &[RowDraft]) -> Result<()> {
    for draft in drafts {
        writer.stage(draft)?;
    }
    writer.commit(&mut |_| {})
}

/// A row as a reader saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub seq: u64,
    pub file: String,
    pub offset: u64,
    pub payload: Vec<u8>,
}

/// Reads the whole log forward.
pub fn scan(log: &LogReader) -> Result<(Vec<Seen>, Vec<Damage>)> {
    let (mut rows, mut damages) = (Vec::new(), Vec::new());
    log.scan(log.start(), |event| {
        match event {
            Event::Frame(segment, frame) => rows.push(Seen {
                seq: frame.header.seq,
                file: segment.name.clone(),
                offset: frame.offset,
                payload: frame.payload.to_vec(),
            }),
            Event::Damage(damage) => damages.push(damage),
        }
        Ok(ControlFlow::Continue(()))
    })?;
    assert!(rows.is_sorted_by(|a, b| a.seq < b.seq), "a scan goes up");
    Ok((rows, damages))
}

/// Reads the whole log backward: the rows, newest first, and whether damage ended it.
pub fn reverse(log: &LogReader) -> (Vec<Seen>, bool) {
    let mut rows = Vec::new();
    let mut reverse = log.reverse(log.start());
    loop {
        match reverse.next() {
            Ok(Some(frame)) => rows.push(Seen {
                seq: frame.header.seq,
                file: log.segments().get(log.segments().place_of(frame.header.seq).unwrap()).unwrap().name.clone(),
                offset: frame.offset,
                payload: frame.payload.to_vec(),
            }),
            Ok(None) => return (rows, false),
            Err(_) => return (rows, true),
        }
    }
}

pub fn check(log: &LogReader) -> Report {
    verify(log, Options { threads: 1, ..Options::default() }, &|_| true).unwrap()
}

/// Checks that the log is whole, and returns its rows.
#[track_caller]
pub fn clean_rows(fake: &Fake) -> Vec<Seen> {
    let log = open_reader(fake).unwrap();
    let report = check(&log);
    assert_eq!(report.findings, []);
    assert_eq!(report.torn_tail, None);
    let (rows, damages) = scan(&log).unwrap();
    assert_eq!(damages, []);
    assert_eq!(report.rows, rows.len() as u64);
    assert_eq!(log.last_seq(), rows.last().map_or(0, |row| row.seq));
    let (mut newest_first, broken) = reverse(&log);
    newest_first.reverse();
    assert!(!broken);
    assert_eq!(newest_first, rows);
    rows
}

/// A log of one segment, with the tip as it was after each of its rows.
pub struct Sample {
    pub log: Vec<u8>,
    /// Where the first `k` rows end.
    pub ends: Vec<usize>,
    /// The tip file after `k` rows.
    pub tips: Vec<Vec<u8>>,
    pub rows: Vec<Seen>,
}

impl Sample {
    pub fn new(rows: u64) -> Self {
        let fake = empty();
        let (mut writer, _) = open_with(&fake, SegmentPolicy::default()).unwrap();
        let (mut ends, mut tips) = (vec![0], vec![files(&fake)["tip"].clone()]);
        for n in 1..=rows {
            commit(&mut writer, &[draft(n)]).unwrap();
            let files = files(&fake);
            ends.push(files["current.binlog"].len());
            tips.push(files["tip"].clone());
        }
        let log = files(&fake).remove("current.binlog").unwrap_or_default();
        Self { log, ends, tips, rows: clean_rows(&fake) }
    }

    /// The first bytes of the log with the tip after `k` rows.
    pub fn cut(&self, bytes: usize, k: usize) -> Files {
        Files::from([
            ("current.binlog".to_owned(), self.log[..bytes].to_vec()),
            ("tip".to_owned(), self.tips[k].clone()),
        ])
    }

    /// Number of rows that end within the first `bytes` bytes.
    pub fn whole(&self, bytes: usize) -> usize {
        self.ends.iter().filter(|&&end| end <= bytes).count() - 1
    }
}

/// Seals hand-made payloads into frames numbered from `first_seq`. Each is given as a function of `prev_chain`.
pub fn raw_frames(first_seq: u64, payloads: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (seq, (ts_ns, payload)) in (first_seq..).zip(payloads) {
        frame::encode(&mut out, seq, *ts_ns, payload);
    }
    out
}

/// The payloads of a well-linked log of `drafts` behind `prev`.
pub fn sealed(drafts: &[RowDraft], mut prev: Digest) -> Vec<(u64, Vec<u8>)> {
    let mut payloads = Vec::new();
    for draft in drafts {
        let (payload, chain) = draft.seal(&prev).unwrap();
        prev = chain;
        payloads.push((draft.ts_ns, payload));
    }
    payloads
}

/// Writes what upstream's writer leaves: frames behind the end of the active segment, `HEAD`, and no tip.
pub fn append_as_peer(fake: &Fake, frames: &[u8], last_seq: u64) {
    let file = fake.open(&audit().join("current.binlog"), Open::Create).unwrap();
    file.write_all_at(frames, file.len().unwrap()).unwrap();
    file.sync().unwrap();
    fake.sync_dir(&audit()).unwrap();
    let head = fake.open(Path::new("/store/HEAD"), Open::Create).unwrap();
    head.write_all_at(&last_seq.to_le_bytes(), 0).unwrap();
    head.sync().unwrap();
}

/// Pseudo-random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}
