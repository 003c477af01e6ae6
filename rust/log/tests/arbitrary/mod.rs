//! Any bytes as the files of a log: nothing panics or hangs. Called by plain tests and by the fuzz targets.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "helpers of tests")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use cyberos_log::log::peaks::{Peaks, leaf};
use cyberos_log::log::verify::{Options, verify};
use cyberos_log::log::{LogReader, LogWriter, SegmentPolicy};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, Open};
use cyberos_log::row::RowDraft;

const AUDIT: &str = "/store/audit";

/// Takes the bytes for a tip file, an active segment and a sealed one, cut at the lengths that its first bytes say.
pub fn log(data: &[u8]) {
    let Some(([tip, first, second, compacted], rest)) = data.split_first_chunk() else { return };
    let cut = |bytes: usize, n: u8| bytes * usize::from(n) / 255;
    let (tip, rest) = rest.split_at(cut(rest.len().min(1100), *tip));
    let (sealed, rest) = rest.split_at(cut(rest.len(), *first));
    let (another, active) = rest.split_at(cut(rest.len(), *second));
    let name = if compacted % 2 == 0 { "2026-01_01.binlog" } else { "2026-01_01.binlog.zst" };
    files(&[("tip", tip), (name, sealed), ("2026-02_01.binlog", another), ("current.binlog", active)]);
}

/// Takes the bytes for the active segment of a log without a tip.
pub fn segment(data: &[u8]) {
    files(&[("current.binlog", data)]);
}

/// Takes the bytes for the peaks of a log.
pub fn peaks(data: &[u8]) {
    let fake = medium(&[]);
    fake.create_dir_all(&Path::new(AUDIT).join("mmr")).unwrap();
    put(&fake, "mmr/peaks.bin", data);
    if let Some(mut peaks) = Peaks::read(&fake, Path::new(AUDIT)).unwrap() {
        assert_eq!(peaks.encode(), data);
        peaks.root();
        peaks.push(leaf(b"x"));
        assert_eq!(Peaks::decode(&peaks.encode()), Some(peaks));
    }
}

fn put(fake: &Fake, name: &str, bytes: &[u8]) {
    let file = fake.open(&Path::new(AUDIT).join(name), Open::Create).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.sync().unwrap();
}

/// A medium with these files; empty ones are left out.
fn medium(files: &[(&str, &[u8])]) -> Fake {
    let fake = Fake::with_dir(AUDIT);
    for (name, bytes) in files.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        put(&fake, name, bytes);
    }
    fake.sync_dir(Path::new(AUDIT)).unwrap();
    fake
}

/// Reads the files in every way, then writes to them in every way.
pub fn files(files: &[(&str, &[u8])]) {
    let fake = medium(files);
    read(&fake);
    write(&fake.copy());
    write(&fake.crash_image());
}

fn read(fake: &Fake) {
    let log = LogReader::open(Arc::new(fake.clone()), AUDIT.into()).unwrap();
    let mut last = 0;
    log.scan(log.start(), |event| {
        if let cyberos_log::log::Event::Frame(_, frame) = event {
            assert!(frame.header.seq > last, "a scan goes up");
            last = frame.header.seq;
        }
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    let mut reverse = log.reverse(log.start());
    let mut below = u64::MAX;
    while let Ok(Some(frame)) = reverse.next() {
        assert!(frame.header.seq < below, "reverse goes down");
        below = frame.header.seq;
    }
    for (seq, offset) in [(log.last_seq(), 0), (1, 0), (2, 7), (u64::MAX, u64::MAX)] {
        let _ = log.frame_at(seq, offset, &mut Vec::new());
    }
    let reports = [1, 2].map(|threads| verify(&log, Options { threads, ..Options::default() }, &|_| true).unwrap());
    assert_eq!(reports[0], reports[1], "threads make no difference");
}

/// Where a writer opens, it appends, and the next one finds what it appended.
fn write(fake: &Fake) {
    let open =
        || LogWriter::open(Arc::new(fake.clone()), AUDIT.into(), SegmentPolicy { max_bytes: 500 }, &mut |_| Ok(()));
    let Ok((mut writer, _)) = open() else { return };
    let draft = RowDraft {
        op: "put".into(),
        path: "memories/a.md".into(),
        actor: "a".into(),
        content_sha256: String::new(),
        extra: std::collections::BTreeMap::new(),
        ts_ns: 1_790_000_000_000_000_000,
    };
    writer.stage(&draft).unwrap();
    writer.commit(&mut |_| {}).unwrap();
    let last = writer.last_seq();
    drop(writer);
    assert_eq!(open().unwrap().0.last_seq(), last);
}
