//! The file of roots of complete subtrees.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{LogError, Result};
use crate::format::tree::{self, RECORD, Record, WIDTH};
use crate::hash::Digest;
use crate::medium::{Medium, MediumFile, Open};

const NAME: &str = "nodes";
const TEMPORARY: &str = "nodes.tmp";

/// The file, as long as it was when it was opened. A writer only appends to it, or puts another in its place.
#[derive(Debug)]
pub(super) struct Nodes {
    file: Box<dyn MediumFile>,
    path: PathBuf,
    /// Subtrees of level 1 in it.
    pub blocks: u64,
}

impl Nodes {
    /// Opens the file in `dir`; `None` where there is none of this version.
    pub fn open(medium: &dyn Medium, dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(NAME);
        let file = match medium.open(&path, Open::Read) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(LogError::io("open", path)(error)),
        };
        let mut head = [0; tree::MAGIC.len()];
        file.read_full_at(&mut head, 0).map_err(LogError::io("read", &path))?;
        let len = file.len().map_err(LogError::io("measure", &path))?;
        let count = len.saturating_sub(tree::offset(0)) / RECORD as u64;
        // The most subtrees whose records are all there.
        let fits = |blocks: u64| tree::records(blocks) <= count;
        let blocks =
            (0..48).rev().fold(0, |blocks, bit| if fits(blocks | 1 << bit) { blocks | 1 << bit } else { blocks });
        Ok(tree::is_ours(&head).then_some(Self { file, path, blocks }))
    }

    /// Returns the record of a subtree; `None` where it is damaged.
    pub fn get(&self, level: u32, index: u64) -> Result<Option<Record>> {
        let number = tree::number(level, index);
        let mut bytes = [0; RECORD];
        self.read(&mut bytes, number)?;
        Ok(tree::decode(&bytes, number))
    }

    /// Returns the records of `count` subtrees of level 1 that lie in one of level 2; `None` for those that are damaged.
    pub fn get_blocks(&self, first: u64, count: u64) -> Result<Vec<Option<Record>>> {
        debug_assert!(first % WIDTH + count <= WIDTH, "behind a whole subtree of level 2 its own record follows");
        let number = tree::number(1, first);
        let mut bytes = vec![0; usize::try_from(count).unwrap_or(0) * RECORD];
        self.read(&mut bytes, number)?;
        Ok((number..).zip(bytes.chunks_exact(RECORD)).map(|(number, bytes)| tree::decode(bytes, number)).collect())
    }

    /// What is not there reads as zeros, which are no record.
    fn read(&self, bytes: &mut [u8], number: u64) -> Result<()> {
        self.file.read_full_at(bytes, tree::offset(number)).map_err(LogError::io("read", &self.path))?;
        Ok(())
    }

    /// Returns the bytes of everything about the first `blocks` subtrees of level 1.
    fn prefix(&self, blocks: u64) -> Result<Vec<u8>> {
        let len = tree::offset(tree::records(blocks));
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        self.file.read_full_at(&mut bytes, 0).map_err(LogError::io("read", &self.path))?;
        Ok(bytes)
    }
}

/// Adds records behind those of the first `kept` subtrees of level 1 in the file in `dir`.
///
/// Where the file ends there they are appended; else another file takes its place, so that nobody who reads this one sees two
/// logs in it. Not synced: records that a loss of power damages are computed again.
pub(super) fn append(
    medium: &dyn Medium,
    dir: &Path,
    nodes: Option<&Nodes>,
    kept: u64,
    added: &[Record],
) -> Result<()> {
    let first = tree::records(kept);
    let mut bytes = Vec::with_capacity(added.len() * RECORD);
    for (number, record) in (first..).zip(added) {
        tree::encode(&mut bytes, number, record);
    }
    let path = dir.join(NAME);
    if nodes.is_some_and(|nodes| nodes.blocks == kept) {
        let file = medium.open(&path, Open::Write).map_err(LogError::io("open", &path))?;
        return file.write_all_at(&bytes, tree::offset(first)).map_err(LogError::io("write", &path));
    }
    let mut whole = match nodes.filter(|_| kept > 0) {
        Some(nodes) => nodes.prefix(kept)?,
        None => tree::MAGIC.to_vec(),
    };
    whole.append(&mut bytes);
    let temporary = dir.join(TEMPORARY);
    let replace = || {
        medium.create_dir_all(dir)?;
        medium.remove(&temporary)?;
        medium.open(&temporary, Open::CreateNew)?.write_all_at(&whole, 0)?;
        medium.rename(&temporary, &path)
    };
    replace().map_err(LogError::io("replace", &path))
}

/// Removes the file.
pub(super) fn remove(medium: &dyn Medium, dir: &Path) -> Result<()> {
    let path = dir.join(NAME);
    medium.remove(&path).map_err(LogError::io("remove", &path))
}

/// Returns the root of a complete subtree from those of its parts.
pub(super) fn fold(parts: Vec<Digest>) -> Digest {
    crate::log::peaks::subtrees(0, parts).first().map_or(Digest::ZERO, |(_, root)| *root)
}
