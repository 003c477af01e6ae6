//! Erasing a transcript: a tombstone in its place, zeros over its bytes.

use std::path::Path;

use super::seal::{sync_folder, temporary};
use crate::error::{LogError, Result};
use crate::medium::{Open, SharedMedium};

const MODE: u32 = 0o600;
const CHUNK: u64 = 256 << 10;

/// Puts `tombstone` in the place of the file at `path`, if there is one, and zeros over the bytes that it had; returns how
/// many those were. After a crash there is the one file or the other, whole.
pub fn erase(medium: &SharedMedium, path: &Path, tombstone: &[u8]) -> Result<u64> {
    let made = temporary(path);
    // What a crash left while the transcript was sealed has its turns too.
    if medium.stat(&made).map_err(LogError::io("look at", &made))?.is_some() {
        overwrite(medium, &made, None)?;
        medium.remove(&made).map_err(LogError::io("remove", &made))?;
    }
    let file = medium.open(&made, Open::CreateNew).map_err(LogError::io("create", &made))?;
    file.write_all_at(tombstone, 0).and_then(|()| file.sync()).map_err(LogError::io("write", &made))?;
    if medium.stat(path).map_err(LogError::io("look at", path))?.is_some() {
        return overwrite(medium, path, Some(&made));
    }
    medium.rename(&made, path).map_err(LogError::io("rename", &made))?;
    sync_folder(medium, path)?;
    Ok(0)
}

/// Writes zeros over a file; after `successor` has taken its name, if there is one, so that the name never leads to them.
fn overwrite(medium: &SharedMedium, path: &Path, successor: Option<&Path>) -> Result<u64> {
    medium.set_mode(path, MODE).map_err(LogError::io("unprotect", path))?;
    let file = medium.open(path, Open::Write).map_err(LogError::io("open", path))?;
    if let Some(successor) = successor {
        medium.rename(successor, path).map_err(LogError::io("rename", successor))?;
        // A crash must not bring back the name of zeros.
        sync_folder(medium, path)?;
    }
    let len = file.len().map_err(LogError::io("read", path))?;
    let mut at = 0;
    while at < len {
        let piece = usize::try_from((len - at).min(CHUNK)).unwrap_or_default();
        file.write_all_at(&vec![0; piece], at).map_err(LogError::io("erase", path))?;
        at += piece as u64;
    }
    file.sync().map_err(LogError::io("sync", path))?;
    Ok(len)
}
