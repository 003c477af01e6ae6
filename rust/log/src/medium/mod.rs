//! Files, behind a trait small enough to be faked.
//!
//! Everything this crate does to a disk goes through [`Medium`], so that tests can count syncs, inject faults and stop time
//! at any of them. [`Os`] is the real one.

#[cfg(any(test, feature = "testing"))]
pub mod fake;
mod network;
mod os;

pub use network::network_file_system;
pub use os::Os;

use std::io;
use std::path::Path;
use std::sync::Arc;

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// For reading; it must exist.
    Read,
    /// For reading and writing; it must exist.
    Write,
    /// For reading and writing; created empty (mode 0600) where it does not exist.
    Create,
    /// For reading and writing; created empty (mode 0600), an error where it exists.
    CreateNew,
}

/// What [`Medium::stat`] says of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Size in bytes.
    pub len: u64,
    /// Whether it is a folder.
    pub is_dir: bool,
    /// Whether it is a symbolic link (which is not followed).
    pub is_symlink: bool,
    /// Tells one version of a file from another: inode, size, modification and change time.
    pub version: [u64; 4],
}

/// A file opened through a [`Medium`]. All positions are absolute.
pub trait MediumFile: Send + Sync + std::fmt::Debug {
    /// Returns the length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Reads at most `buf.len()` bytes at `offset`; 0 at the end of the file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some of `buf` at `offset`; may write less than all of it.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize>;
    /// Makes the content durable, and of the metadata what is needed to read it back.
    fn sync(&self) -> io::Result<()>;
    /// Cuts the file to `len` bytes, or grows it with zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Reads until `buf` is full or the file ends, and returns the number of bytes read.
    fn read_full_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.read_at(rest, offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Writes all of `buf` at `offset`.
    fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = buf.get(done..).filter(|rest| !rest.is_empty()) {
            match self.write_at(rest, offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A file system, as much of it as a store needs.
pub trait Medium: Send + Sync + std::fmt::Debug {
    /// Opens a file. A symbolic link in the last component is not followed.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn MediumFile>>;
    /// Returns what is at `path`; `None` where there is nothing.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;
    /// Returns the names in a folder, unsorted; empty where there is no folder.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Moves a file over whatever has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file; nothing happens where there is none.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder if it is empty; returns whether it did.
    fn remove_dir(&self, path: &Path) -> io::Result<bool>;
    /// Creates a folder and its parents (mode 0700); nothing happens where it exists.
    fn create_dir_all(&self, dir: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Says who may do what with a file: permission bits. A medium without them does nothing.
    fn set_mode(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Makes files and folders below `root` durable; those that are gone meanwhile are passed over.
    fn sync_many(&self, _root: &Path, paths: &[&Path]) -> io::Result<()> {
        paths.iter().try_for_each(|path| self.sync_one(path))
    }

    /// Makes a file or folder durable, if it is still there.
    fn sync_one(&self, path: &Path) -> io::Result<()> {
        match self.stat(path)? {
            Some(stat) if stat.is_dir => self.sync_dir(path),
            Some(_) => self.open(path, Open::Read)?.sync(),
            None => Ok(()),
        }
    }

    /// Tells one run of the operating system from another; 0 where that cannot be told.
    ///
    /// While it stays the same nothing that was written is lost, synced or not: files may be old, but not torn.
    fn boot(&self) -> u64 {
        0
    }

    /// Reads a whole file; `None` where there is none.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open(path, Open::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(usize::MAX)];
        let read = file.read_full_at(&mut bytes, 0)?;
        bytes.truncate(read);
        Ok(Some(bytes))
    }

    /// Reads at most the first `most` bytes of a file, however long it claims to be; `None` where there is none.
    fn read_head(&self, path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open(path, Open::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = vec![0; most];
        let read = file.read_full_at(&mut bytes, 0)?;
        bytes.truncate(read);
        Ok(Some(bytes))
    }
}

/// A medium shared by the parts of a store.
pub type SharedMedium = Arc<dyn Medium>;
