//! Working files: a view of the chain, kept up after the rows are acknowledged.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::writer::Core;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::log::HEAD;
use crate::log::peaks::Peaks;
use crate::medium::{Medium, Open};
use crate::objects::Body;

/// From this many files on, two threads write them.
const PARALLEL_FROM: usize = 64;

/// Digits of the name's SHA-256 in the name of a temporary file.
const TEMPORARY_DIGITS: usize = 16;

/// One change of working files.
#[derive(Debug)]
pub(super) enum Action {
    /// The file gets this content.
    Write { path: String, body: Vec<u8> },
    /// The file gets another name.
    Rename { from: String, to: String, sha: Option<Digest> },
    /// The file goes.
    Remove { path: String },
}

impl Action {
    /// Bytes that are held for it, about.
    pub(super) fn cost(&self) -> usize {
        match self {
            Self::Write { path, body } => path.len() + body.len() + 200,
            Self::Rename { .. } | Self::Remove { .. } => 400,
        }
    }
}

/// Which working files are not known to be durable.
#[derive(Debug, Default)]
pub(super) struct View {
    dirty: BTreeSet<PathBuf>,
    /// Rows beyond the watermark may not be applied: a row of another process, a failure, or files that are put off.
    pub doubtful: bool,
    /// Paths whose working files are put off: what lies there is older than the chain on purpose.
    pub put_off: HashSet<String>,
}

/// Where a working file's next content is written before it gets the file's name: as long for any name, and another for each.
pub(super) fn temporary_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let digest = Digest::of(&[name.as_encoded_bytes()]).to_hex();
    path.with_file_name(format!(".{}.tmp", digest.get(..TEMPORARY_DIGITS).unwrap_or_default()))
}

/// Writes `body` to `path` through a temporary file beside it. Not synced.
pub(super) fn replace(medium: &dyn Medium, path: &Path, body: &[u8]) -> io::Result<()> {
    let temporary = temporary_of(path);
    let file = match medium.open(&temporary, Open::CreateNew) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            medium.create_dir_all(path.parent().unwrap_or(path))?;
            medium.open(&temporary, Open::Create)?
        }
        // What a crash left.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let file = medium.open(&temporary, Open::Create)?;
            file.set_len(0)?;
            file
        }
        Err(error) => return Err(error),
    };
    file.write_all_at(body, 0)?;
    medium.rename(&temporary, path)
}

/// Drops writes that a later write of the same group to the same path makes needless.
pub(super) fn coalesce(actions: Vec<Action>) -> Vec<Action> {
    let mut written: BTreeMap<String, usize> = BTreeMap::new();
    let mut out: Vec<Option<Action>> = Vec::with_capacity(actions.len());
    for action in actions {
        match &action {
            Action::Write { path, .. } => {
                if let Some(earlier) = written.insert(path.clone(), out.len()).and_then(|at| out.get_mut(at)) {
                    *earlier = None;
                }
            }
            Action::Rename { from, to, .. } => {
                written.remove(from);
                written.remove(to);
            }
            Action::Remove { path } => drop(written.remove(path)),
        }
        out.push(Some(action));
    }
    out.into_iter().flatten().collect()
}

impl Core {
    /// Carries out one change of a working file.
    pub(super) fn apply(&mut self, action: &Action) -> Result<()> {
        match action {
            Action::Write { path, body } => self.write_file(path, body),
            Action::Rename { from, to, sha } => {
                let (source, target) = (self.root.join(from), self.root.join(to));
                if let Some(parent) = target.parent() {
                    self.medium.create_dir_all(parent).map_err(LogError::io("create", parent))?;
                }
                match self.medium.rename(&source, &target) {
                    Ok(()) => self.touched(&target),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => self.restore(to, *sha)?,
                    Err(error) => return Err(LogError::io("rename", target)(error)),
                }
                self.gone(&source);
                self.remember(to);
                Ok(())
            }
            Action::Remove { path } => {
                let file = self.root.join(path);
                self.medium.remove(&file).map_err(LogError::io("remove", &file))?;
                self.gone(&file);
                Ok(())
            }
        }
    }

    /// Carries out changes of working files in order; returns what went wrong. Many writes are shared by two threads.
    pub(super) fn apply_all(&mut self, actions: Vec<Action>) -> Vec<LogError> {
        let mut errors = Vec::new();
        // A write may wait for others: what overtakes it is about other files.
        let mut writes: Vec<(String, Vec<u8>)> = Vec::new();
        let mut waiting: HashMap<String, usize> = HashMap::new();
        for action in actions {
            if let Action::Write { path, body } = action {
                waiting.insert(path.clone(), writes.len());
                writes.push((path, body));
                continue;
            }
            let concerned = match &action {
                Action::Rename { from, to, .. } => [Some(from), Some(to)],
                Action::Remove { path } | Action::Write { path, .. } => [Some(path), None],
            };
            let due = concerned.into_iter().flatten().filter_map(|path| waiting.remove(path));
            let due: Vec<_> = due.filter_map(|at| writes.get_mut(at).map(std::mem::take)).collect();
            self.write_files(due, &mut errors);
            if let Err(error) = self.apply(&action) {
                errors.push(error);
            }
        }
        writes.retain(|(path, _)| !path.is_empty());
        self.write_files(writes, &mut errors);
        errors
    }

    fn write_files(&mut self, mut writes: Vec<(String, Vec<u8>)>, errors: &mut Vec<LogError>) {
        let (medium, root) = (self.medium.as_ref(), self.root.as_path());
        let write = |writes: Vec<(String, Vec<u8>)>| -> Vec<_> {
            let one = |(path, body): (String, Vec<u8>)| {
                let file = root.join(&path);
                replace(medium, &file, &body).map_err(LogError::io("write", &file))?;
                Ok((path, file.clone(), medium.stat(&file).ok().flatten()))
            };
            writes.into_iter().map(one).collect()
        };
        let rest = if writes.len() < PARALLEL_FROM { Vec::new() } else { writes.split_off(writes.len() / 2) };
        let written = std::thread::scope(|scope| {
            let other = (!rest.is_empty()).then(|| scope.spawn(|| write(rest)));
            let mut written = write(writes);
            if let Some(other) = other {
                written.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            written
        });
        for result in written {
            match result {
                Ok((path, file, stat)) => {
                    self.touched(&file);
                    if let (Some(current), Some(stat)) = (self.current.get_mut(&path), stat) {
                        current.disk = Some(stat.version);
                    }
                }
                Err(error) => errors.push(error),
            }
        }
    }

    fn write_file(&mut self, path: &str, body: &[u8]) -> Result<()> {
        let file = self.root.join(path);
        replace(self.medium.as_ref(), &file, body).map_err(LogError::io("write", &file))?;
        self.touched(&file);
        self.remember(path);
        Ok(())
    }

    fn restore(&mut self, path: &str, sha: Option<Digest>) -> Result<()> {
        let Some(sha) = sha else { return Ok(()) };
        match self.read_body(&sha)? {
            Body::Found(body) => self.write_file(path, &body),
            Body::Purged | Body::Absent => Ok(()),
        }
    }

    /// Leaves changes of working files to the next [`Self::roll_forward`].
    pub(super) fn put_off(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Write { path, .. } | Action::Remove { path } => drop(self.view.put_off.insert(path)),
                Action::Rename { from, to, .. } => self.view.put_off.extend([from, to]),
            }
        }
        self.view.doubtful |= !self.view.put_off.is_empty();
    }

    pub(super) fn touched(&mut self, file: &Path) {
        self.view.dirty.insert(file.to_path_buf());
        if let Some(parent) = file.parent().filter(|parent| !self.view.dirty.contains(*parent)) {
            self.view.dirty.insert(parent.to_path_buf());
        }
    }

    /// Notes that a file is gone, and takes folders away that are empty now.
    fn gone(&mut self, file: &Path) {
        self.view.dirty.remove(file);
        let mut folder = file.parent();
        while let Some(parent) =
            folder.filter(|parent| parent.strip_prefix(&self.root).is_ok_and(|p| p.components().count() > 1))
        {
            if !self.medium.remove_dir(parent).unwrap_or(false) {
                break;
            }
            self.view.dirty.remove(parent);
            folder = parent.parent();
        }
        self.view.dirty.extend(folder.map(Path::to_path_buf));
    }

    /// Remembers which version of the working file holds what the chain says.
    fn remember(&mut self, path: &str) {
        let stat = self.medium.stat(&self.root.join(path)).ok().flatten();
        if let (Some(current), Some(stat)) = (self.current.get_mut(path), stat) {
            current.disk = Some(stat.version);
        }
    }

    /// Makes the view durable as far as it is applied, and moves the watermark, which the next tip write carries.
    pub(super) fn sync_view(&mut self) -> Result<()> {
        let last = self.log.last_seq();
        if self.view.doubtful {
            self.roll_forward()?;
        }
        let peaks = Peaks::path(self.log.dir());
        self.view.dirty.extend(peaks.parent().map(Path::to_path_buf));
        self.view.dirty.extend([peaks, self.root.join(HEAD)]);
        self.sync_dirty()?;
        self.log.set_view_seq(last);
        Ok(())
    }

    /// Makes working files durable.
    pub(super) fn sync_dirty(&mut self) -> Result<()> {
        let dirty = std::mem::take(&mut self.view.dirty);
        let synced = self.medium.sync_many(&self.root, &dirty.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        synced.map_err(|error| {
            self.view.dirty = dirty;
            LogError::io("sync", &self.root)(error)
        })
    }
}
