//! Files that are not what they should be: the index is shorter then, or says so, and never wrong.

use std::path::Path;

use cyberos_log::index::Merged;
use cyberos_log::medium::fake::{Fake, Fault, Op};
use cyberos_log::medium::{Medium, Open};

use super::{DIR, ask, build, index, mark, names, open, publish, read, replace};

/// Flips one bit of a byte.
fn flip(medium: &Fake, name: &str, at: usize) {
    let mut bytes = read(medium, name);
    *bytes.get_mut(at).unwrap() ^= 1 << (at % 8);
    replace(medium, name, &bytes);
}

#[test]
fn every_flipped_byte_is_detected() {
    let medium = index(&[6]);
    let name = &names(&medium)[0];
    for at in 0..read(&medium, name).len() {
        flip(&medium, name, at);
        let set = open(&medium);
        assert!(set.last() == 0 || ask(&set).is_err(), "byte {at} means nothing");
        flip(&medium, name, at);
    }
    ask(&open(&medium)).unwrap();
}

#[test]
fn a_file_of_another_length_is_not_used() {
    let medium = index(&[20, 30]);
    let name = &names(&medium)[1];
    let good = read(&medium, name);
    for len in 0..good.len() {
        replace(&medium, name, &good[..len]);
        assert_eq!(open(&medium).last(), 20, "{len} of {} bytes", good.len());
    }
    replace(&medium, name, &[good.as_slice(), &[0]].concat());
    assert_eq!(open(&medium).last(), 20);
    // As a file system may leave it after a loss of power.
    replace(&medium, name, &vec![0; good.len()]);
    assert_eq!(open(&medium).last(), 20);
}

#[test]
fn a_file_cut_short_while_open_is_an_outcome() {
    let medium = index(&[20, 30]);
    let name = &names(&medium)[0];
    let good = read(&medium, name);
    for len in (0..good.len()).rev().step_by(61) {
        replace(&medium, name, &good);
        let set = open(&medium);
        assert_eq!(set.last(), 30);
        let file = medium.open(&Path::new(DIR).join(name), Open::Write).unwrap();
        file.set_len(len as u64).unwrap();
        assert!(ask(&set).is_err(), "{len} bytes");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_outcome() {
    let medium = index(&[20, 30]);
    let set = open(&medium);
    medium.fail(Fault::nth(Op::Read, 1).lasting());
    assert!(ask(&set).is_err());
    assert_eq!(open(&medium).last(), 0);
    medium.clear_faults();
    // And nothing of it is remembered as an answer.
    ask(&set).unwrap();
    medium.fail(Fault::nth(Op::Open, 1).on(names(&medium)[1].clone()).lasting());
    assert_eq!(open(&medium).last(), 20);
    medium.fail(Fault::nth(Op::Look, 1).on(DIR).lasting());
    assert_eq!(open(&medium).last(), 0);
}

#[test]
fn a_damaged_run_is_discarded_and_indexed_anew() {
    let medium = index(&[20, 30, 40]);
    let name = &names(&medium)[1];
    let last = read(&medium, name).len() - 1;
    flip(&medium, name, last);
    let mut set = open(&medium);
    assert_eq!(set.last(), 40);
    let answers: Vec<_> = set.postings(2, u64::MAX).collect();
    assert!(matches!(answers.as_slice(), [Ok(_), Ok(_), Err(_)]), "after an error there is no more: {answers:?}");
    let unusable = set.count(1).unwrap_err();
    assert_eq!((unusable.first, &unusable.path), (21, &Path::new(DIR).join(name)));
    set.discard(&unusable).unwrap();
    assert_eq!(set.last(), 20);
    set.add(build(21, 30), mark(30)).unwrap();
    assert_eq!(set.last(), 40, "what lies behind it links up again");
    ask(&set).unwrap();
    // Another process that had met the damage too finds it repaired.
    set.discard(&unusable).unwrap();
    assert_eq!(set.last(), 40);
}

#[test]
fn a_reader_sees_that_a_damaged_run_was_replaced() {
    let medium = index(&[20, 30]);
    flip(&medium, &names(&medium)[1], 3 * 4096);
    let mut reader = open(&medium);
    assert!(ask(&reader).is_err());
    publish(&medium, 21, 30);
    assert!(reader.refresh().unwrap());
    ask(&reader).unwrap();
    assert!(!reader.refresh().unwrap(), "nothing has changed since");
}

#[test]
fn a_merge_meets_a_damaged_run_and_leaves_the_rest() {
    let medium = index(&[10, 20, 30, 40]);
    for page in 1..4 {
        let name = &names(&medium)[2];
        flip(&medium, name, page * 4096 + 17);
        let mut set = open(&medium);
        let path = Path::new(DIR).join(name);
        assert!(matches!(set.merge_due().unwrap().run().unwrap(), Merged::Damaged(unusable) if unusable.path == path));
        assert_eq!(names(&medium).len(), 4, "nothing was changed");
        assert!(set.merge_step().unwrap());
        assert_eq!(set.last(), 20);
        set.add(build(21, 30), mark(30)).unwrap();
        assert_eq!(set.last(), 40);
    }
}

#[test]
fn a_run_of_another_version_is_replaced_by_adding() {
    let medium = index(&[20, 30]);
    let name = &names(&medium)[1];
    let mut bytes = read(&medium, name);
    bytes[6] += 1;
    let page: &mut [u8; 4096] = bytes.first_chunk_mut().unwrap();
    cyberos_log::format::run::seal(page, 0);
    replace(&medium, name, &bytes);
    let mut set = open(&medium);
    assert_eq!(set.last(), 20);
    set.add(build(21, 30), mark(30)).unwrap();
    assert_eq!(set.last(), 30);
    ask(&set).unwrap();
}

#[test]
fn a_run_under_a_name_that_is_not_its_own_is_not_used() {
    let medium = index(&[20]);
    let name = &names(&medium)[0];
    let bytes = read(&medium, name);
    medium.remove(&Path::new(DIR).join(name)).unwrap();
    replace(&medium, &name.replace("20.run", "21.run"), &bytes);
    assert_eq!(open(&medium).last(), 0);
}
