//! The operating system's files.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::hash::Digest;

use super::{Medium, MediumFile, Open, Stat};

/// From this many files on, the whole file system is synced instead.
#[cfg(target_os = "linux")]
const SYNC_ALL_FROM: usize = 16;

/// The real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Os;

#[derive(Debug)]
struct OsFile(File);

impl MediumFile for OsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.0, buf, offset)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(&self.0, buf, offset)
    }

    fn sync(&self) -> io::Result<()> {
        // On macOS this is F_FULLFSYNC, which plain fsync there is not.
        self.0.sync_data()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}

impl Medium for Os {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn MediumFile>> {
        let mut options = OpenOptions::new();
        options.read(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        match how {
            Open::Read => {}
            Open::Write => drop(options.write(true)),
            Open::Create => drop(options.write(true).create(true)),
            Open::CreateNew => drop(options.write(true).create_new(true)),
        }
        Ok(Box::new(OsFile(options.open(path)?)))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let nanos = |sec: i64, nsec: i64| (sec.wrapping_mul(1_000_000_000).wrapping_add(nsec)).cast_unsigned();
        Ok(Some(Stat {
            len: meta.len(),
            is_dir: meta.is_dir(),
            is_symlink: meta.is_symlink(),
            version: [
                meta.ino(),
                meta.len(),
                nanos(meta.mtime(), meta.mtime_nsec()),
                nanos(meta.ctime(), meta.ctime_nsec()),
            ],
        }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // A name that is not UTF-8 is none of ours.
        entries.filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose()).collect()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<bool> {
        match fs::remove_dir(path) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }

    fn sync_many(&self, root: &Path, paths: &[&Path]) -> io::Result<()> {
        // One flush of the file system costs less than many of single files.
        #[cfg(target_os = "linux")]
        if paths.len() > SYNC_ALL_FROM {
            return Ok(rustix::fs::syncfs(File::open(root)?)?);
        }
        paths.iter().try_for_each(|path| self.sync_one(path))
    }

    fn boot(&self) -> u64 {
        let id = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        if id.is_empty() { 0 } else { crate::format::be64(&Digest::of(&[&id]).0, 0).unwrap_or(0) }
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }
}
