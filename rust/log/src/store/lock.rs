//! The store's lock: `flock` on a file that is never deleted.
//!
//! Not POSIX record locks: closing any descriptor of the file would drop those.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};

use crate::error::{LogError, Result};
use crate::lease::Holder;
use crate::manifest::check_writable;
use crate::medium::Os;

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
pub struct LockGuard<'l>(Option<(&'l File, usize)>);

impl Lock {
    /// Opens the lock file of a store that may be written to (see [`check_writable`]), creating it where it does not exist.
    pub fn open(root: &Path, patience: Duration) -> Result<Self> {
        check_writable(&Os, root)?;
        let path = root.join(".lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(LogError::io("open", &path))?;
        Ok(Self::File { file, path, patience })
    }

    /// Waits for the lock and takes it; those who wait too long are told about `actor`, the process and the time.
    pub fn acquire(&self, actor: &str) -> Result<LockGuard<'_>> {
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
                let store = path.parent().unwrap_or(path).to_owned();
                return Err(LogError::Busy { store, holder: read_lease(file) });
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        let lease = Holder::this(actor, now_ns()).encode();
        let guard = LockGuard(Some((file, lease.len())));
        // The lease is for people; a lock without one is still a lock.
        drop(write_lease(file, &lease));
        Ok(guard)
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        if let Some((file, lease)) = self.0 {
            // In place, which costs the least: whoever holds the lock next may be a program that says nothing of itself.
            drop(file.write_all_at(&vec![b' '; lease], 0));
            // Closing the file would unlock it as well; there is nobody to tell of an error.
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

fn read_lease(file: &File) -> Holder {
    let mut text = [0; 4096];
    let read = file.read_at(&mut text, 0).unwrap_or(0);
    Holder::decode(text.get(..read).unwrap_or_default())
}

fn write_lease(file: &File, lease: &[u8]) -> std::io::Result<()> {
    if file.metadata()?.len() > lease.len() as u64 {
        file.set_len(lease.len() as u64)?;
    }
    file.write_all_at(lease, 0)
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
