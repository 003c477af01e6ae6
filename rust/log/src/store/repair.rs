//! Mending a store, one explicit step at a time, each under the lock.

use std::path::{Path, PathBuf};

use super::current::check_folders;
use super::lock::{Lock, LockGuard};
use super::view::replace;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::history::{At, Chain};
use crate::log::{self, Loss};
use crate::medium::SharedMedium;
use crate::objects::{Body, BodyReader, BodyWriter};
use crate::survey::survey;

/// A store to be mended.
#[derive(Debug)]
pub struct Repair {
    medium: SharedMedium,
    root: PathBuf,
    lock: Lock,
    actor: String,
}

impl Repair {
    /// `actor` is who mends: what others who wait for the lock are told.
    pub fn new(medium: SharedMedium, root: &Path, lock: Lock, actor: &str) -> Self {
        Self { medium, root: root.to_path_buf(), lock, actor: actor.to_owned() }
    }

    fn locked(&self) -> Result<LockGuard<'_>> {
        self.lock.acquire(&self.actor)
    }

    fn audit(&self) -> PathBuf {
        self.root.join("audit")
    }

    fn folders_of_bodies(&self) -> (PathBuf, PathBuf) {
        (self.audit().join("objects"), self.root.join("index").join("objects"))
    }

    /// See [`log::rebuild_tip`].
    pub fn rebuild_tip(&self) -> Result<u64> {
        let _guard = self.locked()?;
        log::rebuild_tip(&self.medium, &self.audit())
    }

    /// See [`log::accept_loss`].
    pub fn accept_loss(&self, actor: &str, ts_ns: u64) -> Result<Loss> {
        let _guard = self.locked()?;
        log::accept_loss(&self.medium, &self.audit(), actor, ts_ns)
    }

    /// See [`log::finish_loss`].
    pub fn finish_loss(&self) -> Result<u64> {
        let _guard = self.locked()?;
        log::finish_loss(&self.medium, &self.audit())
    }

    /// Erases what purges left behind; returns how many copies there were.
    pub fn finish_purges(&self) -> Result<u64> {
        let _guard = self.locked()?;
        // Looked for under the lock: what was seen without it may be erased by now, and written again for another memory.
        let derived = survey(&self.medium, &self.root, &|_| true)?.derived;
        let unfinished = derived.into_iter().flat_map(|derived| derived.bodies.unfinished);
        let bodies: Vec<Digest> = unfinished.flat_map(|purge| purge.bodies).collect();
        let (objects, index) = self.folders_of_bodies();
        Ok(BodyWriter::open(self.medium.clone(), objects, index)?.purge(&bodies)?.bodies)
    }

    /// Writes the working files of memories that have none, as far as their content is stored; returns which.
    pub fn restore_files(&self, paths: &[String]) -> Result<Vec<String>> {
        let _guard = self.locked()?;
        let chain = Chain::open(&self.medium, &self.root)?;
        let (objects, index) = self.folders_of_bodies();
        let bodies = BodyReader::open(self.medium.clone(), objects, index)?;
        let mut written = Vec::new();
        for path in paths {
            check_folders(self.medium.as_ref(), &self.root, path)?;
            let file = self.root.join(path);
            let version = chain.version_at(path, At::Now, false)?;
            let sha = version.and_then(|version| Digest::from_hex(version.content_sha256.as_bytes()));
            let taken = self.medium.stat(&file).map_err(LogError::io("inspect", &file))?.is_some();
            let Some(sha) = sha.filter(|_| !taken) else { continue };
            if let Body::Found(body) = bodies.get(&sha)? {
                replace(self.medium.as_ref(), &file, &body).map_err(LogError::io("write", &file))?;
                let folder = file.parent().unwrap_or(&self.root);
                self.medium.sync_many(&self.root, &[&file, folder]).map_err(LogError::io("sync", &file))?;
                written.push(path.clone());
            }
        }
        Ok(written)
    }

    /// Removes files that interrupted writes left, which end in `.tmp`; nothing reads those.
    pub fn remove_leftovers(&self, files: &[String]) -> Result<()> {
        let _guard = self.locked()?;
        for name in files.iter().filter(|name| Path::new(name).extension().is_some_and(|suffix| suffix == "tmp")) {
            check_folders(self.medium.as_ref(), &self.root, name)?;
            let file = self.root.join(name);
            self.medium.remove(&file).map_err(LogError::io("remove", &file))?;
        }
        Ok(())
    }

    /// Removes an index, `history`, `objects` or `tree`, whatever state it is in, and a file that lies where its folder should.
    pub fn drop_index(&self, name: &str) -> Result<()> {
        let _guard = self.locked()?;
        let folder = self.root.join("index").join(name);
        for place in [self.root.join("index"), folder.clone()] {
            let stat = self.medium.stat(&place).map_err(LogError::io("inspect", &place))?;
            if stat.is_some_and(|stat| !stat.is_dir && !stat.is_symlink) {
                return self.medium.remove(&place).map_err(LogError::io("remove", &place));
            }
        }
        for file in self.medium.list(&folder).map_err(LogError::io("list", &folder))? {
            let file = folder.join(file);
            self.medium.remove(&file).map_err(LogError::io("remove", &file))?;
        }
        Ok(())
    }

    /// Indexes all bodies that are not indexed.
    pub fn index_bodies(&self) -> Result<()> {
        let _guard = self.locked()?;
        let (objects, index) = self.folders_of_bodies();
        let mut bodies = BodyWriter::open(self.medium.clone(), objects, index)?;
        bodies.publish_index(1)?;
        while bodies.merge_index()? {}
        Ok(())
    }
}
