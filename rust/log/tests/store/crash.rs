//! A process that dies at any sync, and a disk that keeps any part of what was not synced: everything acknowledged is there
//! afterwards, the log verifies, the working files follow, and purged bodies are gone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyberos_log::Digest;
use cyberos_log::history::{At, Chain};
use cyberos_log::log::LogReader;
use cyberos_log::log::verify::{Options as VerifyOptions, verify};
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, SharedMedium};
use cyberos_log::objects::{Body, BodyReader, compress};
use cyberos_log::store::{DeleteMode, Op, Request, Writer};

use crate::stores::{ROOT, delete, fake, on_fake, on_fake_with, put, rename};

/// A piece of work with everything in it; each list is one submission.
fn work() -> Vec<Vec<Request>> {
    vec![
        vec![put("memories/a.md", "a one\n")],
        vec![put("memories/b.md", "b one\n"), put("memories/sub/c.md", "c one\n")],
        vec![put("memories/a.md", "a two, which is a secret\n")],
        vec![rename("memories/a.md", "memories/d.md")],
        vec![put("memories/d.md", "a three, another secret\n"), put("memories/a.md", "new at the old name\n")],
        vec![delete("memories/b.md", DeleteMode::Tombstone, "")],
        vec![delete("memories/d.md", DeleteMode::Purge, "request 17")],
        vec![put("memories/e.md", "e one\n")],
        vec![put("memories/e.md", "e two\n"), rename("memories/e.md", "memories/f.md"), put("memories/f.md", "f\n")],
    ]
}

const SECRETS: [&str; 3] = ["a one\n", "a two, which is a secret\n", "a three, another secret\n"];

/// Does the work until something fails; returns how many submissions were acknowledged.
fn run(writer: &Writer, work: Vec<Vec<Request>>) -> usize {
    work.into_iter().take_while(|requests| writer.submit_all(requests.clone()).is_ok()).count()
}

/// What the memories are after the first `rows` requests.
fn expected(rows: usize) -> BTreeMap<String, String> {
    let mut memories = BTreeMap::new();
    for request in work().into_iter().flatten().take(rows) {
        match request.op {
            Op::Put { path, body, .. } => drop(memories.insert(path, String::from_utf8(body).unwrap())),
            Op::Move { from, to } => {
                let body = memories.remove(&from).unwrap();
                memories.insert(to, body);
            }
            Op::Delete { path, .. } => drop(memories.remove(&path)),
            Op::Aux { .. } => {}
        }
    }
    memories
}

/// How many requests the first `submissions` have.
fn rows_of(submissions: usize) -> usize {
    work().iter().take(submissions).map(Vec::len).sum()
}

fn by_the_chain(chain: &Chain, bodies: &BodyReader) -> BTreeMap<String, String> {
    let (memories, damages) = chain.memories_at(At::Now).unwrap();
    assert_eq!(damages, []);
    let read = |sha: &str| match bodies.get(&Digest::from_hex(sha.as_bytes()).unwrap()).unwrap() {
        Body::Found(bytes) => String::from_utf8(bytes).unwrap(),
        other => panic!("the body of a living memory is {other:?}"),
    };
    memories.into_iter().map(|(path, version)| (path, read(&version.content_sha256))).collect()
}

fn files_below(medium: &dyn Medium, dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for name in medium.list(dir).unwrap() {
        let path = dir.join(name);
        match medium.stat(&path).unwrap() {
            Some(stat) if stat.is_dir => files.extend(files_below(medium, &path)),
            _ => files.push(path),
        }
    }
    files
}

fn by_the_files(medium: &dyn Medium) -> BTreeMap<String, String> {
    let root = Path::new(ROOT);
    let files = files_below(medium, &root.join("memories")).into_iter();
    files
        .filter(|file| !file.file_name().unwrap().to_string_lossy().starts_with('.'))
        .map(|file| {
            let body = String::from_utf8(medium.read(&file).unwrap().unwrap()).unwrap();
            (file.strip_prefix(root).unwrap().to_string_lossy().into_owned(), body)
        })
        .collect()
}

/// The bytes that a body is stored as, and the body: neither may be anywhere once it is purged.
fn traces(body: &str) -> [Vec<u8>; 2] {
    let stored = compress(body.as_bytes(), Digest::of(&[body.as_bytes()])).unwrap();
    [stored.data().to_vec(), body.as_bytes().to_vec()]
}

fn holds(medium: &dyn Medium, needle: &[u8]) -> bool {
    let files = files_below(medium, Path::new(ROOT));
    files.iter().any(|file| medium.read(file).unwrap().unwrap().windows(needle.len()).any(|window| window == needle))
}

/// Opens what a crash left and holds it to what was acknowledged. Of the submission that was under way, any first part may
/// be there.
fn check(image: &Fake, acknowledged: usize, what: &str) {
    let writer = on_fake(image).unwrap_or_else(|error| panic!("{what}: {error}"));
    let medium: SharedMedium = Arc::new(image.clone());
    let root = Path::new(ROOT);
    let log = LogReader::open(medium.clone(), root.join("audit")).unwrap();
    let report = verify(&log, VerifyOptions { threads: 1, ..VerifyOptions::default() }, &|_| true).unwrap();
    assert_eq!(report.findings, [], "{what}");
    let rows = usize::try_from(report.rows).unwrap();
    let possible = rows_of(acknowledged)..=rows_of(acknowledged + 1);
    assert!(possible.contains(&rows), "{what}: {rows} rows, {acknowledged} submissions acknowledged");
    let chain = Chain::open(&medium, root).unwrap();
    let bodies = BodyReader::open(medium.clone(), root.join("audit/objects"), root.join("index/objects")).unwrap();
    assert_eq!(by_the_chain(&chain, &bodies), expected(rows), "{what}");
    assert_eq!(by_the_files(image), expected(rows), "{what}: the working files follow the chain");
    if rows > rows_of(6) {
        for trace in SECRETS.iter().flat_map(|secret| traces(secret)) {
            assert!(!holds(image, &trace), "{what}: a purged body is still there");
        }
    }
    // And work goes on where it stopped.
    for request in work().into_iter().flatten().skip(rows) {
        writer.submit(request).unwrap_or_else(|error| panic!("{what}, going on: {error}"));
    }
    assert_eq!(by_the_files(image), expected(usize::MAX), "{what}, going on");
}

/// Does the work and closes, until something fails; returns how many submissions were acknowledged.
fn run_and_close(medium: &Fake, puts_files_off: bool) -> usize {
    let Ok(writer) = on_fake_with(medium, puts_files_off) else { return 0 };
    let acknowledged = run(&writer, work());
    drop(writer.close());
    acknowledged
}

#[test]
fn a_crash_at_any_sync_loses_nothing_acknowledged() {
    for puts_files_off in [false, true] {
        let whole = fake();
        assert_eq!(run_and_close(&whole, puts_files_off), work().len());
        let syncs = whole.counts().syncs;
        assert!(syncs > 20, "{syncs}");
        for at in 1..=syncs {
            let dying = fake();
            dying.freeze_at(at);
            let acknowledged = run_and_close(&dying, puts_files_off);
            let what = format!("files put off: {puts_files_off}, frozen at sync {at}");
            check(&dying.crash_image(), acknowledged, &what);
            for seed in 0..5 {
                check(&dying.crash_image_with(seed), acknowledged, &format!("{what}, seed {seed}"));
            }
        }
    }
}

#[test]
fn a_purge_finds_the_stored_bytes_and_leaves_none_of_them() {
    let medium = fake();
    let writer = on_fake(&medium).unwrap();
    let mut work = work();
    let rest = work.split_off(6);
    assert_eq!(run(&writer, work), 6);
    for secret in SECRETS {
        assert!(traces(secret).iter().any(|trace| holds(&medium, trace)), "{secret:?} is there before");
    }
    assert_eq!(run(&writer, rest), 3);
    for image in [medium.copy(), medium.crash_image()] {
        for trace in SECRETS.iter().flat_map(|secret| traces(secret)) {
            assert!(!holds(&image, &trace), "{trace:?} is there after");
        }
    }
}

#[test]
fn a_crash_between_two_writers_is_taken_up_by_the_next() {
    let whole = fake();
    let first = on_fake(&whole).unwrap();
    run(&first, work());
    first.close().unwrap();
    // The first writer stays open, another process writes and dies, the first goes on.
    let other = on_fake(&whole).unwrap();
    other.submit(put("memories/g.md", "g one\n")).unwrap();
    drop(other);
    first.submit(put("memories/g.md", "g two\n")).unwrap();
    check_files(&whole, &[("memories/g.md", "g two\n")]);
}

fn check_files(fake: &Fake, files: &[(&str, &str)]) {
    let found = by_the_files(fake);
    for (path, body) in files {
        assert_eq!(found.get(*path).map(String::as_str), Some(*body));
    }
}

#[test]
fn a_group_with_bodies_costs_three_syncs_whatever_its_size() {
    let medium = fake();
    let writer = on_fake(&medium).unwrap();
    writer.submit(put("memories/first.md", "makes the files\n")).unwrap();
    for size in [1, 2, 50] {
        medium.reset_counts();
        let requests = (0..size).map(|n| put(&format!("memories/{n}.md"), &format!("{size} {n}\n"))).collect();
        writer.submit_all(requests).unwrap();
        assert_eq!(medium.counts().syncs, 3, "{size} rows: {:?}", medium.synced());
    }
}
