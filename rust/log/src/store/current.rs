//! What a path holds now: by the chain, and on disk.

use std::path::Path;

use super::writer::Core;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::history::At;
use crate::medium::Medium;
use crate::objects::Body;

/// A working file larger than this is not read: no memory may be.
const LARGEST: u64 = 15 << 20;

/// What a path holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Current {
    /// The version by the chain; `None` where the path holds no memory.
    pub version: Option<Held>,
    /// Version of the working file (see [`crate::medium::Stat::version`]) when it was last known to hold that content.
    pub disk: Option<[u64; 4]>,
}

/// The version that a path holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Its content; `None` where a legacy row did not say.
    pub sha: Option<Digest>,
}

/// What the working file of a path holds, compared with the chain.
#[derive(Debug)]
pub(super) enum OnDisk {
    /// What the chain says, or nothing, or what the chain said before the view caught up.
    AsKnown,
    /// What the chain says, of which no copy is kept: another program wrote it.
    Unkept(Vec<u8>),
    /// Something else: an edit by hand.
    Edited(Vec<u8>),
}

impl Core {
    /// Looks a path up in the chain, unless it is known.
    pub(super) fn look_up(&mut self, path: &str) -> Result<Current> {
        if let Some(current) = self.current.get(path) {
            return Ok(current.clone());
        }
        self.chain.refresh()?;
        let version = self.chain.version_at(path, At::Now, false)?;
        let version = version.map(|v| Held { sha: Digest::from_hex(v.content_sha256.as_bytes()) });
        Ok(Current { version, disk: None })
    }

    /// Compares the working file with `current`, and remembers the file's version where they agree.
    pub(super) fn inspect(&mut self, path: &str, current: &mut Current) -> Result<OnDisk> {
        self.check_folders(path)?;
        if self.view.put_off.contains(path) {
            // Compared when it is written.
            return Ok(OnDisk::AsKnown);
        }
        let file = self.root.join(path);
        let stat = self.medium.stat(&file).map_err(LogError::io("inspect", &file))?;
        let Some(stat) = stat else { return Ok(OnDisk::AsKnown) };
        if stat.is_symlink || stat.is_dir {
            let what = if stat.is_dir { "a folder" } else { "a symbolic link" };
            return Err(LogError::Refused(format!("{path} is {what}: a memory is a plain file")));
        }
        if current.disk == Some(stat.version) {
            return Ok(OnDisk::AsKnown);
        }
        if stat.len > LARGEST {
            return Err(LogError::Refused(format!(
                "{path} was edited by hand and is larger than any memory may be ({} bytes)",
                stat.len
            )));
        }
        let Some(bytes) = self.medium.read(&file).map_err(LogError::io("read", &file))? else {
            return Ok(OnDisk::AsKnown);
        };
        let sha = Digest::of(&[&bytes]);
        match current.version {
            Some(Held { sha: Some(known) }) if known == sha => {
                current.disk = Some(stat.version);
                let kept = !matches!(self.read_body(&sha), Ok(Body::Absent));
                Ok(if kept { OnDisk::AsKnown } else { OnDisk::Unkept(bytes) })
            }
            _ if self.may_lag(path, sha)? => Ok(OnDisk::AsKnown),
            _ => Ok(OnDisk::Edited(bytes)),
        }
    }

    /// As [`check_folders`]; folders are looked at once in a group.
    pub(super) fn check_folders(&mut self, path: &str) -> Result<()> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !self.folders.contains(folder) {
            check_folders(self.medium.as_ref(), &self.root, path)?;
            self.folders.insert(folder.to_owned());
        }
        Ok(())
    }
}

/// Refuses a path one of whose folders is not a plain folder: a symbolic link may lead out of the store.
pub(super) fn check_folders(medium: &dyn Medium, root: &Path, path: &str) -> Result<()> {
    let mut at = 0;
    while let Some(slash) = path.get(at..).and_then(|rest| rest.find('/')) {
        at += slash + 1;
        let folder = path.get(..at - 1).unwrap_or_default();
        let full = root.join(Path::new(folder));
        match medium.stat(&full).map_err(LogError::io("inspect", &full))? {
            None => return Ok(()),
            Some(stat) if stat.is_dir => {}
            Some(stat) => {
                let what = if stat.is_symlink { "a symbolic link" } else { "a file" };
                return Err(LogError::Refused(format!("{folder} is {what}, not a folder: {path} cannot be written")));
            }
        }
    }
    Ok(())
}
