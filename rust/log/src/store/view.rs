//! Working files: a view of the chain, kept up after the rows are acknowledged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::current::{Current, Held};
use super::writer::Core;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::history::{At, is_memory};
use crate::json::Value;
use crate::log::peaks::Peaks;
use crate::log::{Event, HEAD};
use crate::medium::{Medium, Open};
use crate::objects::Body;
use crate::row::{Row, Touch};

/// From this many files on, two threads write them.
const PARALLEL_FROM: usize = 64;

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

/// Which working files are not known to be durable.
#[derive(Debug, Default)]
pub(super) struct View {
    dirty: BTreeSet<PathBuf>,
    /// Rows from here on may not be applied: a row of another process, or a failure.
    pub doubtful: bool,
}

/// Where a working file's next content is written before it gets the file's name.
fn temporary_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.tmp"))
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

    fn touched(&mut self, file: &Path) {
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

    /// Applies rows beyond the watermark: working files that are missing or hold an older version of the same memory, files of
    /// memories that are gone, and erasures. Files that were edited by hand stay as they are.
    pub(super) fn roll_forward(&mut self) -> Result<()> {
        let from = self.log.view_seq();
        self.chain.refresh()?;
        let mut touched: BTreeMap<String, BTreeSet<Digest>> = BTreeMap::new();
        let mut purged: Vec<String> = Vec::new();
        self.chain.log().scan(self.chain.position_of(from + 1)?, |event| {
            let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Continue(())) };
            let Ok(row) = Row::parse(frame.payload) else { return Ok(ControlFlow::Continue(())) };
            if frame.header.seq <= from {
                return Ok(ControlFlow::Continue(()));
            }
            for (path, touch) in row.touches().filter(|(path, touch)| *touch != Touch::Annotation && is_memory(path)) {
                let versions = touched.entry(path.to_string()).or_default();
                versions.extend(Digest::from_hex(row.content_sha256().as_bytes()));
                let extra = Value::parse(row.extra()).ok();
                let before = extra.as_ref().and_then(|extra| extra.get("before_sha256")?.as_str());
                versions.extend(before.and_then(|before| Digest::from_hex(before.as_bytes())));
                let mode = extra.as_ref().and_then(|extra| extra.get("mode")?.as_str());
                if touch == Touch::Delete && mode == Some("purge") {
                    purged.push(path.into_owned());
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (path, versions) in touched {
            self.roll_forward_file(&path, &versions)?;
        }
        if !purged.is_empty() {
            self.sync_dirty()?;
        }
        for path in purged {
            let bodies = self.lineage_at_purge(&path)?;
            self.bodies.purge(&bodies)?;
        }
        self.view.doubtful = false;
        Ok(())
    }

    /// Whether a working file can be what a crash of the system left of a version: nothing but its bytes in their places, and
    /// zeros. Only after such a crash: else it is the work of somebody who cut the text short.
    fn is_torn(&mut self, bytes: &[u8], versions: &BTreeSet<Digest>) -> Result<bool> {
        if !self.log.system_restarted() {
            return Ok(false);
        }
        for version in versions {
            if let Body::Found(body) = self.read_body(version)? {
                let in_place = bytes.iter().zip(&body).all(|(&on_disk, &byte)| on_disk == byte || on_disk == 0);
                if in_place && bytes.len() <= body.len() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn roll_forward_file(&mut self, path: &str, versions: &BTreeSet<Digest>) -> Result<()> {
        self.check_folders(path)?;
        let file = self.root.join(path);
        // What a crash left of a write must not outlive a purge.
        let temporary = temporary_of(&file);
        self.medium.remove(&temporary).map_err(LogError::io("remove", &temporary))?;
        let version = self.chain.version_at(path, At::Now, false)?;
        let wanted = version.as_ref().and_then(|version| Digest::from_hex(version.sha256.as_bytes()));
        let stat = self.medium.stat(&file).map_err(LogError::io("inspect", &file))?;
        let on_disk = match stat {
            Some(stat) if stat.is_symlink || stat.is_dir => return Ok(()),
            Some(_) => self.medium.read(&file).map_err(LogError::io("read", &file))?,
            None => None,
        };
        let sha = on_disk.as_ref().map(|bytes| Digest::of(&[bytes]));
        let lags = match (&on_disk, sha) {
            (Some(_), sha) if sha == wanted => false,
            (Some(bytes), Some(sha)) => versions.contains(&sha) || self.is_torn(bytes, versions)?,
            _ => false,
        };
        let held = version.map(|version| Held { seq: version.seq, sha: wanted });
        self.current.insert(path.to_owned(), Current { version: held, disk: None });
        match (held, sha) {
            (Some(_), None) => self.restore(path, wanted),
            (Some(_), sha) if sha == wanted => {
                // Not remembered: whether a copy of it is kept is asked when it is about to change.
                self.touched(&file);
                Ok(())
            }
            (Some(_), Some(_)) if lags => self.restore(path, wanted),
            (None, Some(_)) if lags => self.apply(&Action::Remove { path: path.to_owned() }),
            _ => Ok(()),
        }
    }
}
