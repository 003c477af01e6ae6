//! Rows that are not known to be applied: working files and erasures are brought up to them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::current::Current;
use super::group::UNINDEXED;
use super::view::{Action, temporary_of};
use super::writer::Core;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::history::{is_memory, versions_beside};
use crate::json::Value;
use crate::log::Event;
use crate::objects::Body;
use crate::row::{Row, Touch};

/// Bytes of bodies that are held to be written together: by two threads, and best in different folders.
const AT_A_TIME: usize = 16 << 20;

impl Core {
    /// Applies rows beyond the watermark: working files that are missing or hold an older version of the same memory, files of
    /// memories that are gone, and erasures. Files that were edited by hand stay as they are.
    ///
    /// One file that cannot be written keeps no other from being written; the first such error is returned.
    pub(super) fn roll_forward(&mut self) -> Result<()> {
        let from = self.log.view_seq();
        self.chain.refresh()?;
        let mut touched: BTreeMap<String, BTreeSet<Digest>> = BTreeMap::new();
        let mut purged: Vec<(String, u64)> = Vec::new();
        let mut rewritten: BTreeMap<Digest, u64> = BTreeMap::new();
        self.chain.log().scan(self.chain.position_of(from + 1)?, |event| {
            let Event::Frame(_, frame) = event else { return Ok(ControlFlow::Continue(())) };
            let Ok(row) = Row::parse(frame.payload) else { return Ok(ControlFlow::Continue(())) };
            if frame.header.seq <= from {
                return Ok(ControlFlow::Continue(()));
            }
            let extra = Value::parse(row.extra()).ok();
            for (path, touch) in row.touches().filter(|(path, touch)| *touch != Touch::Annotation && is_memory(path)) {
                let mode = extra.as_ref().and_then(|extra| extra.get("mode")?.as_str());
                if touch == Touch::Delete && mode == Some("purge") {
                    purged.push((path.to_string(), frame.header.seq));
                }
                if touch == Touch::Write && !purged.is_empty() {
                    let version = Digest::from_hex(row.content_sha256().as_bytes());
                    rewritten.extend(version.map(|version| (version, frame.header.seq)));
                }
                touched.entry(path.into_owned()).or_default().extend(versions_beside(&row, extra.as_ref()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if self.log.last_seq().saturating_sub(self.chain.floor().seq - 1) >= UNINDEXED {
            // Each path is looked up, which would mean reading all those rows for each. Without an index it is slower, never wrong.
            let _whether_it_could_be_written = self.chain.catch_up();
        }
        let mut errors = Vec::new();
        let (mut actions, mut bytes) = (Vec::new(), 0);
        for (path, versions) in touched {
            match self.due(&path, &versions) {
                Ok(action) => {
                    bytes += action.as_ref().map_or(0, Action::cost);
                    actions.extend(action);
                }
                Err(error) => errors.push(error),
            }
            if bytes >= AT_A_TIME {
                errors.extend(self.apply_all(std::mem::take(&mut actions)));
                bytes = 0;
            }
        }
        errors.extend(self.apply_all(actions));
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        if !purged.is_empty() {
            self.sync_dirty()?;
        }
        for (path, seq) in purged {
            self.purge_again(&path, seq, &rewritten)?;
        }
        self.view.doubtful = false;
        self.view.put_off.clear();
        Ok(())
    }

    /// Writes the working files that are put off, if there are any.
    pub(super) fn write_put_off(&mut self) -> Result<()> {
        if self.view.put_off.is_empty() { Ok(()) } else { self.roll_forward() }
    }

    /// What has to happen to the working file of a path that held `versions` since the watermark.
    fn due(&mut self, path: &str, versions: &BTreeSet<Digest>) -> Result<Option<Action>> {
        match self.check_folders(path) {
            // Something else stands in a folder's place: no file of this memory is there, and none goes there.
            Err(LogError::Refused(_)) => return Ok(None),
            checked => checked?,
        }
        let file = self.root.join(path);
        if !self.view.put_off.contains(path) {
            // What a crash left of a write must not outlive a purge.
            let temporary = temporary_of(&file);
            self.medium.remove(&temporary).map_err(LogError::io("remove", &temporary))?;
        }
        let held = self.look_up(path)?.version;
        let wanted = held.and_then(|held| held.sha);
        let stat = self.medium.stat(&file).map_err(LogError::io("inspect", &file))?;
        let on_disk = match stat {
            Some(stat) if stat.is_symlink || stat.is_dir => return Ok(None),
            Some(_) => self.medium.read(&file).map_err(LogError::io("read", &file))?,
            None => None,
        };
        let sha = on_disk.as_ref().map(|bytes| Digest::of(&[bytes]));
        let lags = match (&on_disk, sha) {
            (Some(_), sha) if sha == wanted => false,
            (Some(bytes), Some(sha)) => versions.contains(&sha) || self.is_torn(bytes, versions)?,
            _ => false,
        };
        self.current.insert(path.to_owned(), Current { version: held, disk: None });
        match (held, sha) {
            (Some(_), sha) if sha == wanted && sha.is_some() => {
                // Not remembered: whether a copy of it is kept is asked when it is about to change.
                self.touched(&file);
                Ok(None)
            }
            (Some(_), on_disk) if lags || on_disk.is_none() => {
                let body = wanted.map_or(Ok(Body::Absent), |wanted| self.read_body(&wanted))?;
                let Body::Found(body) = body else { return Ok(None) };
                Ok(Some(Action::Write { path: path.to_owned(), body }))
            }
            (None, Some(_)) if lags => Ok(Some(Action::Remove { path: path.to_owned() })),
            _ => Ok(None),
        }
    }

    /// See [`crate::history::Chain::may_lag`].
    pub(super) fn may_lag(&mut self, path: &str, sha: Digest) -> Result<bool> {
        let view_seq = self.log.view_seq();
        if view_seq >= self.log.last_seq() {
            return Ok(false);
        }
        self.chain.refresh()?;
        self.chain.may_lag(path, sha, view_seq)
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
}
