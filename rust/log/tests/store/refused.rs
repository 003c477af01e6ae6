//! What is refused changes nothing; and what a batch or another process does leaves no trace where none may be.

use std::path::Path;
use std::sync::Arc;

use cyberos_log::LogError;
use cyberos_log::log::LogReader;
use cyberos_log::log::verify::{Options, verify};
use cyberos_log::medium::Os;
use cyberos_log::objects::{Body, BodyReader};
use cyberos_log::store::{DeleteMode, Writer};

use crate::stores::{delete, on_disk, put, rename, sha};

fn body(root: &Path, text: &str) -> Body {
    let bodies = BodyReader::open(Arc::new(Os), root.join("audit/objects"), root.join("index/objects")).unwrap();
    bodies.get(&sha(text)).unwrap()
}

fn store() -> (tempfile::TempDir, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let writer = on_disk(dir.path());
    writer.submit(put("memories/a.md", "one\n")).unwrap();
    (dir, writer)
}

#[test]
fn the_stores_own_files_are_not_memories() {
    let (dir, writer) = store();
    let root = dir.path();
    std::fs::write(root.join("AGENTS.md"), "the protocol\n").unwrap();
    for own in ["AGENTS.md", "HEAD", "audit/tip", "audit/current.binlog", "audit/objects/001.pack"] {
        let before = std::fs::read(root.join(own)).unwrap();
        for request in [
            delete(own, DeleteMode::Tombstone, ""),
            delete(own, DeleteMode::Purge, "why"),
            rename(own, "memories/x.md"),
            rename("memories/a.md", own),
            put(own, "mine\n"),
        ] {
            let outcome = writer.submit(request);
            assert!(matches!(outcome, Err(LogError::Refused(_))), "{own}: {outcome:?}");
            assert_eq!(std::fs::read(root.join(own)).unwrap(), before, "{own}");
        }
    }
    assert_eq!(writer.last_seq(), 1);
}

#[test]
fn a_file_that_can_be_no_memory_is_not_taken_for_one() {
    let (dir, writer) = store();
    for name in ["memories/STORE.yaml", "memories/picture.png", "memories/a.meta.json"] {
        std::fs::write(dir.path().join(name), "not a memory\n").unwrap();
        for request in [delete(name, DeleteMode::Tombstone, ""), rename(name, "memories/x.md")] {
            let outcome = writer.submit(request);
            assert!(matches!(outcome, Err(LogError::NoMemory(_))), "{name}: {outcome:?}");
        }
        assert!(dir.path().join(name).exists());
    }
    assert_eq!(writer.last_seq(), 1, "and no row says that it was recorded");
}

#[test]
fn a_purge_in_a_batch_is_refused_and_erases_nothing() {
    let (dir, writer) = store();
    let purge = || delete("memories/a.md", DeleteMode::Purge, "why");
    for batch in [
        vec![purge(), rename("memories/none.md", "memories/z.md")],
        vec![put("memories/a.md", "two\n"), put("memories/a.md", "three\n"), purge()],
        vec![purge(), put("memories/a.md", "one\n")],
    ] {
        let outcome = writer.submit_all(batch);
        assert!(matches!(outcome, Err(LogError::Invalid(_))), "{outcome:?}");
    }
    assert_eq!(writer.last_seq(), 1);
    assert!(matches!(body(dir.path(), "one\n"), Body::Found(_)));
}

#[test]
fn a_batch_that_is_refused_leaves_no_body() {
    let (dir, writer) = store();
    let outcome =
        writer.submit_all(vec![put("memories/b.md", "unwanted\n"), rename("memories/none.md", "memories/z.md")]);
    assert!(matches!(outcome, Err(LogError::NoMemory(_))), "{outcome:?}");
    assert!(matches!(body(dir.path(), "unwanted\n"), Body::Absent));
    writer.submit(put("memories/b.md", "unwanted\n")).unwrap();
    assert!(matches!(body(dir.path(), "unwanted\n"), Body::Found(_)), "it is stored when it is wanted after all");
}

#[test]
fn a_writer_that_was_closed_knows_what_others_wrote_since() {
    let (dir, writer) = store();
    let other = on_disk(dir.path());
    other.submit(put("memories/a.md", "two\n")).unwrap();
    writer.close().unwrap();
    assert_eq!(writer.submit(put("memories/a.md", "one\n")).unwrap().seq, Some(3), "it is a change again");
    let log = LogReader::open(Arc::new(Os), dir.path().join("audit")).unwrap();
    assert_eq!(verify(&log, Options::default(), &|_| true).unwrap().findings, [], "also in the peaks");
}
