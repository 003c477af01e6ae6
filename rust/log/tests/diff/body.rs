use std::fs;

use cyberos_log::diff::body::{BodyDiff, MAX_BYTES, TextDiff, body_diff};
use proptest::prelude::*;

use crate::apply::apply;
use crate::cases;
use crate::git::git;
use crate::texts::{Random, pair};

fn text_diff<'a>(old: &'a str, new: &'a str) -> TextDiff<'a> {
    match body_diff(old.as_bytes(), new.as_bytes()) {
        BodyDiff::Text(diff) => diff,
        other => panic!("{other:?}"),
    }
}

/// What git shows for each pair, as the part of its output from the `---` line on, without section headings.
fn git_diffs(pairs: &[(String, String)]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for side in ["old", "new"] {
        fs::create_dir(dir.path().join(side)).unwrap();
    }
    for (number, (old, new)) in pairs.iter().enumerate() {
        fs::write(dir.path().join(format!("old/{number:05}")), old).unwrap();
        fs::write(dir.path().join(format!("new/{number:05}")), new).unwrap();
    }
    let args = ["diff", "--no-index", "--no-color", "--no-ext-diff", "--no-renames", "--text", "old", "new"];
    let output = String::from_utf8(git(dir.path(), &args)).unwrap();
    let mut diffs = vec![String::new(); pairs.len()];
    let mut number = 0;
    for line in output.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("diff --git a/old/") {
            number = rest[..5].parse().unwrap();
        } else if let Some((ranges, _heading)) = line.strip_prefix("@@ ").and_then(|rest| rest.split_once(" @@")) {
            diffs[number].extend(["@@ ", ranges, " @@\n"]);
        } else if !line.starts_with("index ") {
            diffs[number] += line;
        }
    }
    diffs
}

fn assert_like_git(pairs: &[(String, String)]) {
    for (number, ((old, new), expected)) in pairs.iter().zip(git_diffs(pairs)).enumerate() {
        let ours = match body_diff(old.as_bytes(), new.as_bytes()) {
            BodyDiff::Same => String::new(),
            BodyDiff::Text(diff) => {
                let patch = diff.unified(Some(&format!("old/{number:05}")), Some(&format!("new/{number:05}")));
                assert_eq!(&apply(old, &patch), new);
                patch
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(ours, expected, "pair {number}:\n{old:?}\n{new:?}");
    }
}

#[test]
fn random_texts_differ_as_in_git() {
    let sizes = [(4, 3), (30, 5), (30, 200), (200, 12), (200, 1000), (800, 40)];
    let pairs = (0..600).map(|seed| sizes[usize::try_from(seed).unwrap() % sizes.len()]).enumerate();
    let pairs: Vec<_> = pairs.map(|(seed, (lines, kinds))| pair(u64::try_from(seed).unwrap(), lines, kinds)).collect();
    assert_like_git(&pairs);
}

/// Texts so long and so different that the algorithm gives up on the shortest script; it must give up where git does.
#[test]
fn long_texts_differ_as_in_git() {
    let pairs: Vec<_> = (0..6)
        .map(|seed| {
            let kinds = [40, 3000, 900][seed % 3];
            let seed = u64::try_from(seed).unwrap();
            if seed < 3 {
                pair(seed, 20_000, kinds)
            } else {
                (pair(seed, 4000, kinds).0, pair(seed + 100, 4000, kinds).0)
            }
        })
        .collect();
    assert_like_git(&pairs);
}

/// Numbered lines, where every line at a multiple of `step` is another one.
fn numbered(count: usize, step: usize) -> String {
    let line = |number| if number % step == 1 { format!("edit {number}\n") } else { format!("{number}\n") };
    (0..count).map(line).collect::<Vec<_>>().concat()
}

#[test]
fn texts_of_very_many_lines_differ_as_in_git_where_their_lines_do() {
    assert_like_git(&[(numbered(80_000, usize::MAX), numbered(80_000, 700))]);
}

#[test]
fn very_many_equal_lines_are_replaced_as_a_whole() {
    let mut texts = [1, 2].map(Random::new).map(|mut random| {
        let lines = (0..160_000).map(|_| ["a\n", "b\n", "c\n"][random.below(3)]);
        format!("start\n{}end\n", lines.collect::<String>())
    });
    for text in &mut texts {
        text.insert_str(160_000, "anchor\n");
    }
    let diff = text_diff(&texts[0], &texts[1]);
    assert_eq!(diff.hunks.len(), 1);
    let context = diff.by_kind().context;
    assert!(context.contains(&"anchor") && context.len() < 10, "{context:?}");
    assert_eq!(apply(&texts[0], &diff.unified(None, None)), texts[1]);
}

#[test]
fn edge_cases_differ_as_in_git() {
    let long = "x".repeat(100_000);
    let cases = [
        ("", "a\n"),
        ("a\n", ""),
        ("", "a"),
        ("a", "a\n"),
        ("a\n", "a"),
        ("a", "b"),
        ("a\nb", "a\nb\nc"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb\n", "a\rc\n"),
        ("\n", "\n\n"),
        ("---\n", "+++\n"),
        ("\\ No newline at end of file\n", "\\ No newline at end of file"),
        ("đường\n", "đường 東京 🙂\n"),
        ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n2\n3\n4\n5\n6\n7\n8\n0\n"),
        ("1\n2\n3\n4\n5\n6\n7\n8\n", "0\n2\n3\n4\n5\n6\n7\n0\n"),
        (&format!("{long}\na\n"), &format!("{long}\nb\n")),
        (&format!("{long}\na\n"), &format!("{long}y\na\n")),
    ];
    assert_like_git(&cases.map(|(old, new)| (old.to_owned(), new.to_owned())));
}

#[test]
fn headers_name_the_paths() {
    let diff = text_diff("a\n", "b\n");
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(diff.unified(Some("x/a.md"), Some("y/b.md")), format!("--- a/x/a.md\n+++ b/y/b.md\n{hunk}"));
    assert_eq!(diff.unified(None, Some("b.md")), format!("--- /dev/null\n+++ b/b.md\n{hunk}"));
    assert_eq!(diff.unified(Some("b.md"), None), format!("--- a/b.md\n+++ /dev/null\n{hunk}"));
    assert_eq!(diff.unified(Some("a b.md"), None), format!("--- a/a b.md\t\n+++ /dev/null\n{hunk}"));
}

#[test]
fn lines_by_kind_keep_everything_but_the_line_feed() {
    let diff = text_diff(" a\r\nb\t\nc\n", " a\r\nB\u{a0}\nc\nd");
    let lists = diff.by_kind();
    assert_eq!(lists.context, [" a\r", "c"]);
    assert_eq!(lists.removed, ["b\t"]);
    assert_eq!(lists.added, ["B\u{a0}", "d"]);
    assert_eq!((diff.old_lacks_newline, diff.new_lacks_newline), (false, true));
}

#[test]
fn what_is_not_text_or_too_large_is_not_compared() {
    assert_eq!(body_diff(b"a\0", b"a\0"), BodyDiff::Same);
    assert_eq!(body_diff(b"a\0", b"a"), BodyDiff::Binary);
    assert_eq!(body_diff(b"a", b"\xff"), BodyDiff::Binary);
    let limit = vec![b'a'; MAX_BYTES];
    let above = vec![b'a'; MAX_BYTES + 1];
    assert!(matches!(body_diff(&limit, b"a"), BodyDiff::Text(_)));
    assert_eq!(body_diff(b"a", &above), BodyDiff::TooLarge);
    assert_eq!(body_diff(&above, b"\0"), BodyDiff::TooLarge);
    assert_eq!(body_diff(&above, &above), BodyDiff::Same);
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn the_patch_turns_old_into_new(old in "([ab]?(\r)?\n){0,40}[ab]?", new in "([ab]?(\r)?\n){0,40}[ab]?") {
        if old != new {
            prop_assert_eq!(apply(&old, &text_diff(&old, &new).unified(Some("x"), Some("x"))), new);
        }
    }

    #[test]
    fn any_bytes_are_answered(old: Vec<u8>, new: Vec<u8>) {
        match body_diff(&old, &new) {
            BodyDiff::Same => prop_assert_eq!(old, new),
            BodyDiff::Text(diff) => prop_assert!(!diff.hunks.is_empty()),
            BodyDiff::Binary => prop_assert!([old, new].iter().any(|b| b.contains(&0) || str::from_utf8(b).is_err())),
            BodyDiff::TooLarge => prop_assert!(false),
        }
    }
}
