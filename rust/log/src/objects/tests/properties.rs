//! What goes in comes out, whatever is done in between.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<u8>),
    AppendCompressed(Vec<u8>),
    Flush,
    Discard,
    Reopen,
    Publish(usize),
    Merge,
    Refresh,
    DropIndex,
    Purge(u8),
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::collection::vec(any::<u8>(), 0..3000),
        "[a-c \n]{0,400}".prop_map(String::into_bytes),
        (0_u8..4).prop_map(|n| vec![n; 5]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => body().prop_map(Step::Append),
        2 => body().prop_map(Step::AppendCompressed),
        4 => Just(Step::Flush),
        1 => Just(Step::Discard),
        1 => Just(Step::Reopen),
        2 => (0_usize..6).prop_map(Step::Publish),
        1 => Just(Step::Merge),
        1 => Just(Step::Refresh),
        1 => Just(Step::DropIndex),
        1 => any::<u8>().prop_map(Step::Purge),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, rng_seed: prop::test_runner::RngSeed::Fixed(1), ..Default::default() })]

    #[test]
    fn every_body_flushed_comes_back(steps in prop::collection::vec(step(), 1..60)) {
        let medium = medium();
        let mut writer = writer(&medium);
        let old_reader = reader(&medium);
        // What a reader must say of each body ever appended.
        let mut model: BTreeMap<Vec<u8>, Body> = BTreeMap::new();
        let mut pending: Vec<Vec<u8>> = Vec::new();
        for step in steps {
            let flushes = matches!(step, Step::Flush);
            match step {
                Step::Append(body) => {
                    writer.append(&body, sha(&body)).unwrap();
                    pending.push(body);
                }
                Step::AppendCompressed(body) => {
                    writer.append_compressed(compress(&body, sha(&body)).unwrap()).unwrap();
                    pending.push(body);
                }
                Step::Flush => writer.flush().unwrap(),
                Step::Discard => {
                    writer.discard();
                    pending.clear();
                }
                Step::Reopen => {
                    writer = super::writer(&medium);
                    pending.clear();
                }
                Step::Publish(rows) => drop(writer.publish_index(rows).unwrap()),
                Step::Merge => drop(writer.merge_index().unwrap()),
                Step::Refresh if pending.is_empty() => writer.refresh().unwrap(),
                Step::Refresh => assert!(writer.refresh().is_err()),
                Step::DropIndex => {
                    for name in medium.list(Path::new(INDEX)).unwrap() {
                        medium.remove(&Path::new(INDEX).join(name)).unwrap();
                    }
                }
                Step::Purge(n) => {
                    let body = pending.first().or_else(|| model.keys().nth(usize::from(n) % 16)).cloned();
                    let body = body.unwrap_or_default();
                    model.extend(pending.drain(..).map(|body| (body.clone(), Body::Found(body))));
                    let was = model.get(&body).cloned().unwrap_or(Body::Purged);
                    let report = writer.purge(&[sha(&body)]).unwrap();
                    prop_assert_eq!(report.bodies > 0, was != Body::Purged);
                    model.entry(body).and_modify(|is| *is = Body::Purged);
                }
            }
            if flushes {
                model.extend(pending.drain(..).map(|body| (body.clone(), Body::Found(body))));
            }
        }
        let new_reader = reader(&medium);
        for (body, is) in &model {
            prop_assert_eq!(&new_reader.get(&sha(body)).unwrap(), is);
            prop_assert_eq!(&old_reader.get(&sha(body)).unwrap(), is);
        }
        for body in pending.iter().filter(|body| !model.contains_key(*body)) {
            prop_assert_eq!(old_reader.get(&sha(body)).unwrap(), Body::Absent);
        }
        let there = all_good(&medium);
        for (body, is) in &model {
            prop_assert_eq!(there.contains(&sha(body)), *is != Body::Purged);
        }
    }
}

/// An edit of a pack: bytes removed at a place, and others put there.
fn edit() -> impl Strategy<Value = (prop::sample::Index, usize, Vec<u8>)> {
    let junk = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100),
        prop::collection::vec(Just(0), 0..100),
        // A header, more or less, of a frame that claims much.
        (any::<u8>(), 0_u8..20).prop_map(|(len, seq)| [&[0, len][..], &[0; 13], &[seq], &[0; 8], &[1; 40]].concat()),
    ];
    (any::<prop::sample::Index>(), prop_oneof![Just(0), 0_usize..200], junk)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: prop::test_runner::RngSeed::Fixed(2), ..Default::default() })]

    #[test]
    fn packs_of_any_bytes_give_errors_and_never_another_body(
        edits in prop::collection::vec((any::<prop::sample::Index>(), edit()), 1..4),
        publish in any::<bool>(),
    ) {
        let medium = medium();
        let mut writer = writer(&medium);
        let bodies = bodies(25);
        for group in bodies.chunks(4) {
            append(&mut writer, group);
            writer.flush().unwrap();
        }
        if publish {
            writer.publish_index(1).unwrap();
        }
        for (pack, (at, removed, junk)) in &edits {
            let names = pack_names(&medium);
            let name = pack.get(&names);
            let mut bytes = pack_bytes(&medium, name);
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, junk.iter().copied());
            set_pack(&medium, name, &bytes);
        }
        let check = |medium: &Fake| {
            let reader = reader(medium);
            for body in &bodies {
                if let Ok(Body::Found(found)) = reader.get(&sha(body)) {
                    assert!(found == *body);
                }
            }
            for stored in reader.iterate().unwrap().flatten() {
                let _ = reader.check(&stored);
            }
        };
        check(&medium);
        let mut writer = super::writer(&medium);
        append(&mut writer, &[b"goes on".to_vec()]);
        writer.flush().unwrap();
        writer.publish_index(1).unwrap();
        prop_assert_eq!(get(&reader(&medium), b"goes on"), found(b"goes on"));
        check(&medium);
    }
}

#[test]
fn identical_bodies_of_one_batch_are_stored_once_and_again_after_a_purge() {
    let medium = medium();
    let mut writer = writer(&medium);
    append(&mut writer, &[b"same".to_vec(), b"same".to_vec()]);
    writer.flush().unwrap();
    append(&mut writer, &[b"same".to_vec()]);
    writer.flush().unwrap();
    assert_eq!(all_good(&medium).len(), 1);
    writer.purge(&[sha(b"same")]).unwrap();
    append(&mut writer, &[b"same".to_vec()]);
    writer.flush().unwrap();
    assert_eq!(get(&reader(&medium), b"same"), found(b"same"));
}

#[test]
fn a_flush_writes_once_and_syncs_once() {
    let medium = medium();
    let mut writer = writer(&medium);
    append(&mut writer, &bodies(3));
    writer.flush().unwrap();
    medium.reset_counts();
    append(&mut writer, &bodies(30));
    writer.flush().unwrap();
    assert_eq!(medium.synced(), [Path::new(OBJECTS).join("001.pack")]);
    assert_eq!(medium.counts().writes, 1);
    writer.flush().unwrap();
    assert_eq!(medium.counts().syncs, 1, "nothing to do");
    // The pack is over the limit now.
    append(&mut writer, &[b"next pack".to_vec()]);
    writer.flush().unwrap();
    assert_eq!(medium.synced()[1..], [Path::new(OBJECTS).join("002.pack"), PathBuf::from(OBJECTS)]);
}

#[test]
fn bodies_at_the_limits_are_kept_or_refused() {
    let medium = medium();
    let mut writer = writer(&medium);
    let long = vec![b'x'; 9 << 20];
    let longest_noise: Vec<u8> = noise(1, (1 << 24) - 38 - 8);
    assert_eq!(longest_noise.len(), (1 << 24) - 38);
    append(&mut writer, &[Vec::new(), long.clone(), longest_noise.clone()]);
    let too_long = noise(2, (1 << 24) - 37 - 8);
    assert!(writer.append(&too_long, sha(&too_long)).is_err());
    let beyond = vec![0; MAX_BODY + 1];
    assert!(writer.append(&beyond, sha(&beyond)).is_err());
    writer.flush().unwrap();
    let reader = reader(&medium);
    for body in [&Vec::new(), &long, &longest_noise] {
        assert!(get(&reader, body) == found(body));
    }
    assert_eq!(get(&reader, &too_long), Body::Absent);
    assert_eq!(all_good(&medium).len(), 3);
}

#[test]
fn it_works_on_real_files() {
    let dir = tempfile::tempdir().unwrap();
    let (objects, index) = (dir.path().join("audit/objects"), dir.path().join("index/objects"));
    let os = Arc::new(crate::medium::Os);
    let open = || BodyWriter::with_limit(os.clone(), objects.clone(), index.clone(), LIMIT).unwrap();
    let reader = BodyReader::open(os.clone(), objects.clone(), index.clone()).unwrap();
    let bodies = bodies(60);
    assert_eq!(get(&reader, &bodies[0]), Body::Absent);
    for group in bodies.chunks(9) {
        let mut writer = open();
        append(&mut writer, group);
        writer.flush().unwrap();
        writer.publish_index(10).unwrap();
    }
    open().purge(&[sha(&bodies[7])]).unwrap();
    for (n, body) in bodies.iter().enumerate() {
        assert_eq!(get(&reader, body), if n == 7 { Body::Purged } else { found(body) });
    }
    assert_eq!(
        reader.iterate().unwrap().filter(|stored| stored.as_ref().is_ok_and(|stored| !stored.purged)).count(),
        59
    );
}
