//! History of the memories in a store that the public Python implementation wrote, with and without an index.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cyberos_log::history::{Chain, Older, Query, is_memory};
use cyberos_log::json::Value;
use cyberos_log::medium::{Os, SharedMedium};

fn store(to: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/peer-store/audit/current.binlog");
    std::fs::create_dir_all(to.join("audit")).unwrap();
    std::fs::write(to.join("audit/current.binlog"), std::fs::read(from).unwrap()).unwrap();
    to.to_path_buf()
}

/// What the expected rows say, by the definition: scan newest to oldest, renaming at each move.
fn naive(path: &str, follow: bool) -> Vec<u64> {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/peer-store.expected.jsonl");
    let text = std::fs::read_to_string(text).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| Value::parse(line.as_bytes()).unwrap()).collect();
    let text_of = |value: Option<&Value>| value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
    let mut name = path.to_owned();
    let mut seqs = Vec::new();
    for row in rows.iter().rev() {
        let extra = row.get("extra").unwrap();
        let mut names: BTreeSet<String> =
            ["path", "target_path", "to", "src", "dst"].iter().map(|key| text_of(extra.get(key))).collect();
        names.insert(text_of(row.get("path")));
        if let Some(list) = extra.get("affected_paths").and_then(Value::as_array) {
            names.extend(list.iter().map(|item| text_of(Some(item))));
        }
        if !names.contains(&name) {
            continue;
        }
        let Some(Value::Int(seq)) = row.get("seq") else { panic!("a row without a number") };
        seqs.push(u64::try_from(*seq).unwrap());
        let op = text_of(row.get("op"));
        if (op == "move" || op == "rename") && text_of(extra.get("to")) == name {
            if !follow {
                break;
            }
            name = text_of(row.get("path"));
        }
    }
    seqs
}

fn paths(chain: &Chain) -> BTreeSet<String> {
    let query = Query {
        path: None,
        follow_moves: true,
        limit: None,
        since_ns: None,
        above: 0,
        below: None,
        filters: Vec::new(),
    };
    chain.history(&query).unwrap().entries.into_iter().map(|entry| entry.name).filter(|name| is_memory(name)).collect()
}

#[test]
fn history_of_every_path_is_right_with_and_without_an_index() {
    let dir = tempfile::tempdir().unwrap();
    let root = store(dir.path());
    let medium: SharedMedium = Arc::new(Os);
    let plain = Chain::open(&medium, &root).unwrap();
    let mut indexed = Chain::open(&medium, &root).unwrap();
    assert_eq!(indexed.catch_up().unwrap(), 424);
    assert_eq!(indexed.index().last(), 424);
    let all = paths(&plain);
    assert!(all.len() > 50, "{}", all.len());
    for path in &all {
        for follow in [true, false] {
            let query = |limit| Query {
                path: Some(path.clone()),
                follow_moves: follow,
                limit,
                since_ns: None,
                above: 0,
                below: None,
                filters: Vec::new(),
            };
            let expected = naive(path, follow);
            for chain in [&plain, &indexed] {
                let walked = chain.history(&query(None)).unwrap();
                let seqs: Vec<u64> = walked.entries.iter().map(|entry| entry.seq).collect();
                assert_eq!(seqs, expected, "{path}");
                assert!(walked.damages.is_empty());
                let some = chain.history(&query(Some(3))).unwrap();
                assert_eq!(some.entries, walked.entries[..expected.len().min(3)], "{path}: older versions too");
                for (above, below) in [(0, 200), (100, 300), (expected[0] - 1, u64::MAX), (424, u64::MAX)] {
                    let window = Query { above, below: Some(below), ..query(None) };
                    let within: Vec<_> =
                        walked.entries.iter().filter(|entry| entry.seq > above && entry.seq < below).cloned().collect();
                    assert_eq!(chain.history(&window).unwrap().entries, within, "{path}: {above} to {below}");
                }
            }
        }
    }
}

#[test]
fn the_history_of_all_paths_is_the_sum_of_its_windows() {
    let dir = tempfile::tempdir().unwrap();
    let root = store(dir.path());
    let medium: SharedMedium = Arc::new(Os);
    let plain = Chain::open(&medium, &root).unwrap();
    let mut indexed = Chain::open(&medium, &root).unwrap();
    indexed.catch_up().unwrap();
    let window = |above, below, limit| Query {
        path: None,
        follow_moves: true,
        limit,
        since_ns: None,
        above,
        below,
        filters: Vec::new(),
    };
    let all = plain.history(&window(0, None, None)).unwrap().entries;
    for chain in [&plain, &indexed] {
        assert_eq!(chain.history(&window(0, None, None)).unwrap().entries, all);
        for size in [1, 7, 100, 423, 424, 1000] {
            let starts = (0..424_usize).step_by(size).rev();
            let parts = starts.map(|start| {
                let below = (start + size + 1).min(425) as u64;
                chain.history(&window(start as u64, Some(below), None)).unwrap()
            });
            assert_eq!(parts.flat_map(|part| part.entries).collect::<Vec<_>>(), all, "windows of {size}");
        }
        let some = chain.history(&window(0, Some(200), Some(3))).unwrap().entries;
        assert!(some.iter().eq(all.iter().filter(|entry| entry.seq < 200).take(3)));
        for (above, below) in
            [(424, None), (424, Some(500)), (u64::MAX, None), (0, Some(1)), (0, Some(0)), (9, Some(5))]
        {
            assert!(chain.history(&window(above, below, None)).unwrap().entries.is_empty(), "{above} {below:?}");
        }
    }
}

#[test]
fn the_version_before_is_what_upstream_said_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let root = store(dir.path());
    let medium: SharedMedium = Arc::new(Os);
    let mut chain = Chain::open(&medium, &root).unwrap();
    chain.catch_up().unwrap();
    let mut compared = 0;
    for path in paths(&chain) {
        let query = Query {
            path: Some(path),
            follow_moves: true,
            limit: None,
            since_ns: None,
            above: 0,
            below: None,
            filters: Vec::new(),
        };
        for entry in chain.history(&query).unwrap().entries.iter().filter(|entry| entry.kind == "put") {
            let extra = Value::parse(&entry.extra).unwrap();
            if let Some(before) = extra.get("before_sha256").and_then(Value::as_str) {
                let Older::Version { content_sha256, .. } = &entry.older else {
                    panic!("row {}: {:?}", entry.seq, entry.older)
                };
                assert_eq!(content_sha256, before, "row {}", entry.seq);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
