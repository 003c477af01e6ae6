//! What writing does when nothing goes wrong.

use std::path::Path;
use std::sync::Arc;

use cyberos_log::history::{At, Chain};
use cyberos_log::log::LogReader;
use cyberos_log::log::peaks::Peaks;
use cyberos_log::log::verify::{Options as VerifyOptions, verify};
use cyberos_log::medium::{Os, SharedMedium};
use cyberos_log::objects::{Body, BodyReader};
use cyberos_log::store::{DeleteMode, Expected, Op, Outcome, Request, Writer};
use cyberos_log::{Digest, LogError};

use crate::stores::{all, delete, on_disk as open, put, rename, request, sha, try_on_disk as try_open};

fn ok(writer: &Writer, request: Request) -> Outcome {
    let outcome = writer.submit(request).unwrap();
    assert_eq!(outcome.warnings, Vec::<String>::new());
    outcome
}

fn assert_verifies(root: &Path, rows: u64) {
    let log = LogReader::open(Arc::new(Os), root.join("audit")).unwrap();
    let report = verify(&log, VerifyOptions::default(), &|_| true).unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.rows, rows);
}

#[test]
fn put_move_and_delete_write_rows_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writer = open(root);
    assert_eq!(ok(&writer, put("memories/a.md", "one\n")).seq, Some(1));
    assert_eq!(ok(&writer, put("memories/a.md", "one\n")).seq, None, "a put that changes nothing appends no row");
    assert_eq!(ok(&writer, put("memories/a.md", "two\n")).seq, Some(2));
    assert_eq!(std::fs::read_to_string(root.join("memories/a.md")).unwrap(), "two\n");
    assert_eq!(ok(&writer, rename("memories/a.md", "memories/sub/b.md")).seq, Some(3));
    assert!(!root.join("memories/a.md").exists());
    assert_eq!(std::fs::read_to_string(root.join("memories/sub/b.md")).unwrap(), "two\n");
    assert_eq!(ok(&writer, delete("memories/sub/b.md", DeleteMode::Tombstone, "")).seq, Some(4));
    assert!(!root.join("memories/sub").exists(), "an empty folder goes with its last memory");
    let again = writer.submit(delete("memories/sub/b.md", DeleteMode::Tombstone, ""));
    assert!(matches!(again, Err(LogError::NoMemory(_))), "{again:?}");
    assert_eq!(std::fs::read(root.join("HEAD")).unwrap(), 4_u64.to_le_bytes());
    writer.close().unwrap();
    assert_verifies(root, 4);
    let chain = Chain::open(&(Arc::new(Os) as SharedMedium), root).unwrap();
    let then = chain.version_at("memories/sub/b.md", At::Seq(1), true).unwrap().unwrap();
    assert_eq!((then.path.as_str(), then.content_sha256), ("memories/a.md", sha("one\n").to_hex()));
    assert_eq!(chain.version_at("memories/sub/b.md", At::Now, true).unwrap(), None);
}

#[test]
fn a_hand_edit_is_recorded_before_anything_overwrites_it() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writer = open(root);
    ok(&writer, put("memories/a.md", "one\n"));
    std::fs::write(root.join("memories/a.md"), "by hand\n").unwrap();
    let outcome = ok(&writer, put("memories/a.md", "three\n"));
    assert_eq!((outcome.adopted, outcome.seq), (Some(2), Some(3)));
    std::fs::write(root.join("memories/a.md"), "again\n").unwrap();
    let outcome = ok(&writer, delete("memories/a.md", DeleteMode::Tombstone, ""));
    assert_eq!((outcome.adopted, outcome.content_sha256), (Some(4), Some(sha("again\n"))));
    std::fs::write(root.join("memories/new.md"), "unseen\n").unwrap();
    ok(&writer, put("memories/b.md", "b\n"));
    let onto = writer.submit(rename("memories/b.md", "memories/new.md"));
    assert!(matches!(onto, Err(LogError::Exists(_))), "{onto:?}");
    drop(writer);
    assert_verifies(root, 6);
}

#[test]
fn put_if_compares_records_and_accepts_a_retry() {
    let dir = tempfile::tempdir().unwrap();
    let writer = open(dir.path());
    let put_if = |body: &str, expected| {
        request(Op::Put { path: "memories/a.md".into(), body: body.into(), expected: Some(expected) })
    };
    ok(&writer, put_if("one\n", Expected::Absent));
    assert_eq!(ok(&writer, put_if("one\n", Expected::Absent)).seq, None, "a retry succeeds");
    let failed = writer.submit(put_if("two\n", Expected::Absent)).unwrap_err();
    assert!(
        matches!(failed, LogError::Precondition { expected: None, actual: Some(actual), .. } if actual == sha("one\n"))
    );
    assert_eq!(writer.last_seq(), 2, "the attempt is a row");
    ok(&writer, put_if("two\n", Expected::Content(sha("one\n"))));
    assert_eq!(writer.last_seq(), 3);
}

#[test]
fn a_batch_is_all_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writer = open(root);
    ok(&writer, put("memories/a.md", "one\n"));
    let failed = writer.submit_all(vec![put("memories/b.md", "b\n"), rename("memories/none.md", "memories/c.md")]);
    assert!(matches!(failed, Err(LogError::NoMemory(_))), "{failed:?}");
    assert_eq!(writer.last_seq(), 1);
    assert!(!root.join("memories/b.md").exists());
    let outcomes = writer
        .submit_all(vec![
            put("memories/b.md", "b\n"),
            rename("memories/b.md", "memories/c.md"),
            put("memories/c.md", "c\n"),
            delete("memories/a.md", DeleteMode::Tombstone, "old"),
        ])
        .unwrap();
    assert_eq!(outcomes.iter().map(|outcome| outcome.seq).collect::<Vec<_>>(), [Some(2), Some(3), Some(4), Some(5)]);
    assert_eq!(std::fs::read_to_string(root.join("memories/c.md")).unwrap(), "c\n");
    assert!(!root.join("memories/a.md").exists() && !root.join("memories/b.md").exists());
    drop(writer);
    assert_verifies(root, 5);
}

#[test]
fn a_purge_erases_every_version_and_refuses_shared_ones() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writer = open(root);
    ok(&writer, put("memories/a.md", "secret one\n"));
    ok(&writer, rename("memories/a.md", "memories/b.md"));
    ok(&writer, put("memories/b.md", "secret two\n"));
    ok(&writer, put("memories/other.md", "secret one\n"));
    let refused = writer.submit(delete("memories/b.md", DeleteMode::Purge, "request 17"));
    assert!(
        matches!(&refused, Err(LogError::Shared { shared_with, .. }) if shared_with == &["memories/other.md"]),
        "{refused:?}"
    );
    let chain = Chain::open(&(Arc::new(Os) as SharedMedium), root).unwrap();
    let bodies = BodyReader::open(Arc::new(Os), root.join("audit/objects"), root.join("index/objects")).unwrap();
    for entry in chain.history(&all()).unwrap().entries {
        let sha = Digest::from_hex(entry.content_sha256.unwrap().as_bytes()).unwrap();
        assert!(matches!(bodies.get(&sha).unwrap(), Body::Found(_)), "a refused purge erases nothing");
    }
    ok(&writer, delete("memories/other.md", DeleteMode::Tombstone, ""));
    let outcome = ok(&writer, delete("memories/b.md", DeleteMode::Purge, "request 17"));
    assert!(outcome.erased >= 2, "{outcome:?}");
    for entry in std::fs::read_dir(root.join("audit/objects")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"secret"));
    }
    drop(writer);
    assert_verifies(root, 6);
}

#[test]
fn eight_threads_and_two_writers_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writers = [open(root), open(root)];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let writer = &writers[thread % 2];
            scope.spawn(move || {
                for n in 0..20 {
                    ok(writer, put(&format!("memories/{thread}.md"), &format!("{thread} {n}\n")));
                }
            });
        }
    });
    drop(writers);
    assert_verifies(root, 160);
    for thread in 0..8 {
        assert_eq!(
            std::fs::read_to_string(root.join(format!("memories/{thread}.md"))).unwrap(),
            format!("{thread} 19\n")
        );
    }
}

#[test]
fn a_log_without_a_tip_that_ends_before_head_or_peaks_is_not_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writer = open(root);
    for n in 0..3 {
        ok(&writer, put("memories/a.md", &format!("{n}\n")));
    }
    drop(writer);
    std::fs::remove_file(root.join("audit/tip")).unwrap();
    std::fs::remove_dir_all(root.join("audit/objects")).unwrap();
    let log = root.join("audit/current.binlog");
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() - 10]).unwrap();
    for evidence in ["HEAD", "audit/mmr/peaks.bin"] {
        let refused = try_open(root).map(drop);
        assert!(matches!(&refused, Err(LogError::Corrupt { file, .. }) if file == evidence), "{refused:?}");
        assert_eq!(std::fs::read(&log).unwrap().len(), whole.len() - 10, "nothing is cut off");
        if evidence == "HEAD" {
            std::fs::write(root.join(evidence), 2_u64.to_le_bytes()).unwrap();
        }
    }
    std::fs::write(&log, &whole).unwrap();
    assert_eq!(try_open(root).unwrap().last_seq(), 3);
}

#[test]
fn missing_peaks_of_a_small_log_are_made_anew_by_the_next_writer() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    ok(&open(root), put("memories/a.md", "one\n"));
    let peaks = root.join("audit/mmr/peaks.bin");
    for torn in [None, Some(&b"CYBEROS"[..])] {
        match torn {
            None => std::fs::remove_file(&peaks).unwrap(),
            Some(bytes) => std::fs::write(&peaks, bytes).unwrap(),
        }
        ok(&open(root), put("memories/a.md", if torn.is_some() { "three\n" } else { "two\n" }));
        let log = LogReader::open(Arc::new(Os), root.join("audit")).unwrap();
        let computed = verify(&log, VerifyOptions::default(), &|_| true).unwrap().peaks;
        assert_eq!(Peaks::read(&Os, &root.join("audit")).unwrap(), computed);
    }
}
