//! What is remembered of sealed segments, so that opening a log need not open each of them.
//!
//! `index/segments` says of a folder, told apart by inode and times, which row each sealed segment begins with. It is derived:
//! without it every segment is opened and looked at.

use std::path::{Path, PathBuf};

use super::Segments;
use super::list::segment_names;
use crate::error::{LogError, Result};
use crate::format::segments::{Table, decode, encode};
use crate::medium::{Medium, Open};

/// Names of sealed segments and the numbers of their first rows.
pub(super) type Firsts = Vec<(String, u64)>;

/// A table this large would have some 30,000 segments.
const MOST: u64 = 1 << 20;

/// Where the table of the log in `audit_dir` lies.
fn path_of(audit_dir: &Path) -> PathBuf {
    audit_dir.with_file_name("index").join("segments")
}

/// Reads the table, whatever folder it is of; `None` where there is none that can be used.
fn read(medium: &dyn Medium, audit_dir: &Path) -> Option<Table> {
    let file = medium.open(&path_of(audit_dir), Open::Read).ok()?;
    let len = file.len().ok().filter(|len| *len <= MOST)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    let read = file.read_full_at(&mut bytes, 0).ok()?;
    decode(bytes.get(..read)?)
}

/// Inode and times of the folder: a file cannot come into it, leave it or get another name without changing them.
fn version(medium: &dyn Medium, dir: &Path) -> Result<[u64; 4]> {
    let stat = medium.stat(dir).map_err(LogError::io("inspect", dir))?;
    Ok(stat.map_or([0; 4], |stat| stat.version))
}

/// What is remembered of the segments in `dir`: names and first rows; nothing where the folder has changed since.
pub(super) fn remembered(medium: &dyn Medium, dir: &Path) -> Result<Firsts> {
    let Some(table) = read(medium, dir) else { return Ok(Vec::new()) };
    Ok(if table.folder == version(medium, dir)? { table.segments } else { Vec::new() })
}

impl Segments {
    /// Writes down what the sealed segments begin with, where that is not what the table says.
    ///
    /// The caller holds the store's lock, and these segments were looked at: see [`Self::open`].
    pub fn remember(&self) -> Result<()> {
        let medium = self.medium().as_ref();
        let sealed = self.list().iter().filter(|segment| !segment.is_active());
        let segments: Vec<_> = sealed.map(|segment| (segment.name.clone(), segment.first_seq)).collect();
        let table = Table { folder: version(medium, self.dir())?, segments };
        let stored = read(medium, self.dir());
        if stored.as_ref().map_or(table.segments.is_empty(), |stored| *stored == table) {
            return Ok(());
        }
        // Behind the look at the folder: what was sealed since these segments were listed is not theirs to tell.
        let names = segment_names(medium, self.dir())?;
        if !self.list().iter().all(|segment| names.contains(&segment.name)) {
            return Ok(());
        }
        let path = path_of(self.dir());
        let temporary = path.with_file_name(format!("segments.{}.tmp", std::process::id()));
        if let Some(folder) = path.parent() {
            medium.create_dir_all(folder).map_err(LogError::io("create", folder))?;
        }
        // Not synced: a torn table is none.
        let file = medium.open(&temporary, Open::Create).map_err(LogError::io("create", &temporary))?;
        let written = file.set_len(0).and_then(|()| file.write_all_at(&encode(&table), 0));
        written.map_err(LogError::io("write", &temporary))?;
        medium.rename(&temporary, &path).map_err(LogError::io("rename", path))
    }
}
