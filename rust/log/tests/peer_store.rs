//! The log of a store that the public Python implementation wrote: read, verified and appended to.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyberos_log::log::peaks::Peaks;
use cyberos_log::log::verify::{Options, verify};
use cyberos_log::log::{Event, LogReader, LogWriter, SegmentPolicy};
use cyberos_log::medium::Os;
use cyberos_log::row::RowDraft;
use cyberos_log::segment::Frame;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/peer-store/audit")
}

fn copy_audit(to: &Path) -> PathBuf {
    let audit = to.join("audit");
    std::fs::create_dir_all(audit.join("mmr")).unwrap();
    for name in ["current.binlog", "mmr/peaks.bin"] {
        // Not fs::copy: the fixture may be read-only, and a mode is copied too.
        std::fs::write(audit.join(name), std::fs::read(fixture().join(name)).unwrap()).unwrap();
    }
    audit
}

fn draft(n: u64) -> RowDraft {
    RowDraft {
        op: "memory.importance_scored".into(),
        path: format!("memories/facts/{n}.md"),
        actor: "tester".into(),
        content_sha256: String::new(),
        extra: BTreeMap::new(),
        ts_ns: 1_800_000_000_000_000_000 + n,
    }
}

#[test]
fn it_verifies_and_its_peaks_recompute() {
    let log = LogReader::open(Arc::new(Os), fixture()).unwrap();
    let report = verify(&log, Options::default(), &|_| true).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!((report.rows, report.bytes, report.segments), (424, 198_670, 1));
    let stored = Peaks::read(&Os, &fixture()).unwrap().unwrap();
    assert_eq!(report.peaks, Some(stored));
}

#[test]
fn reverse_is_forward_reversed() {
    let log = LogReader::open(Arc::new(Os), fixture()).unwrap();
    let mut forward = Vec::new();
    log.scan(log.start(), |event| {
        let Event::Frame(_, frame) = event else { panic!("damage in the fixture: {event:?}") };
        forward.push((frame.header.seq, frame.offset, frame.payload.to_vec()));
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(forward.len(), 424);
    let mut reverse = log.reverse(log.start());
    while let Some(frame) = reverse.next().unwrap() {
        let expected = forward.pop().unwrap();
        assert_eq!((frame.header.seq, frame.offset, frame.payload.to_vec()), expected);
    }
    assert!(forward.is_empty());
}

#[test]
fn a_copy_is_appended_to_and_still_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let audit = copy_audit(dir.path());
    let mut accept = |_: &Frame<'_>| Ok(());
    let policy = SegmentPolicy::default();
    let (mut writer, recovery) = LogWriter::open(Arc::new(Os), audit.clone(), policy, &mut accept).unwrap();
    assert!(recovery.adopted);
    assert_eq!(recovery.accepted, 424);
    for n in 0..3 {
        writer.stage(&draft(n)).unwrap();
    }
    writer.commit(&mut |_| {}).unwrap();
    assert_eq!(writer.last_seq(), 427);
    drop(writer);
    let (writer, recovery) = LogWriter::open(Arc::new(Os), audit.clone(), policy, &mut accept).unwrap();
    assert!(!recovery.adopted && recovery.accepted == 0);
    assert_eq!(writer.last_seq(), 427);
    let log = LogReader::open(Arc::new(Os), audit).unwrap();
    let report = verify(&log, Options::default(), &|_| true).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.rows, 427);
    assert_eq!(log.segments().list().len(), 2, "the rows of January 2027 begin a new segment");
}
