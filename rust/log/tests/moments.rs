//! What a store held at a moment, however the clock went: one rule, and both ways of asking agree on it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod common;
mod strategies;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::{START_NS, commit, empty, files, install, open_with, shared};
use cyberos_log::history::{At, Chain, Present, Version};
use cyberos_log::json::Value;
use cyberos_log::log::SegmentPolicy;
use cyberos_log::medium::SharedMedium;
use cyberos_log::medium::fake::Fake;
use cyberos_log::row::RowDraft;
use proptest::prelude::*;
use strategies::config;

const PATHS: [&str; 4] = ["memories/a.md", "memories/b.md", "memories/c.md", "meta/a.md"];
/// Times are a few nanoseconds, so that rows share them and clocks step back all the time.
const SPAN: u64 = 12;

fn row() -> impl Strategy<Value = RowDraft> {
    let path = || prop::sample::select(PATHS.to_vec());
    let op = prop::sample::select(vec!["put", "put", "put", "create", "move", "move", "rename", "delete", "note"]);
    (op, path(), path(), prop::option::of("[0-9a-f]{64}"), 0..SPAN).prop_map(|(op, path, to, sha, time)| RowDraft {
        op: op.into(),
        path: path.into(),
        actor: "a".into(),
        content_sha256: sha.unwrap_or_default(),
        extra: BTreeMap::from([("to".to_owned(), Value::from(to))]),
        ts_ns: START_NS + time,
    })
}

fn log(rows: &[RowDraft], max_bytes: u64) -> Fake {
    let fake = empty();
    let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes }).unwrap();
    for group in rows.chunks(5) {
        commit(&mut writer, group).unwrap();
    }
    fake
}

fn open(fake: &Fake) -> Chain {
    let medium: SharedMedium = shared(fake);
    Chain::open(&medium, Path::new("/store")).unwrap()
}

fn one_by_one(chain: &Chain, at: At) -> BTreeMap<String, Version> {
    let found = PATHS.iter().filter_map(|path| chain.version_at(path, at, false).unwrap());
    found.map(|version| (version.path.clone(), version)).collect()
}

/// Versions by the name asked for and the row, the time and the content: a row carried over a move keeps its own name.
fn check(chain: &Chain, rows: &[RowDraft]) {
    for last in 0..=rows.len() as u64 {
        let (all, _) = chain.memories_at(At::Seq(last)).unwrap();
        assert_eq!(one_by_one(chain, At::Seq(last)), all, "after row {last}");
    }
    for time in START_NS - 1..=START_NS + SPAN {
        let last = (1..).zip(rows).filter(|(_, row)| row.ts_ns <= time).map(|(seq, _)| seq).last().unwrap_or(0);
        let (all, damages) = chain.memories_at(At::Time(time)).unwrap();
        assert!(damages.is_empty());
        assert_eq!(all, chain.memories_at(At::Seq(last)).unwrap().0, "the state after row {last}");
        assert_eq!(one_by_one(chain, At::Time(time)), all);
        for path in PATHS {
            let at = |at| chain.version_at(path, at, true).unwrap();
            assert_eq!(at(At::Time(time)), at(At::Seq(last)), "{path}, followed");
        }
    }
    assert_eq!(one_by_one(chain, At::Now), chain.memories_at(At::Now).unwrap().0);
}

proptest! {
    #![proptest_config(config(80))]

    #[test]
    fn a_time_is_the_last_row_that_is_not_later_for_all_who_ask(
        rows in prop::collection::vec(row(), 0..40),
        max_bytes in prop::sample::select(vec![1 << 10, 1 << 20]),
    ) {
        let fake = log(&rows, max_bytes);
        check(&open(&fake), &rows);
        let mut indexed = open(&fake);
        indexed.catch_up().unwrap();
        check(&indexed, &rows);
    }
}

proptest! {
    #![proptest_config(config(80))]

    #[test]
    fn the_memories_that_are_kept_up_are_those_there_are_now(
        rows in prop::collection::vec(row(), 0..40),
        max_bytes in prop::sample::select(vec![1 << 10, 1 << 20]),
    ) {
        let fake = empty();
        let (mut writer, _) = open_with(&fake, SegmentPolicy { max_bytes }).unwrap();
        let (mut chain, mut present) = (open(&fake), Present::default());
        for group in rows.chunks(3) {
            commit(&mut writer, group).unwrap();
            chain.refresh().unwrap();
            chain.bring_up(&mut present).unwrap();
            let expected: Vec<Version> = chain.memories_at(At::Now).unwrap().0.into_values().collect();
            let found: Vec<Version> = present.page("", "", usize::MAX).into_iter().cloned().collect();
            prop_assert_eq!(&found, &expected);
            let behind: Vec<Version> = present.page("memories/", PATHS[0], 1).into_iter().cloned().collect();
            let mut wanted = expected.iter().filter(|memory| memory.path.starts_with("memories/"));
            prop_assert_eq!(behind.first(), wanted.find(|memory| memory.path.as_str() > PATHS[0]));
        }
    }
}

#[test]
fn a_time_is_found_also_beyond_damage() {
    let put = |n: u64, time: u64| RowDraft {
        op: "put".into(),
        path: format!("memories/{n}.md"),
        actor: "a".into(),
        content_sha256: format!("{n:064x}"),
        extra: BTreeMap::new(),
        ts_ns: START_NS + time,
    };
    let rows = [put(1, 5), put(2, 9), put(3, 3), put(4, 8), put(5, 9)];
    let fake = log(&rows, 1 << 20);
    let mut all = files(&fake);
    let bytes = all.get_mut("current.binlog").unwrap();
    // A byte of the fourth row's payload.
    let at = bytes.windows(13).position(|part| part == b"memories/4.md").unwrap();
    bytes[at] ^= 1;
    let damaged = install(&all);
    let chain = open(&damaged);
    let names: BTreeSet<String> = chain.memories_at(At::Time(START_NS + 5)).unwrap().0.into_keys().collect();
    assert_eq!(names, ["memories/1.md", "memories/2.md", "memories/3.md"].map(str::to_owned).into());
    assert!(chain.version_at("memories/2.md", At::Time(START_NS + 3), false).unwrap().is_some());
    assert!(chain.version_at("memories/1.md", At::Time(START_NS + 2), false).unwrap().is_none());
}
