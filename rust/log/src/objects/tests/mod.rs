//! Tests of the body packs on the fake medium.

mod crash;
mod damage;
mod in_order;
mod index;
mod properties;
mod purge;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::Digest;
use crate::medium::fake::Fake;
use crate::medium::{Medium, Open};

const OBJECTS: &str = "/store/audit/objects";
const INDEX: &str = "/store/index/objects";
/// Small enough for several packs in a test.
const LIMIT: u64 = 2000;

fn medium() -> Fake {
    let medium = Fake::with_dir(OBJECTS);
    medium.create_dir_all(Path::new(INDEX)).unwrap();
    for dir in ["/store", "/store/index"] {
        medium.sync_dir(Path::new(dir)).unwrap();
    }
    medium
}

fn writer(medium: &Fake) -> BodyWriter {
    try_writer(medium).unwrap()
}

fn try_writer(medium: &Fake) -> crate::Result<BodyWriter> {
    BodyWriter::with_limit(Arc::new(medium.clone()), PathBuf::from(OBJECTS), PathBuf::from(INDEX), LIMIT)
}

fn reader(medium: &Fake) -> BodyReader {
    BodyReader::open(Arc::new(medium.clone()), PathBuf::from(OBJECTS), PathBuf::from(INDEX)).unwrap()
}

fn sha(body: &[u8]) -> Digest {
    Digest::of(&[body])
}

fn append(writer: &mut BodyWriter, bodies: &[Vec<u8>]) {
    for body in bodies {
        writer.append(body, sha(body)).unwrap();
    }
}

fn get(reader: &BodyReader, body: &[u8]) -> Body {
    reader.get(&sha(body)).unwrap()
}

fn found(body: &[u8]) -> Body {
    Body::Found(body.to_vec())
}

/// Different bodies of all sorts: empty, text that packs well, noise that does not.
fn bodies(n: usize) -> Vec<Vec<u8>> {
    (0..n)
        .map(|i| match i % 5 {
            0 => noise(i, i * 7),
            1 => format!("# Fact {i}\n\nThe build of part {i} needs the flag --part={i}.\n").into_bytes(),
            2 => format!("- item {i}: the same words again\n").repeat(20).into_bytes(),
            3 if i == 3 => Vec::new(),
            _ => noise(i, 40),
        })
        .collect()
}

/// Bytes that zstd cannot make shorter.
fn noise(seed: usize, len: usize) -> Vec<u8> {
    let blocks = (0..=len / 32).flat_map(|n| sha(format!("{seed} {n}").as_bytes()).0);
    blocks.take(len).chain(seed.to_be_bytes()).collect()
}

fn pack_names(medium: &Fake) -> Vec<String> {
    let mut names = medium.list(Path::new(OBJECTS)).unwrap();
    names.sort();
    names
}

fn pack_bytes(medium: &Fake, name: &str) -> Vec<u8> {
    medium.read(&Path::new(OBJECTS).join(name)).unwrap().unwrap()
}

/// Replaces the content of a pack, durably.
fn set_pack(medium: &Fake, name: &str, bytes: &[u8]) {
    let file = medium.open(&Path::new(OBJECTS).join(name), Open::Create).unwrap();
    file.set_len(0).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.sync().unwrap();
    medium.sync_dir(Path::new(OBJECTS)).unwrap();
}

/// Asserts that all frames are good, numbered from 1, and returns the digests of the bodies that are there.
fn all_good(medium: &Fake) -> Vec<Digest> {
    let reader = reader(medium);
    let stored: Vec<Stored> = reader.iterate().unwrap().map(|stored| stored.unwrap()).collect();
    assert!(stored.iter().map(|stored| stored.seq).eq(1..=stored.len() as u64));
    let there = stored.iter().filter(|stored| !stored.purged);
    there
        .map(|stored| {
            assert!(matches!(reader.check(stored).unwrap(), Body::Found(_)));
            stored.sha
        })
        .collect()
}
