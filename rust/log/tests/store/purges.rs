//! Purges that are carried out again: by whoever opens the store next, since nobody knows whether they were finished.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cyberos_log::json::Value;
use cyberos_log::log::{LogWriter, SegmentPolicy};
use cyberos_log::medium::Os;
use cyberos_log::objects::{Body, BodyReader};
use cyberos_log::row::RowDraft;
use cyberos_log::store::{DeleteMode, Lock, Repair, Request, Writer};

use crate::stores::{delete, on_disk, put, rename, sha};

fn submit(writer: &Writer, requests: impl IntoIterator<Item = Request>) {
    for request in requests {
        assert_eq!(writer.submit(request).unwrap().warnings, Vec::<String>::new());
    }
}

fn purge(path: &str) -> Request {
    delete(path, DeleteMode::Purge, "asked for")
}

fn stored(root: &Path, body: &str) -> Body {
    let bodies = BodyReader::open(Arc::new(Os), root.join("audit/objects"), root.join("index/objects")).unwrap();
    bodies.get(&sha(body)).unwrap()
}

fn packs(root: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(root.join("audit/objects")).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn what_is_written_again_after_a_purge_is_there_when_the_store_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (a, b) = ("memories/a.md", "memories/b.md");
    submit(&on_disk(root), [put(a, "x\n"), put(a, "z\n"), purge(a), put(b, "x\n"), put(a, "z\n"), put(a, "y\n")]);
    for _ in 0..2 {
        on_disk(root).close().unwrap();
        assert_eq!(stored(root, "x\n"), Body::Found(b"x\n".to_vec()), "another memory has it now");
        assert_eq!(stored(root, "z\n"), Body::Found(b"z\n".to_vec()), "an earlier version of the new memory");
    }
    submit(&on_disk(root), [purge(b), purge(a)]);
    drop(on_disk(root));
    for body in ["x\n", "y\n", "z\n"] {
        assert_eq!(stored(root, body), Body::Purged, "{body}");
    }
}

#[test]
fn a_purge_that_was_cut_short_is_finished_whatever_took_the_name_since() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (a, b, c) = ("memories/a.md", "memories/b.md", "memories/c.md");
    let writer = on_disk(root);
    submit(&writer, [put(c, "secret one\n"), rename(c, a), put(a, "secret two\n"), put(b, "b\n")]);
    let before = packs(root);
    submit(&writer, [purge(a)]);
    drop(writer);
    // Killed between the row and the erasure.
    for (path, bytes) in before {
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(stored(root, "secret one\n"), Body::Found(b"secret one\n".to_vec()));
    submit(&on_disk(root), []);
    assert_eq!(stored(root, "secret one\n"), Body::Purged);

    let writer = on_disk(root);
    submit(&writer, [put(a, "secret three\n")]);
    let before = packs(root);
    submit(&writer, [purge(a)]);
    for (path, bytes) in before {
        std::fs::write(path, bytes).unwrap();
    }
    // Another memory takes the name before anybody opens the store again.
    submit(&writer, [rename(b, a)]);
    drop(writer);
    drop(on_disk(root));
    assert_eq!(stored(root, "secret three\n"), Body::Purged);
    assert_eq!(stored(root, "b\n"), Body::Found(b"b\n".to_vec()));
}

#[test]
fn a_repair_erases_what_is_still_to_be_erased_and_nothing_that_was_written_since() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (a, b) = ("memories/a.md", "memories/b.md");
    let writer = on_disk(root);
    submit(&writer, [put(a, "x\n"), put(a, "y\n")]);
    let before = packs(root);
    submit(&writer, [purge(a)]);
    for (path, bytes) in before {
        std::fs::write(path, bytes).unwrap();
    }
    let repair = Repair::new(Arc::new(Os), root, Lock::open(root, Duration::from_secs(5)).unwrap(), "ann");
    // Another writer has the same content for another memory between the examination and the repair.
    submit(&writer, [put(b, "x\n")]);
    assert_eq!(repair.finish_purges().unwrap(), 1);
    assert_eq!(stored(root, "x\n"), Body::Found(b"x\n".to_vec()));
    assert_eq!(stored(root, "y\n"), Body::Purged);
}

/// Writes the row of a purge as a program does that asks nobody whose else the versions are.
fn purge_without_asking(root: &Path, path: &str, body: &str) {
    let policy = SegmentPolicy::default();
    let (mut log, _) = LogWriter::open(Arc::new(Os), root.join("audit"), policy, &mut |_| Ok(())).unwrap();
    let text = |text: &str| Value::Str(text.into());
    log.stage(&RowDraft {
        op: "delete".into(),
        path: path.into(),
        actor: "another program".into(),
        content_sha256: sha(body).to_hex(),
        extra: [("mode", text("purge")), ("reason", text("asked for"))].map(|(key, value)| (key.into(), value)).into(),
        ts_ns: 1_800_000_000_000_000_001,
    })
    .unwrap();
    log.commit(&mut |_| {}).unwrap();
}

#[test]
fn a_repair_spares_what_a_living_memory_has_or_had_as_the_writer_does() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (a, b) = ("memories/a.md", "memories/b.md");
    submit(&on_disk(root), [put(a, "x\n"), put(b, "x\n"), put(b, "y\n"), put(a, "mine\n")]);
    purge_without_asking(root, a, "mine\n");
    let repair = Repair::new(Arc::new(Os), root, Lock::open(root, Duration::from_secs(5)).unwrap(), "ann");
    assert_eq!(repair.finish_purges().unwrap(), 1);
    for _ in 0..2 {
        assert_eq!(stored(root, "x\n"), Body::Found(b"x\n".to_vec()), "a version of b");
        assert_eq!(stored(root, "mine\n"), Body::Purged);
        assert_eq!(repair.finish_purges().unwrap(), 0, "nothing is left to do");
        drop(on_disk(root));
    }
    submit(&on_disk(root), [purge(b)]);
    assert_eq!(stored(root, "x\n"), Body::Purged);
}

#[test]
fn what_is_purged_already_is_not_purged_again() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (a, b, c) = ("memories/a.md", "memories/b.md", "memories/c.md");
    let writer = on_disk(root);
    submit(&writer, [put(a, "x\n"), put(a, "y\n"), purge(a), put(b, "x\n")]);
    for _ in 0..2 {
        let again = writer.submit(purge(a)).unwrap();
        assert_eq!(
            (again.seq, again.erased, again.content_sha256),
            (None, 0, Some(sha("y\n"))),
            "b has one of its versions"
        );
    }
    assert_eq!(writer.last_seq(), 4);
    assert_eq!(stored(root, "x\n"), Body::Found(b"x\n".to_vec()));
    assert!(writer.submit(purge(c)).is_err(), "there was never such a memory");
    // What came since is another thing.
    submit(&writer, [delete(b, DeleteMode::Tombstone, ""), put(a, "z\n"), delete(a, DeleteMode::Tombstone, "")]);
    assert_eq!(writer.submit(purge(a)).unwrap().seq, Some(8));
    assert_eq!(stored(root, "z\n"), Body::Purged);
}
