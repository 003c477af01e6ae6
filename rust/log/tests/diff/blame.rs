use std::fmt::Write as _;
use std::fs;

use cyberos_log::diff::blame::{Blame, blame};
use proptest::prelude::*;

use crate::cases;
use crate::git::{git, git_reading};
use crate::texts::pair;

/// Versions of a text, oldest first, each an edit of the one before.
fn versions(seed: u64, count: usize) -> Vec<String> {
    let mut versions = vec![pair(seed, 60, 30).0];
    for step in 1..count {
        // The changes of an unrelated pair, laid over the last version line by line.
        let (old, new) = pair(seed * 1000 + u64::try_from(step).unwrap(), 12, 30);
        let last: Vec<&str> = versions[step - 1].split_inclusive('\n').collect();
        let at = (step * 7) % (last.len() + 1);
        let end = (at + old.lines().count()).min(last.len());
        let mut text = last[..at].concat() + &new;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        versions.push(text + &last[end..].concat());
    }
    versions
}

#[test]
fn lines_belong_to_the_versions_that_git_says() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "--quiet"]);
    let histories: Vec<Vec<String>> = (0..8).map(|seed| versions(seed, 12)).collect();
    // One stream of commits in which every history is a file of its own.
    let mut stream = String::new();
    for step in 0..12 {
        let message = format!("{step}");
        writeln!(stream, "commit refs/heads/main\ncommitter t <t@t> {} +0000", 1000 + step).unwrap();
        writeln!(stream, "data {}\n{message}", message.len()).unwrap();
        for (file, history) in histories.iter().enumerate() {
            writeln!(stream, "M 100644 inline {file}\ndata {}\n{}", history[step].len(), history[step]).unwrap();
        }
    }
    fs::write(dir.path().join("stream"), stream).unwrap();
    git_reading("stream", dir.path(), &["fast-import", "--quiet"]);

    for (file, history) in histories.iter().enumerate() {
        let porcelain = git(dir.path(), &["blame", "--line-porcelain", "main", "--", &file.to_string()]);
        let porcelain = String::from_utf8(porcelain).unwrap();
        let expected: Vec<usize> =
            porcelain.lines().filter_map(|line| line.strip_prefix("summary ")).map(|s| s.parse().unwrap()).collect();
        let bytes: Vec<&[u8]> = history.iter().map(String::as_bytes).collect();
        let ours = blame(&bytes);
        assert_eq!(ours.iter().map(|&(version, _)| version).collect::<Vec<_>>(), expected, "history {file}");
        assert_eq!(ours.iter().map(|&(_, line)| line).collect::<Vec<_>>().concat(), history[11].as_bytes());
    }
}

#[test]
fn a_walk_is_complete_once_every_line_is_attributed() {
    let mut walk = Blame::new(b"a\nb\n".to_vec());
    assert!(!walk.is_complete());
    walk.step(b"a\n".to_vec());
    assert!(!walk.is_complete());
    walk.step(b"c\n".to_vec());
    assert!(walk.is_complete());
    assert_eq!(walk.into_ages(), [1, 0]);
}

#[test]
fn empty_histories_and_texts_have_no_lines() {
    assert!(blame(&[]).is_empty());
    assert!(blame(&[b"a\n", b""]).is_empty());
    assert_eq!(blame(&[b"", b"a"]), [(1, b"a".as_slice())]);
    assert_eq!(blame(&[b"a", b"a\n"]), [(1, b"a\n".as_slice())]);
}

proptest! {
    #![proptest_config(cases(300))]

    /// Where no line occurs twice, a line's version follows from the texts alone: the start of its last unbroken run.
    #[test]
    fn unique_lines_belong_to_the_start_of_their_last_run(
        sets in prop::collection::vec(prop::collection::btree_set(0u8..40, 0..20), 1..8),
    ) {
        let line = |number: &u8| format!("{number}\n");
        let texts: Vec<String> = sets.iter().map(|set| set.iter().map(line).collect::<Vec<_>>().concat()).collect();
        let newest = sets.len() - 1;
        let start = |number: &u8| (0..newest).rev().take_while(|&v| sets[v].contains(number)).last().unwrap_or(newest);
        let expected: Vec<(usize, String)> = sets[newest].iter().map(|number| (start(number), line(number))).collect();
        let ours: Vec<(usize, String)> = blame(&texts.iter().map(String::as_bytes).collect::<Vec<_>>())
            .into_iter()
            .map(|(version, line)| (version, String::from_utf8(line.to_vec()).unwrap()))
            .collect();
        prop_assert_eq!(ours, expected);
    }
}
