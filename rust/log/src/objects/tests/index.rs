//! The index makes it faster and nothing else; several writers and readers.

use super::*;

fn many(medium: &Fake, n: usize) -> Vec<Vec<u8>> {
    let mut writer = writer(medium);
    let bodies = bodies(n);
    for group in bodies.chunks(7) {
        append(&mut writer, group);
        writer.flush().unwrap();
        writer.publish_index(20).unwrap();
        while writer.merge_index().unwrap() {}
    }
    bodies
}

fn index_names(medium: &Fake) -> Vec<PathBuf> {
    medium.list(Path::new(INDEX)).unwrap().iter().map(|name| Path::new(INDEX).join(name)).collect()
}

fn all_found(medium: &Fake, bodies: &[Vec<u8>]) {
    let reader = reader(medium);
    for body in bodies {
        assert_eq!(get(&reader, body), found(body));
    }
    assert_eq!(get(&reader, b"never stored"), Body::Absent);
}

#[test]
fn a_missing_damaged_or_foreign_index_changes_no_answer() {
    let medium = medium();
    let bodies = many(&medium, 150);
    assert!(!index_names(&medium).is_empty());
    let missing = medium.copy();
    for path in index_names(&missing) {
        missing.remove(&path).unwrap();
    }
    let cut = medium.copy();
    for path in index_names(&cut) {
        cut.open(&path, Open::Write).unwrap().set_len(5000).unwrap();
    }
    // Another store's index, with more rows.
    let foreign = super::medium();
    many(&foreign, 400);
    let other = medium.copy();
    for path in index_names(&other) {
        other.remove(&path).unwrap();
    }
    for path in index_names(&foreign) {
        let bytes = foreign.read(&path).unwrap().unwrap();
        other.open(&path, Open::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    }
    for image in [&missing, &cut, &other] {
        all_found(image, &bodies);
        let mut writer = writer(image);
        append(&mut writer, &[b"goes on".to_vec()]);
        writer.flush().unwrap();
        assert!(writer.publish_index(1).unwrap());
        while writer.merge_index().unwrap() {}
        all_found(image, &bodies);
        assert_eq!(get(&reader(image), b"goes on"), found(b"goes on"));
        // It is whole again: finding the first body reads one frame, not the packs.
        image.reset_counts();
        let _ = get(&reader(image), &bodies[1]);
        assert!(image.counts_of(".pack").bytes_read < 20_000);
    }
}

#[test]
fn an_index_damaged_anywhere_changes_no_answer() {
    let medium = medium();
    let bodies = many(&medium, 60);
    for path in index_names(&medium) {
        let bytes = medium.read(&path).unwrap().unwrap();
        for at in (0..bytes.len()).step_by(97) {
            let image = medium.copy();
            image.open(&path, Open::Write).unwrap().write_all_at(&[bytes[at] ^ 0x10], at as u64).unwrap();
            all_found(&image, &bodies);
        }
    }
}

#[test]
fn an_index_that_is_ahead_of_the_packs_is_not_believed() {
    let medium = medium();
    let bodies = many(&medium, 60);
    let last = pack_names(&medium).pop().unwrap();
    let bytes = pack_bytes(&medium, &last);
    set_pack(&medium, &last, &bytes[..bytes.len() / 2]);
    let mut writer = writer(&medium);
    append(&mut writer, &bodies);
    writer.flush().unwrap();
    writer.publish_index(1).unwrap();
    all_found(&medium, &bodies);
    all_good(&medium);
}

#[test]
fn two_writers_take_turns() {
    let medium = medium();
    let (mut one, mut two) = (writer(&medium), writer(&medium));
    let reader = reader(&medium);
    let bodies = bodies(120);
    for (turn, group) in bodies.chunks(4).enumerate() {
        let writer = if turn % 3 == 0 { &mut one } else { &mut two };
        writer.refresh().unwrap();
        append(writer, group);
        writer.flush().unwrap();
        if turn % 5 == 0 {
            writer.publish_index(1).unwrap();
            writer.merge_index().unwrap();
        }
        for body in group {
            assert_eq!(get(&reader, body), found(body));
        }
    }
    all_found(&medium, &bodies);
    assert_eq!(all_good(&medium).len(), bodies.len());
}

#[test]
fn a_writer_finds_what_another_one_left_torn() {
    let medium = medium();
    let mut one = writer(&medium);
    let mut two = writer(&medium);
    append(&mut one, &[b"first".to_vec()]);
    one.flush().unwrap();
    let bytes = pack_bytes(&medium, "001.pack");
    let file = medium.open(&Path::new(OBJECTS).join("001.pack"), Open::Write).unwrap();
    file.write_all_at(&bytes[..50], bytes.len() as u64).unwrap();
    two.refresh().unwrap();
    assert_eq!(pack_bytes(&medium, "001.pack"), bytes);
    append(&mut two, &[b"second".to_vec()]);
    two.flush().unwrap();
    all_found(&medium, &[b"first".to_vec(), b"second".to_vec()]);
}

#[test]
fn refreshing_with_nothing_new_reads_one_header() {
    let medium = medium();
    let mut writer = writer(&medium);
    append(&mut writer, &bodies(5));
    writer.flush().unwrap();
    medium.reset_counts();
    writer.refresh().unwrap();
    let counts = medium.counts();
    assert_eq!((counts.opens, counts.reads, counts.writes, counts.syncs), (0, 1, 0, 0));
}

#[test]
fn opening_reads_only_what_is_behind_the_index() {
    let medium = medium();
    let mut all = Vec::new();
    let mut read = Vec::new();
    for _ in 0..4 {
        let mut writer = writer(&medium);
        let more: Vec<_> = (all.len()..all.len() + 400).map(|n| noise(n, 200)).collect();
        for group in more.chunks(50) {
            append(&mut writer, group);
            writer.flush().unwrap();
        }
        writer.publish_index(1).unwrap();
        while writer.merge_index().unwrap() {}
        append(&mut writer, &[noise(all.len(), 999)]);
        writer.flush().unwrap();
        all.extend(more);
        medium.reset_counts();
        drop(super::writer(&medium));
        read.push(medium.counts_of(".pack").bytes_read);
    }
    assert!(read.iter().all(|read| *read < 10_000), "{read:?}");
    assert!(pack_names(&medium).len() > 20);
    all_found(&medium, &all);
}

#[test]
fn a_reader_notices_that_what_it_read_was_cut_and_written_anew() {
    for anew in [vec![noise(3, 70), noise(4, 300), noise(5, 70)], vec![noise(3, 100), noise(4, 100)]] {
        let medium = medium();
        let mut writer = writer(&medium);
        append(&mut writer, &bodies(3));
        writer.flush().unwrap();
        let kept = pack_bytes(&medium, "001.pack");
        let reader = reader(&medium);
        let first = [noise(1, 100), noise(2, 100)];
        append(&mut writer, &first);
        writer.flush().unwrap();
        assert_eq!(get(&reader, &first[1]), found(&first[1]));
        // A group that could not be written whole, as far as a reader can see.
        set_pack(&medium, "001.pack", &kept);
        let mut writer = super::writer(&medium);
        append(&mut writer, &anew);
        writer.flush().unwrap();
        for body in &anew {
            assert_eq!(get(&reader, body), found(body));
        }
        assert_eq!(get(&reader, &first[1]), Body::Absent);
    }
}

#[test]
fn an_index_does_not_outlive_what_it_points_to() {
    // Another process wrote a group and died before its sync.
    let other = super::medium();
    let mut writer = super::writer(&other);
    append(&mut writer, &(0..12).map(|n| noise(n, 150)).collect::<Vec<_>>());
    writer.flush().unwrap();
    let group = pack_bytes(&other, "001.pack");
    let medium = super::medium();
    let file = medium.open(&Path::new(OBJECTS).join("001.pack"), Open::Create).unwrap();
    file.write_all_at(&group, 0).unwrap();
    let mut writer = super::writer(&medium);
    assert!(writer.publish_index(1).unwrap());
    assert_eq!(pack_bytes(&medium.crash_image(), "001.pack"), group);
}

#[test]
fn an_index_of_other_packs_is_told_by_its_mark() {
    let fill = |seed: usize| {
        let medium = medium();
        let mut writer = writer(&medium);
        let bodies: Vec<_> = (0..30).map(|n| noise(seed + n, 200)).collect();
        append(&mut writer, &bodies);
        writer.flush().unwrap();
        writer.publish_index(1).unwrap();
        (medium, bodies)
    };
    // Numbers and offsets are the same in both.
    let ((medium, bodies), (other, _)) = (fill(0), fill(1000));
    for path in index_names(&other) {
        let bytes = other.read(&path).unwrap().unwrap();
        medium.open(&path, Open::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    }
    all_found(&medium, &bodies);
}

#[test]
fn an_index_that_reaches_into_a_pack_younger_than_the_reader_is_used() {
    let medium = medium();
    let before = many(&medium, 20);
    let reader = reader(&medium);
    assert_eq!(get(&reader, &before[3]), found(&before[3]));
    let packs = pack_names(&medium).len();
    let all = many(&medium, 200);
    assert!(pack_names(&medium).len() > packs + 1, "new packs were begun");
    let mut catalog = reader.catalog();
    let rows = catalog.index.last();
    catalog.index.refresh().unwrap();
    catalog.trust_index().unwrap();
    assert!(catalog.index.last() > rows + 100, "{} rows are covered, {rows} before", catalog.index.last());
    drop(catalog);
    for body in &all {
        assert_eq!(get(&reader, body), found(body));
    }
}
