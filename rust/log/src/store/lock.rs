//! The store's lock: `flock` on a file that is never deleted.
//!
//! Not POSIX record locks: closing any descriptor of the file would drop those.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::error::{LogError, Result};

const FIRST_WAIT: Duration = Duration::from_micros(200);
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// How writers of one store keep out of each other's way.
#[derive(Debug)]
pub enum Lock {
    /// A file that all processes lock.
    File {
        /// The file, `.lock` in the store.
        file: File,
        /// Its path, for messages.
        path: PathBuf,
        /// How long to wait for another process.
        patience: Duration,
    },
    /// None: the medium belongs to this process.
    Free,
}

/// Holds the lock until it is dropped.
#[derive(Debug)]
pub struct LockGuard<'l>(Option<&'l File>);

impl Lock {
    /// Opens the lock file, creating it where it does not exist.
    pub fn open(root: &Path, patience: Duration) -> Result<Self> {
        let path = root.join(".lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(LogError::io("open", &path))?;
        Ok(Self::File { file, path, patience })
    }

    /// Waits for the lock and takes it; `lease` is what others who wait too long are told about the holder.
    pub fn acquire(&self, lease: &str) -> Result<LockGuard<'_>> {
        let Self::File { file, path, patience } = self else { return Ok(LockGuard(None)) };
        let start = Instant::now();
        let mut wait = FIRST_WAIT;
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(LogError::io("lock", path)(error.into())),
            }
            if start.elapsed() >= *patience {
                return Err(LogError::Busy { holder: read_lease(file) });
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        let guard = LockGuard(Some(file));
        if read_lease(file) != lease {
            // The lease is for people; a lock without one is still a lock.
            drop(write_lease(file, lease));
        }
        Ok(guard)
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            // Closing the file would unlock it as well; there is nobody to tell of an error.
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

fn read_lease(mut file: &File) -> String {
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(4096).read_to_string(&mut text));
    if read.is_ok() { text } else { String::new() }
}

fn write_lease(mut file: &File, lease: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(lease.as_bytes())
}
