//! HEAD and peaks against the log: what lies behind is told from what is wrong.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use cyberos_log::log::peaks::{Peaks, leaf};
use cyberos_log::log::{Agreement, Event, LogReader, check_head, check_peaks};
use cyberos_log::medium::{Os, SharedMedium};

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/peer-store");

/// A copy of the peer's log, and its peaks after each row.
fn store() -> (tempfile::TempDir, Vec<Peaks>) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("audit/mmr")).unwrap();
    for file in ["HEAD", "audit/current.binlog", "audit/mmr/peaks.bin"] {
        std::fs::copy(Path::new(PEER).join(file), dir.path().join(file)).unwrap();
    }
    let mut peaks = vec![Peaks::default()];
    let log = open(dir.path());
    log.scan(log.start(), |event| {
        if let Event::Frame(_, frame) = event {
            let mut next = peaks.last().unwrap().clone();
            next.push(leaf(frame.payload));
            peaks.push(next);
        }
        Ok(std::ops::ControlFlow::Continue(()))
    })
    .unwrap();
    (dir, peaks)
}

fn open(root: &Path) -> LogReader {
    let medium: SharedMedium = Arc::new(Os);
    LogReader::open(medium, root.join("audit")).unwrap()
}

#[test]
fn upstreams_files_are_current() {
    let (dir, peaks) = store();
    let log = open(dir.path());
    assert_eq!(check_head(&log).unwrap(), Agreement::Current);
    assert_eq!(check_peaks(&log, peaks.last().unwrap()).unwrap(), Agreement::Current);
}

#[test]
fn a_head_behind_is_no_fault_and_one_ahead_is() {
    let (dir, _) = store();
    let log = open(dir.path());
    let last = log.last_seq();
    let head = |bytes: &[u8]| {
        std::fs::write(dir.path().join("HEAD"), bytes).unwrap();
        check_head(&log).unwrap()
    };
    assert_eq!(head(&0_u64.to_le_bytes()), Agreement::Behind(0));
    assert_eq!(head(&(last - 1).to_le_bytes()), Agreement::Behind(last - 1));
    assert_eq!(head(&last.to_le_bytes()), Agreement::Current);
    assert_eq!(head(&(last + 1).to_le_bytes()), Agreement::Ahead(last + 1));
    assert!(matches!(head(&[0; 7]), Agreement::Wrong(_)));
    std::fs::remove_file(dir.path().join("HEAD")).unwrap();
    assert_eq!(check_head(&log).unwrap(), Agreement::Missing);
}

#[test]
fn peaks_of_every_row_before_are_behind_and_others_wrong() {
    let (dir, peaks) = store();
    let log = open(dir.path());
    let computed = peaks.last().unwrap();
    let path = Peaks::path(&dir.path().join("audit"));
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        check_peaks(&log, computed).unwrap()
    };
    for (rows, older) in peaks.iter().enumerate().take(peaks.len() - 1) {
        assert_eq!(check(&older.encode()), Agreement::Behind(rows as u64));
        let mut damaged = older.encode();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(matches!(check(&damaged), Agreement::Wrong(_)), "after row {rows}");
    }
    let mut ahead = computed.clone();
    ahead.push(leaf(b"x"));
    assert_eq!(check(&ahead.encode()), Agreement::Ahead(ahead.leaves()));
    assert!(matches!(check(b""), Agreement::Wrong(_)));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(check_peaks(&log, computed).unwrap(), Agreement::Missing);
}
