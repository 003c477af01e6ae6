//! Working files follow the chain: at once, or later where they are put off.

use std::collections::BTreeMap;
use std::path::Path;

use cyberos_log::LogError;
use cyberos_log::store::{DeleteMode, Request, Writer};
use proptest::prelude::*;

use crate::stores::{delete, on_disk, on_disk_putting_off, put, rename};

/// The working files, by path.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("memories")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

fn submit(writer: &Writer, requests: Vec<Request>) -> Vec<Option<u64>> {
    let outcomes = writer.submit_all(requests).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.warnings.is_empty()), "{outcomes:?}");
    outcomes.into_iter().map(|outcome| outcome.adopted).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// In a large submission writes wait for each other, renames and removals do not; files that are put off are written once.
    #[test]
    fn submissions_leave_the_files_that_one_change_after_the_other_would(
        steps in proptest::collection::vec((0..6_u8, 0..120_usize, 0..120_usize), 300..500),
        puts_off in any::<bool>(),
        pieces in 1..8_usize,
        written_after in 0..8_usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let writer = if puts_off { on_disk_putting_off(root) } else { on_disk(root) };
        let mut model = BTreeMap::<String, String>::new();
        let mut requests = Vec::new();
        for (number, (kind, one, two)) in steps.into_iter().enumerate() {
            let path = |n: usize| format!("memories/{}/{n}.md", n % 3);
            let (from, to) = (path(one), path(two));
            match kind {
                4 if model.contains_key(&from) => {
                    model.remove(&from);
                    requests.push(delete(&from, DeleteMode::Tombstone, ""));
                }
                5 if model.contains_key(&from) && !model.contains_key(&to) => {
                    let body = model.remove(&from).unwrap();
                    model.insert(to.clone(), body);
                    requests.push(rename(&from, &to));
                }
                _ => {
                    let body = format!("{number}\n");
                    requests.push(put(&from, &body));
                    model.insert(from, body);
                }
            }
        }
        let length = requests.len().div_ceil(pieces);
        for (piece, requests) in requests.chunks(length).enumerate() {
            let adopted = submit(&writer, requests.to_vec());
            prop_assert!(adopted.iter().all(Option::is_none), "nothing is taken for an edit by hand");
            if piece == written_after {
                writer.write_files().unwrap();
            }
        }
        if puts_off && pieces <= written_after {
            prop_assert_eq!(files(root), BTreeMap::new(), "put off");
        }
        writer.write_files().unwrap();
        prop_assert_eq!(files(root), model);
        // What is known of the files is right.
        let all = (0..120).map(|n| put(&format!("memories/{}/{n}.md", n % 3), "new\n")).collect();
        prop_assert!(submit(&writer, all).iter().all(Option::is_none));
    }
}

fn one_file(path: &str, body: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(path.to_owned(), body.to_owned())])
}

#[test]
fn files_that_are_put_off_are_written_by_closing_or_by_whoever_opens_the_store_after_a_crash() {
    for closes in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let writer = on_disk_putting_off(dir.path());
        submit(&writer, vec![put("memories/a.md", "one\n")]);
        submit(&writer, vec![rename("memories/a.md", "memories/b.md")]);
        assert_eq!(files(dir.path()), BTreeMap::new());
        if closes {
            writer.close().unwrap();
        } else {
            drop(writer);
            on_disk(dir.path());
        }
        assert_eq!(files(dir.path()), one_file("memories/b.md", "one\n"), "closes: {closes}");
    }
}

#[test]
fn a_file_edited_by_hand_while_it_is_put_off_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let writer = on_disk_putting_off(dir.path());
    submit(&writer, vec![put("memories/a.md", "one\n")]);
    writer.write_files().unwrap();
    submit(&writer, vec![put("memories/a.md", "two\n")]);
    std::fs::write(dir.path().join("memories/a.md"), "by hand\n").unwrap();
    submit(&writer, vec![put("memories/a.md", "three\n")]);
    writer.write_files().unwrap();
    assert_eq!(files(dir.path()), one_file("memories/a.md", "by hand\n"));
    assert_eq!(submit(&writer, vec![put("memories/a.md", "four\n")]), [Some(4)], "recorded before the next change");
    writer.close().unwrap();
    assert_eq!(files(dir.path()), one_file("memories/a.md", "four\n"));
}

#[test]
fn what_took_the_place_of_one_folder_keeps_nobody_from_writing_elsewhere() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = dir.path().join("memories/d");
    submit(&on_disk(dir.path()), vec![put("memories/d/a.md", "a\n")]);
    for (number, link) in [false, true].into_iter().enumerate() {
        let _ = std::fs::remove_dir_all(&folder).or_else(|_| std::fs::remove_file(&folder));
        if link {
            std::os::unix::fs::symlink(outside.path(), &folder).unwrap();
        } else {
            std::fs::write(&folder, "in the way\n").unwrap();
        }
        let writer = on_disk(dir.path());
        submit(&writer, vec![put("memories/b.md", &format!("b {number}\n"))]);
        let refused = writer.submit(put("memories/d/a.md", "two\n"));
        assert!(matches!(refused, Err(LogError::Refused(_))), "{refused:?}");
        writer.close().unwrap();
    }
    submit(&on_disk(dir.path()), vec![delete("memories/b.md", DeleteMode::Purge, "asked for")]);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0, "nothing is written through the link");
}

#[test]
fn a_purge_leaves_nothing_to_be_written_later() {
    let dir = tempfile::tempdir().unwrap();
    let writer = on_disk_putting_off(dir.path());
    submit(&writer, vec![put("memories/a.md", "secret\n"), put("memories/b.md", "b\n")]);
    submit(&writer, vec![delete("memories/a.md", DeleteMode::Purge, "asked for")]);
    assert_eq!(files(dir.path()), one_file("memories/b.md", "b\n"), "a purge writes what was put off first");
    writer.close().unwrap();
    assert_eq!(files(dir.path()), one_file("memories/b.md", "b\n"));
}

#[test]
fn another_writer_takes_no_file_that_is_put_off_for_an_edit_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let (late, other) = (on_disk_putting_off(dir.path()), on_disk(dir.path()));
    submit(&other, vec![put("memories/a.md", "one\n"), put("memories/gone.md", "one\n")]);
    submit(&late, vec![put("memories/a.md", "two\n"), delete("memories/gone.md", DeleteMode::Tombstone, "")]);
    submit(&late, vec![put("memories/a.md", "three\n")]);
    let adopted = submit(&other, vec![put("memories/a.md", "four\n"), put("memories/gone.md", "back\n")]);
    assert_eq!(adopted, [None, None]);
    late.close().unwrap();
    let wanted = [("memories/a.md", "four\n"), ("memories/gone.md", "back\n")];
    assert_eq!(files(dir.path()), wanted.map(|(path, body)| (path.to_owned(), body.to_owned())).into());
}

#[test]
fn a_name_may_be_as_long_as_the_file_system_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let writer = on_disk(root);
    let long = |letter: &str| format!("memories/{}.md", letter.repeat(252));
    submit(&writer, vec![put(&long("a"), "1\n"), put(&long("b"), "2\n")]);
    submit(&writer, vec![put(&long("a"), "3\n"), rename(&long("b"), &long("c"))]);
    writer.close().unwrap();
    assert_eq!(files(root), BTreeMap::from([(long("a"), "3\n".to_owned()), (long("c"), "2\n".to_owned())]));
}
